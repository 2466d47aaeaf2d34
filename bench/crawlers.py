"""The two sides of the comparison: how each is started, and what its output says."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.measure import PROJECT, Cost, CrawlFailed, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OUTPUT = "pages.json"
_CONCURRENCY = 16
_EXAMPLES = 3

# What a page is compared by: its status and its links. Not by depth: stock Scrapy's is that of
# the way found first, so it differs from run to run.
Pages = dict[str, tuple[int, frozenset[str]]]


class Crawler(NamedTuple):
    name: str
    arguments: tuple[str, ...]
    settings_module: str | None

    def crawl(self, seed: str, folder: Path, limit_seconds: float) -> Cost:
        """Crawl from the seed, into a file in ``folder``, which must be new."""
        folder.mkdir(parents=True)
        command = [sys.executable, "-m", "scrapy", *self.arguments, "-a", f"seed={seed}"]
        return run(
            [*command, "-O", OUTPUT],
            cwd=folder,
            environment=self._environment(),
            limit_seconds=limit_seconds,
        )

    def _environment(self) -> dict[str, str]:
        if not self.settings_module:
            return environment()
        return environment(PYTHONPATH=str(PROJECT), SCRAPY_SETTINGS_MODULE=self.settings_module)


STOCK = Crawler("stock", ("runspider", str(PROJECT / "bench" / "stock.py")), None)
_CRAWL = ("crawl", "site", "-a", f"concurrency={_CONCURRENCY}", "-a", f"workers={_CONCURRENCY}")
# All that is on by default: content and duplicates, too.
OURS = Crawler("ours", _CRAWL, "crawlproject.settings")
# The same, with Scrapy's own code only.
NO_FASTPATH = Crawler(
    "ours, FASTPATH_ENABLED=no",
    (*_CRAWL, "-s", "FASTPATH_ENABLED=no"),
    "crawlproject.settings",
)
# Closer to what stock does.
LINKS_ONLY = Crawler(
    "links only",
    (*_CRAWL, "-s", "PAGES_CONTENT=False", "-s", "DUPLICATES_ENABLED=False"),
    "crawlproject.settings",
)
CRAWLERS = (STOCK, OURS, NO_FASTPATH, LINKS_ONLY)


def read_pages(folder: Path) -> Pages:
    """The pages of a crawl's output, by URL. Raises CrawlFailed."""
    path = folder / OUTPUT
    try:
        document: Any = json.loads(path.read_bytes())
        # Ours says more about the crawl; stock's feed is the bare list.
        records = document["pages"] if isinstance(document, dict) else document
        pages = {
            record["url"]: (record["status_code"], frozenset(record["links"])) for record in records
        }
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CrawlFailed(f"{path.name} is no list of pages: {error!r}") from error
    if len(pages) != len(records):
        raise CrawlFailed(f"{path.name} has {len(records) - len(pages)} pages twice")
    return pages


def differences(name: str, pages: Pages, other_name: str, others: Pages) -> Iterator[str]:
    """What two crawls of the same site do not agree on, a line a kind; nothing if they do."""
    yield from _some(f"only {name} has", pages.keys() - others.keys())
    yield from _some(f"only {other_name} has", others.keys() - pages.keys())
    both = pages.keys() & others.keys()
    yield from _some("status differs:", {url for url in both if pages[url][0] != others[url][0]})
    yield from _some("links differ:", {url for url in both if pages[url][1] != others[url][1]})


def missing(name: str, pages: Pages, expected: set[str]) -> Iterator[str]:
    """How a crawl differs from what is on the site: both sides could err in the same way."""
    yield from _some(f"{name} has not", expected - pages.keys())
    yield from _some(f"not on the site, but {name} has", pages.keys() - expected)
    yield from _some(f"{name} failed at", {url for url in pages if pages[url][0] != 200})


def _some(what: str, urls: set[str]) -> Iterator[str]:
    if urls:
        more = f" and {len(urls) - _EXAMPLES} more" if len(urls) > _EXAMPLES else ""
        yield f"{what} {', '.join(sorted(urls)[:_EXAMPLES])}{more}"
