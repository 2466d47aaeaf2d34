"""``bench frontier``: our frontier and Scrapy's scheduler, without a crawl around them.

Both are given the same links and asked for URLs, each in a process of its own. Rates are by
second of the processor. Ours include everything that ends a page: its record, its links, its
state, on disk. Stock's scheduler keeps requests, and forgets those that it has given out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.frontier_side import FIGURES, OURS, SIDES, STOCK
from bench.measure import PROJECT, CrawlFailed, environment, run
from bench.options import OneLineParser, count
from bench.workload import LINKS, NEW_LINKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    Figures = dict[str, float | None]

# Far more than the slowest needs.
_LIMIT_SECONDS = 300.0
_LIMIT_SECONDS_A_URL = 0.001
_WIDTH = 120
# What the targets are for.
_URLS, _HOSTS = 1_000_000, 10_000


class _Row(NamedTuple):
    figure: str
    what: str
    digits: int = 0
    # The least there should be, or the most.
    least: float | None = None
    most: float | None = None

    def target(self) -> str:
        if self.least is not None:
            return f"≥ {self.least:,.0f}"
        return "" if self.most is None else f"≤ {self.most:,.0f}"

    def verdict(self, value: float | None) -> str:
        if value is None or (self.least is None and self.most is None):
            return ""
        is_met = value >= self.least if self.least is not None else value <= (self.most or 0)
        return "met" if is_met else "not met"


_ROWS = (
    _Row("new_a_second", f"new URLs a second, {NEW_LINKS} a page", least=15_000),
    _Row("known_a_second", f"links a second, 58 of {LINKS} a page known", least=50_000),
    _Row("taken_a_second", "taken and finished a second", least=5_000),
    _Row("resident_mb", "MB of memory for the queue", most=150),
    _Row("queued", "… URLs in it"),
    _Row("running_bytes_a_url", "bytes of disk a URL, running"),
    _Row("closed_bytes_a_url", "… closed"),
    _Row("reopen_seconds", "seconds to open it again", digits=2),
    _Row("reopened_mb", "MB of memory then"),
)


def main(arguments: Sequence[str]) -> int:
    parser = OneLineParser(prog="bench frontier", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--urls", type=count, default=_URLS, help="(%(default)s)")
    parser.add_argument("--hosts", type=count, default=_HOSTS, help="(%(default)s)")
    parser.add_argument("--only", choices=SIDES, help="one side, not all")
    options = parser.parse_args(arguments)
    measured: dict[str, Figures] = {}
    failures = []
    for side in [options.only] if options.only else SIDES:
        try:
            measured[side] = _measure(side, options.urls, options.hosts)
        except CrawlFailed as error:
            failures.append(f"{side}: {error}")
    if measured:
        _show(options.urls, options.hosts, measured)
    for failure in failures:
        print(f"bench frontier: error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _measure(side: str, urls: int, hosts: int) -> Figures:
    """Fill a frontier, and open it again. Raises CrawlFailed."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        # In memory there is nothing to open again.
        for what in ("fill",) if side == STOCK else ("fill", "reopen"):
            print(f"bench: {side}: {what} …", file=sys.stderr, flush=True)
            run(
                [sys.executable, "-m", "bench.frontier_side", side, what, str(urls), str(hosts)],
                cwd=Path(name),
                environment=environment(PYTHONPATH=str(PROJECT)),
                limit_seconds=_LIMIT_SECONDS + urls * _LIMIT_SECONDS_A_URL,
            )
            found: Any = json.loads((Path(name) / FIGURES).read_bytes())
            figures.update(found)
    if figures.get("reopened_queued", figures["left"]) != figures["left"]:
        raise CrawlFailed(
            f"{figures['left']} URLs were queued, and {figures['reopened_queued']} after reopening"
        )
    return figures


def _show(urls: int, hosts: int, measured: dict[str, Figures]) -> None:
    # In a file there is room.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    table = Table(title=f"{urls:,} URLs on {hosts:,} hosts", title_justify="left")
    table.add_column("")
    for side in measured:
        table.add_column(side, justify="right", no_wrap=True)
        if side == OURS:
            table.add_column("target", justify="right", no_wrap=True)
            table.add_column("", no_wrap=True)
    for row in _ROWS:
        cells = []
        for side, figures in measured.items():
            value = figures.get(row.figure)
            cells.append("–" if value is None else f"{value:,.{row.digits}f}")
            if side == OURS:
                cells += [row.target(), row.verdict(value)]
        table.add_row(row.what, *cells)
    console.print(table)
    if OURS in measured and (urls, hosts) != (_URLS, _HOSTS):
        console.print(f"The targets are for {_URLS:,} URLs on {_HOSTS:,} hosts.")
