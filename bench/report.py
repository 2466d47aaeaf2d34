"""The figures of ``bench crawl``, as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.measure import Cost, Result, ratio
from bench.site import LINKS

if TYPE_CHECKING:
    from bench.server import Served

_PACKAGES = ("Scrapy", "Twisted", "lxml", "selectolax", "can_ada", "w3lib", "parsel")


@dataclass(frozen=True, slots=True)
class Report:
    pages: int
    page_bytes: int
    repeat: int
    served: Served
    runs: dict[str, list[Cost]]
    results: dict[str, Result]
    differences: list[str]
    # Milliseconds of CPU a page, by what is done with it.
    steps: dict[str, float]

    @property
    def ratios(self) -> dict[str, float | None]:
        """Pages per CPU-second against stock."""
        stock = self.results["stock"].pages_per_cpu_second
        return {
            name: ratio(result.pages_per_cpu_second, stock)
            for name, result in self.results.items()
            if name != "stock"
        }

    @property
    def ratio_with_start_up(self) -> float | None:
        stock, ours = self.results["stock"], self.results["ours"]
        return ratio(
            ours.pages_per_cpu_second_with_start_up, stock.pages_per_cpu_second_with_start_up
        )

    def as_json(self) -> str:
        document = {
            "benchmark": "crawl",
            "site": {"pages": self.pages, "page_bytes": self.page_bytes, "links_a_page": LINKS},
            "server": self.served.server,
            "server_note": self.served.note,
            "repeat": self.repeat,
            "crawlers": {name: self._figures(name) for name in self.results},
            "ratio": self.ratios["ours"],
            "ratios": self.ratios,
            "ratio_with_start_up": self.ratio_with_start_up,
            "same_pages": not self.differences,
            "differences": self.differences,
            "cpu_ms_a_page_by_step": self.steps,
            "machine": {
                "cpu_count": os.cpu_count(),
                "processor": platform.machine(),
                "system": platform.platform(),
                "python": platform.python_version(),
            },
            "versions": {name: _version(name) for name in _PACKAGES},
        }
        return json.dumps(document, indent=2) + "\n"

    def _figures(self, name: str) -> dict[str, Any]:
        result = self.results[name]
        return {
            "pages": result.pages,
            **asdict(result.cost),
            "pages_per_second": result.pages_per_second,
            "cpu_ms_a_page": result.cpu_ms_a_page,
            "pages_per_cpu_second": result.pages_per_cpu_second,
            "pages_per_cpu_second_with_start_up": result.pages_per_cpu_second_with_start_up,
            "start_up": asdict(result.start_up),
            "runs": [asdict(cost) for cost in self.runs[name]],
        }

    def show(self) -> None:
        # Plain where it is read by a program or kept in a file, and never cut to fit there.
        console = Console(highlight=False, soft_wrap=True)
        table = Table(title=self._title())
        table.add_column("crawler", overflow="fold")
        for heading in (
            "pages",
            "wall s",
            "pages/s",
            "CPU s",
            "CPU ms\na page",
            "pages per\nCPU-second",
            "peak\nRSS MB",
        ):
            table.add_column(heading, justify="right", no_wrap=True)
        for name, result in self.results.items():
            table.add_row(
                name,
                f"{result.pages:,}",
                figure(result.cost.wall_seconds, 2),
                figure(result.pages_per_second, 0),
                figure(result.cost.cpu_seconds, 2),
                figure(result.cpu_ms_a_page, 2),
                figure(result.pages_per_cpu_second, 0),
                figure(result.cost.peak_rss_mb, 0),
            )
        console.print(table)
        start_up = ", ".join(
            f"{name} {result.start_up.cpu_seconds:.2f} s of CPU"
            for name, result in self.results.items()
        )
        console.print(f"Seconds include start-up ({start_up}); rates leave it out.")
        if self.served.note:
            console.print(f"Served by {self.served.server}, {self.served.note}.", markup=False)
        for name, times in self.ratios.items():
            console.print(f"{name} / stock: {figure(times, 1)} × pages per CPU-second")
        console.print(f"with start-up: {figure(self.ratio_with_start_up, 1)} ×")
        steps = ", ".join(f"{name} {cost:.3f}" for name, cost in self.steps.items())
        console.print(f"CPU ms a page, of ours: {steps}; the rest is fetch, frontier, outputs.")
        for difference in self.differences:
            console.print(f"error: not the same pages: {difference}", markup=False)

    def _title(self) -> str:
        return (
            f"{self.pages:,} pages, {self.page_bytes / 1000:.0f} KB and {LINKS} links each, "
            f"{self.served.server}, best of {self.repeat}"
        )


def figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
