"""What Scrapy's engine keeps to itself, and who asks it here (beside ``short_way``)."""

from __future__ import annotations

import signal
from types import coroutine
from typing import TYPE_CHECKING

from scrapy.utils.defer import _schedule_coro

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator, Set

    from scrapy import Request
    from scrapy.crawler import Crawler


def is_busy(crawler: Crawler, more: int) -> bool:
    """Whether as many requests are under way as may be, with ``more`` that are about to be."""
    downloader = crawler.engine.downloader
    under_way = getattr(downloader, "under_way", len(downloader.active)) + more
    return downloader.needs_backout() or 0 < downloader.total_concurrency <= under_way


def look_ahead(crawler: Crawler, url: str) -> Awaitable[float] | float | None:
    """The name lookup that a URL has to wait for, or seconds until it may begin; None: neither."""
    look_ahead = getattr(crawler.engine.downloader, "look_ahead", None)
    return None if look_ahead is None else look_ahead(url)


def requests_in_engine(crawler: Crawler) -> Set[Request]:
    """The requests that the engine has not let go of.

    It does when callback and pipelines are through, or when there is nothing to call. No
    signal tells.
    """
    slot = crawler.engine._slot
    return frozenset() if slot is None else slot.inprogress


def stop(crawler: Crawler, reason: str) -> None:
    """End the crawl as soon as the requests under way have ended."""
    _schedule_coro(crawler.engine.close_spider_async(reason=reason))


def is_closing(crawler: Crawler) -> bool:
    """Whether the crawl is about to end: nothing new is begun."""
    slot = crawler.engine._slot
    return slot is None or slot.closing is not None


def is_asked_to_stop() -> bool:
    """Whether Scrapy's process was sent SIGINT or SIGTERM.

    It only notes so, for a later turn of the event loop. What the next signal would do tells.
    """
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    # After the second signal it ignores both; a program of somebody else's may ignore one.
    is_ignored = all(handler is signal.SIG_IGN for handler in handlers)
    return is_ignored or getattr(handlers[0], "__name__", "") == "_signal_kill"


def wake(crawler: Crawler) -> None:
    """Make the engine ask the scheduler again.

    Scrapy does so when a request ends and every five seconds. A host that gets ready in
    between has no public way to say so.
    """
    slot = crawler.engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def is_rushed(crawler: Crawler, pages: int = 1) -> bool:
    """Whether there are hosts to be asked now, or sooner than so many pages would be read."""
    engine = crawler.engine
    has_more = getattr(engine.scheduler, "has_more", None)
    if has_more is None or not has_more(pages):
        return False
    return not engine.paused and not engine.needs_backout()


@coroutine
def next_turn() -> Generator[None, None, None]:
    """Of the event loop: what ``asyncio.sleep(0)`` is, without the question how long."""
    yield
