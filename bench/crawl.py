"""``bench crawl``: pages per second of CPU, of this project and of a stock CrawlSpider.

All crawl the same generated site to JSON, in turns, so that a machine that gets slower
meanwhile is slower for all: stock, ours as it is (with content and duplicates), ours without the
fast path (``FASTPATH_ENABLED=no``), and ours with links only. The least of each figure counts,
since whatever disturbs a run only adds to it.
Start-up (the interpreter, imports, opening and closing the crawl) is measured by crawling one
page, and left out of the rates: it is the same for any site.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.comparing import parser_of, run, say, served_site
from bench.crawlers import CRAWLERS, STOCK, Crawler, differences, missing, read_pages
from bench.measure import Cost, Result, best
from bench.report import Report
from bench.site import ALONE, Site
from bench.steps import step_costs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from bench.server import Served

# Far more than stock needs: a crawl that takes longer does not end at all.
_LIMIT_SECONDS = 60.0
_LIMIT_SECONDS_A_PAGE = 0.5


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("crawl", __doc__, pages=2000)
    return run(parser, arguments, _compare)


def _compare(options: argparse.Namespace) -> Report:
    pages, repeat = options.pages, options.repeat
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        with served_site(options, folder) as (site, served):
            costs = _measure(served, folder, pages, repeat)
        # Only now: a child's peak memory is counted from what its parent has when it starts it.
        say("comparing the outputs")
        found = list(_differences(site, served, folder, repeat))
        size = sum(path.stat().st_size for path in (folder / "site").rglob("*.html")) // pages
    return Report(
        pages=pages,
        page_bytes=size,
        repeat=repeat,
        served=served,
        runs={name: runs for (name, kind), runs in costs.items() if kind == "site"},
        results={
            crawler.name: Result(
                pages, best(costs[crawler.name, "site"]), best(costs[crawler.name, "alone"])
            )
            for crawler in CRAWLERS
        },
        differences=found,
        steps=step_costs(site),
    )


def _measure(
    served: Served, folder: Path, pages: int, repeat: int
) -> dict[tuple[str, str], list[Cost]]:
    """The cost of each run, by crawler and by what it crawled: ``alone`` or ``site``."""
    costs: dict[tuple[str, str], list[Cost]] = {}
    limit = _LIMIT_SECONDS + pages * _LIMIT_SECONDS_A_PAGE
    for crawler in CRAWLERS:
        # Then everything is compiled, and in the disk's cache.
        say(f"{crawler.name}: warming up")
        crawler.crawl(served.url + ALONE, folder / f"warm-{crawler.name}", limit)
    for kind, seed in (("alone", served.url + ALONE), ("site", served.url)):
        for turn in range(repeat):
            for crawler in CRAWLERS:
                say(f"{crawler.name}: {kind}, run {turn + 1} of {repeat}")
                cost = crawler.crawl(seed, _folder(folder, crawler, kind, turn), limit)
                costs.setdefault((crawler.name, kind), []).append(cost)
    return costs


def _differences(site: Site, served: Served, folder: Path, repeat: int) -> Iterator[str]:
    expected = {served.url + path.lstrip("/") for path in site.paths}
    reference = read_pages(_folder(folder, STOCK, "site", 0))
    yield from missing(STOCK.name, reference, expected)
    for turn in range(repeat):
        for crawler in CRAWLERS:
            pages = read_pages(_folder(folder, crawler, "site", turn))
            yield from differences(STOCK.name, reference, crawler.name, pages)


def _folder(folder: Path, crawler: Crawler, kind: str, turn: int) -> Path:
    return folder / f"{kind}-{crawler.name}-{turn}"
