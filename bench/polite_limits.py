"""``bench polite --limits``: whether delay, rate, concurrency and AutoThrottle mean what they say.

One host that responds in 200 ms is crawled with different limits, without what makes crawls of
this machine's own servers faster. Speed and violations are those of the server's log.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.measure import PROJECT, CrawlFailed, environment, run
from bench.polite_log import pace_of
from bench.polite_server import address, requests_in, serving
from bench.server import NoServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.polite_log import Asked, Pace

_LATENCY_SECONDS = 0.2
_LIMIT_SECONDS = 120.0


class Case(NamedTuple):
    arguments: tuple[str, ...]
    pages: int
    # Seconds from a completion to the next start.
    delay: float
    concurrency: int
    # Pages a second, by the server's log.
    least: float
    most: float = float("inf")
    # Requests that must have been in flight at once, at some time.
    reached: int = 1


CASES = (
    Case((), 16, 0.25, 1, 2.0),
    Case(("concurrency=4", "delay=0"), 120, 0.0, 4, 16.0, reached=4),
    Case(("rate=10", "concurrency=4"), 80, 0.0, 4, 9.5, 10.5),
    Case(("delay=0.5", "concurrency=2"), 20, 0.5, 2, 0.0, reached=2),
)


def main(settings: Sequence[str] = ()) -> int:
    """Further ``settings`` hold for all crawls."""
    title = f"One host, {_LATENCY_SECONDS * 1000:g} ms a response"
    table = Table(title=title, title_justify="left")
    for name in ("arguments", "pages/s", "wanted", "in flight", "too soon", "most in 1 s"):
        table.add_column(name, justify="left" if name == "arguments" else "right", no_wrap=True)
    is_met = True
    for case in CASES:
        named = " ".join(case.arguments) or "(default)"
        print(f"bench: crawling with {named} …", file=sys.stderr, flush=True)
        try:
            pace = pace_of(_crawl(case, settings), case.delay)
        except (CrawlFailed, NoServer, ValueError) as error:
            print(f"bench polite: error: {error}", file=sys.stderr)
            return 1
        is_met = is_met and is_kept(case, pace)
        wanted = f"≥ {case.least:g}" if case.least else ""
        if case.most < float("inf"):
            wanted = f"{case.least:g} to {case.most:g}"
        table.add_row(
            named,
            f"{pace.per_second:.2f}",
            wanted,
            f"{pace.in_flight} of {case.concurrency}",
            str(pace.too_soon),
            str(pace.most_in_a_second),
        )
    Console(highlight=False, width=100).print(table)
    if not is_met:
        print("bench polite: error: a limit does not mean what it says", file=sys.stderr)
    return 0 if is_met else 1


def is_kept(case: Case, pace: Pace) -> bool:
    return (
        case.least <= pace.per_second <= case.most
        and not pace.too_soon
        and case.reached <= pace.in_flight <= case.concurrency
    )


def _crawl(case: Case, settings: Sequence[str]) -> list[Asked]:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        log = folder / "log.jsonl"
        with serving(1, case.pages, _LATENCY_SECONDS, log) as port:
            run(
                [
                    *(sys.executable, "-m", "scrapy", "crawl", "site"),
                    *("-a", f"seed=http://{address(0)}:{port}/"),
                    *("-a", "sitemaps=never", "-s", "POLITENESS_FAST_LOOPBACK=no"),
                    *(word for argument in case.arguments for word in ("-a", argument)),
                    *(word for setting in settings for word in ("-s", setting)),
                    *("-O", str(folder / "pages.jsonl")),
                ],
                cwd=folder,
                environment=environment(
                    PYTHONPATH=str(PROJECT), SCRAPY_SETTINGS_MODULE="crawlproject.settings"
                ),
                limit_seconds=_LIMIT_SECONDS,
            )
        asked = requests_in(log)
    if len(asked) != case.pages + 1:
        raise CrawlFailed(f"{case.pages + 1} requests were expected, {len(asked)} came")
    return asked
