"""The one place that touches what Scrapy's engine keeps to itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import _schedule_coro, aiter_errback, iter_errback

if TYPE_CHECKING:
    from collections.abc import Set

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure


def is_busy(crawler: Crawler, more: int) -> bool:
    """Whether as many requests are under way as may be, with ``more`` that are about to be."""
    downloader = crawler.engine.downloader
    under_way = getattr(downloader, "under_way", len(downloader.active)) + more
    return downloader.needs_backout() or 0 < downloader.total_concurrency <= under_way


def requests_in_engine(crawler: Crawler) -> Set[Request]:
    """The requests that the engine has not let go of.

    It does when callback and pipelines are through, or when there is nothing to call. No
    signal tells.
    """
    slot = crawler.engine._slot
    return frozenset() if slot is None else slot.inprogress


def handle_outputs_in_turn(crawler: Crawler) -> None:
    """With CONCURRENT_ITEMS=1, spare each page two tasks and the queue between them."""
    scraper: Any = crawler.engine.scraper

    async def handle(output: Any, request: Request, response: Response | Failure) -> None:
        errback = aiter_errback if isinstance(output, AsyncIterator) else iter_errback
        outputs: Any = errback(output, scraper.handle_spider_error, request, response)
        async for one in as_async_generator(outputs):
            await scraper._process_spidermw_output_async(one, response)

    if scraper.concurrent_items == 1:
        scraper.handle_spider_output_async = handle


def stop(crawler: Crawler, reason: str) -> None:
    """End the crawl as soon as the requests under way have ended."""
    _schedule_coro(crawler.engine.close_spider_async(reason=reason))


def wake(crawler: Crawler) -> None:
    """Make the engine ask the scheduler again.

    Scrapy does so when a request ends and every five seconds. A host that gets ready in
    between has no public way to say so.
    """
    slot = crawler.engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def is_rushed(crawler: Crawler) -> bool:
    """Whether there are hosts to be asked now, or sooner than a page would be read."""
    engine = crawler.engine
    has_more = getattr(engine.scheduler, "has_more", None)
    return has_more is not None and has_more() and not engine.paused and not engine.needs_backout()
