"""The figures of ``bench cluster``, as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.measure import ratio
from bench.report import figure

if TYPE_CHECKING:
    from bench.cluster_bytes import Sizes
    from bench.cluster_ours import FleetResult
    from bench.cluster_stock import Side
    from bench.server import Served

_WIDTH = 120
# What is aimed at.
_SPEED_UP, _ROUND_TRIPS, _SEEN_BYTES, _QUEUED_BYTES = 1.6, 0.2, 200, 400


@dataclass(frozen=True, slots=True)
class ClusterReport:
    pages: int
    repeat: int
    served: Served
    # One worker, and more.
    fleets: list[FleetResult]
    stock: Side
    sizes: Sizes

    @property
    def differences(self) -> list[str]:
        found = [one for fleet in self.fleets for one in fleet.differences]
        return [*found, *self.stock.differences]

    @property
    def speed_up(self) -> float | None:
        """Pages a second of the most workers against one."""
        return ratio(self.fleets[-1].pages_per_second, self.fleets[0].pages_per_second)

    @property
    def ratio(self) -> float | None:
        """Pages a second of one of our workers against one of scrapy-redis."""
        return ratio(self.fleets[0].pages_per_second, self.stock.result.pages_per_second)

    @property
    def cpu_ratio(self) -> float | None:
        return ratio(self.stock.result.cpu_ms_a_page, self.fleets[0].cpu_ms_a_page)

    def as_json(self) -> str:
        document: dict[str, Any] = {
            "benchmark": "cluster",
            "site": {"pages": self.pages},
            "server": self.served.server,
            "server_note": self.served.note,
            "repeat": self.repeat,
            "fleets": [fleet.figures() for fleet in self.fleets],
            "stock": {self.stock.name: self.stock.figures()},
            "speed_up": self.speed_up,
            "ratio": self.ratio,
            "cpu_ratio": self.cpu_ratio,
            "bytes": self.sizes._asdict(),
            "same_pages": not self.differences,
            "differences": self.differences,
            "machine": {
                "cpu_count": os.cpu_count(),
                "processor": platform.machine(),
                "system": platform.platform(),
                "python": platform.python_version(),
            },
        }
        return json.dumps(document, indent=2) + "\n"

    def show(self) -> None:
        console = Console(highlight=False, soft_wrap=True, width=_WIDTH)
        table = Table(
            title=f"{self.pages:,} pages, {self.served.server}, best of {self.repeat}, "
            f"{os.cpu_count()} processors"
        )
        table.add_column("crawl")
        for heading in (
            "wall s",
            "pages/s",
            "workers\nCPU s",
            "Redis\nCPU s",
            "server\nCPU s",
            "CPU ms\na page",
            "Redis ms\na page",
            "round trips\na page",
        ):
            table.add_column(heading, justify="right", no_wrap=True)
        for fleet in self.fleets:
            best = fleet.best
            table.add_row(
                f"ours, {fleet.workers} on Redis",
                figure(best.wall_seconds, 2),
                figure(fleet.pages_per_second, 0),
                figure(best.workers_cpu_seconds, 2),
                figure(best.redis_cpu_seconds, 2),
                figure(best.server_cpu_seconds, 2),
                figure(fleet.cpu_ms_a_page, 2),
                figure(fleet.redis_cpu_ms_a_page, 3),
                figure(fleet.round_trips_a_page, 3),
            )
        result, redis = self.stock.result, self.stock.redis
        table.add_row(
            f"{self.stock.name}, 1",
            figure(result.cost.wall_seconds, 2),
            figure(result.pages_per_second, 0),
            figure(result.cost.cpu_seconds, 2),
            figure(redis.cpu_seconds, 2),
            "–",
            figure(result.cpu_ms_a_page, 2),
            figure(redis.figures()["cpu_ms_a_page"], 3),
            figure(redis.figures()["round_trips_a_page"], 3),
        )
        console.print(table)
        console.print("Seconds include start-up; rates leave it out.")
        if self.served.note:
            console.print(f"Served by {self.served.server}, {self.served.note}.", markup=False)
        most = self.fleets[-1].workers
        console.print(
            f"{most} workers / 1: {figure(self.speed_up, 2)} × pages/s (aim: ≥ {_SPEED_UP} where "
            f"{most} processors are free; {self._processors()})"
        )
        console.print(
            f"ours / {self.stock.name}: {figure(self.ratio, 1)} × pages/s, "
            f"{figure(self.cpu_ratio, 1)} × pages per CPU-second"
        )
        console.print(
            f"round trips a page: {figure(self.fleets[0].round_trips_a_page, 3)} "
            f"(aim: ≤ {_ROUND_TRIPS})"
        )
        console.print(
            f"bytes in Redis ({self.sizes.allocator}, {self.sizes.urls:,} URLs): "
            f"{self.sizes.bytes_a_seen_url:.0f} a seen URL (aim: ≤ {_SEEN_BYTES}), "
            f"{self.sizes.bytes_a_queued_url:.0f} a queued one (aim: ≤ {_QUEUED_BYTES}), "
            f"{figure(self.fleets[0].redis_bytes_a_page, 0)} a page of the site; "
            f"{self.stock.name}: {figure(redis.bytes_a_seen_url, 0)} and "
            f"{figure(redis.bytes_a_queued_url, 0)}"
        )
        for difference in self.differences:
            console.print(f"error: not the same pages: {difference}", markup=False)

    def _processors(self) -> str:
        """How many the crawl by most workers would have used, had it had them."""
        best = self.fleets[-1].best
        used = best.workers_cpu_seconds + best.redis_cpu_seconds + (best.server_cpu_seconds or 0)
        return f"all processes together used {used / best.wall_seconds:.1f} of {os.cpu_count()}"
