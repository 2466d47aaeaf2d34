"""``bench start``: the CPU time of a crawl of one page, of this project and of a stock project.

What is measured is the whole command, from the interpreter to its exit, with its children: nearly
all of it is imports. The commands take turns, so that a machine that gets slower meanwhile is
slower for all. The stock project is what ``scrapy startproject`` makes, with a CrawlSpider.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.comparing import say
from bench.measure import PROJECT, CrawlFailed, environment, run
from bench.options import OneLineParser, count
from bench.server import NoServer, serve
from bench.site import ALONE, Site
from crawlproject.errors import BadRedis
from crawlproject.frontier.redis.binary import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TARGET = 1.3
_LIMIT_SECONDS = 60.0
_WIDTH = 100
_STOCK = "stock project: scrapy crawl"
_STOCK_FILES = {
    "scrapy.cfg": "[settings]\ndefault = stock.settings\n",
    "stock/__init__.py": "",
    "stock/settings.py": 'BOT_NAME = "stock"\nSPIDER_MODULES = ["stock.spiders"]\n',
    "stock/spiders/__init__.py": "",
}


class Side(NamedTuple):
    name: str
    # Of the command line, given the folder that it runs in and the URL of the page.
    command: Callable[[Path, str], Sequence[str]]
    environment: dict[str, str]
    prepare: Callable[[Path], None] = lambda folder: folder.mkdir()


def main(arguments: Sequence[str]) -> int:
    parser = OneLineParser(prog="bench start", description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--repeat", type=count, default=5, help="runs of each (%(default)s)")
    options = parser.parse_args(arguments)
    try:
        measured = measure(options.repeat)
    except (CrawlFailed, NoServer) as error:
        print(f"bench start: error: {error}", file=sys.stderr)
        return 1
    show(measured, options.repeat)
    return 0


def measure(repeat: int) -> dict[str, list[float]]:
    """CPU seconds of each run, by side; stock first. Raises CrawlFailed and NoServer."""
    seconds: dict[str, list[float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        (folder / "site").mkdir()
        Site(1).write(folder / "site")
        served = stack.enter_context(serve(folder / "site", folder / "server"))
        all_sides = [*sides()]
        try:
            redis = stack.enter_context(Server(options={"appendonly": "no"}))
        except BadRedis as error:
            say(f"no worker on Redis is measured: {error}")
        else:
            all_sides.append(worker(redis.url))
        # One more run of each, before: it writes the bytecode and warms the disk's cache.
        for turn in range(repeat + 1):
            for number, side in enumerate(all_sides):
                say(f"{side.name}: " + (f"run {turn} of {repeat}" if turn else "first run"))
                place = folder / f"{number}-{turn}"
                side.prepare(place)
                cost = run(
                    side.command(place, served.url + ALONE),
                    cwd=place,
                    environment=side.environment,
                    limit_seconds=_LIMIT_SECONDS,
                )
                if turn:
                    seconds.setdefault(side.name, []).append(cost.cpu_seconds)
    return seconds


def sides() -> list[Side]:
    ours = environment(PYTHONPATH=str(PROJECT), SCRAPY_SETTINGS_MODULE="crawlproject.settings")
    return [
        Side(_STOCK, lambda _, url: _scrapy("stock", url), environment(), _stock_project),
        Side("scrapy crawl site", lambda _, url: _scrapy("site", url), ours),
        Side(
            "./scripts/crawl", lambda _, url: [str(PROJECT / "scripts/crawl"), url], environment()
        ),
    ]


def worker(redis_url: str) -> Side:
    """A crawl of its own each time, in one Redis."""

    def command(folder: Path, url: str) -> list[str]:
        crawl = f"FRONTIER_CRAWL_ID=start-{folder.name}"
        return [*_scrapy("site", url), "-s", f"REDIS_URL={redis_url}", "-s", crawl]

    return sides()[1]._replace(name="scrapy crawl site, a worker on Redis", command=command)


def show(measured: dict[str, list[float]], repeat: int) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    table = Table(
        title=f"CPU seconds of a crawl of one page, {repeat} runs of each", title_justify="left"
    )
    table.add_column("", no_wrap=True)
    for heading in ("best", "× stock", "median", "× stock"):
        table.add_column(heading, justify="right", no_wrap=True)
    stock = measured[_STOCK]
    for name, runs in measured.items():
        table.add_row(
            name,
            f"{min(runs):.2f}",
            f"{min(runs) / min(stock):.2f}",
            f"{median(runs):.2f}",
            f"{median(runs) / median(stock):.2f}",
        )
    console.print(table)
    ratio = min(measured["./scripts/crawl"]) / min(stock)
    said = "met" if ratio <= TARGET else "not met"
    console.print(f"Target: ./scripts/crawl ≤ {TARGET} × stock, by the best runs: {said}.")


def _scrapy(spider: str, url: str) -> list[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", spider]
    return [*command, "-a", f"seed={url}", "-O", "pages.json"]


def _stock_project(folder: Path) -> None:
    for name, text in _STOCK_FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(PROJECT / "bench" / "stock.py", folder / "stock" / "spiders")
