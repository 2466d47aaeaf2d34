"""Crawl from Python: the same spider, frontier and politeness as ``scrapy crawl site``.

>>> from crawlproject import crawl
>>> for url, depth, content in crawl("https://example.com", max_depth=1):
...     print(depth, url, len(content))

Both functions can be called any number of times, from a script, a thread or a notebook.
``http_get``, ``extract_links`` and ``is_allowed`` replace the network, the link extractor
and robots.txt. They may block: each call runs in a thread of its own. What they raise is
the failure of one page, not of the crawl. Ctrl-C ends a crawl early, with what there is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlproject.items import Page

__all__ = ["crawl", "crawl_pages"]

logger = logging.getLogger(__name__)


def crawl(
    start_url: str,
    *,
    max_depth: int | None = 3,
    max_workers: int = 8,
    per_host_concurrency: int = 2,
    per_host_delay_s: float = 0.0,
    allow_domains: Iterable[str] | None = None,
    frontier_capacity: int = 10_000,
    http_get: Callable[[str], Any] | None = None,
    extract_links: Callable[[Any, str], Iterable[str]] | None = None,
    is_allowed: Callable[[str], bool] | None = None,
    render: str = "never",
) -> list[tuple[str, int, Any]]:
    """Crawl from a URL; the pages that were fetched as (url, depth, content), breadth first.

    ``max_depth``: links from the start (0: that page only; None: no limit).
    ``max_workers``: requests in flight in all; ``per_host_concurrency``: per host.
    ``per_host_delay_s``: seconds from the end of a request to the start of the next.
    ``allow_domains``: hosts besides the start's own, with their subdomains.
    ``frontier_capacity``: queued URLs, about; at the bound discovery waits, nothing is lost.
    ``http_get(url)``: the content, or None when there is none; no network is touched then.
    ``extract_links(content, base)``: URLs, relative ones too.
    ``is_allowed(url)``: asked once before a page is fetched, in place of robots.txt.
    ``render``: 'auto' shows pages that are made by scripts to a browser, 'always' all pages.
    """
    arguments = locals()
    from crawlproject.api.order import breadth_first
    from crawlproject.api.run import Options, run

    results = []
    for result in run(Options(**arguments), with_content=True):
        # The content is what is asked for: its text would be the same once more.
        result.page.text = None
        results.append(result)
    if not any(result.page.error is None for result in results):
        for result in results[:1]:
            logger.warning("%s could not be fetched: %s", result.page.url, result.page.error)
    contents = {result.page.url: result.content for result in results}
    pages = breadth_first([result.final_page() for result in results])
    return [(page.url, page.depth, contents[page.url]) for page in pages if page.error is None]


def crawl_pages(
    start_url: str,
    *,
    max_depth: int | None = 3,
    max_workers: int = 8,
    per_host_concurrency: int = 2,
    per_host_delay_s: float = 0.0,
    allow_domains: Iterable[str] | None = None,
    frontier_capacity: int = 10_000,
    http_get: Callable[[str], Any] | None = None,
    extract_links: Callable[[Any, str], Iterable[str]] | None = None,
    is_allowed: Callable[[str], bool] | None = None,
    render: str = "never",
) -> Iterator[Page]:
    """Crawl from a URL; every Page as it arrives, failed ones too. Arguments as ``crawl``.

    Leaving the loop early ends the crawl.
    """
    arguments = locals()
    from crawlproject.api.run import Options, run

    return (result.page for result in run(Options(**arguments), with_content=False))
