"""Access to private state of Scrapy's ExecutionEngine, all of it in one place.

Four things that a scheduler needs have no public interface in Scrapy 2.19:

- ``wake``: make the engine ask the scheduler again (``_slot.nextcall``). The engine does so when
  a request ends and every five seconds; a host may become ready in between.
- ``observe_ends``: learn that the engine has finished with a request (``_remove_request``), that
  is: its callback or errback has ended, its items are through the pipelines, and its requests are
  scheduled. Signals and middlewares tell of parts of that only: errbacks pass no spider
  middleware, and an item that is dropped, or a callback without output, sends another signal or
  none.
- ``is_closing``: know that the engine starts no more requests (``_slot.closing``).
- ``is_starting``: know that ``start()`` has not ended (``_start``).

``tests/frontier/test_engine.py`` fails when Scrapy changes one of them.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from types import coroutine
from typing import TYPE_CHECKING, Any

from scrapy import signals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from scrapy import Request
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# The event loop holds tasks weakly.
_closing: set[asyncio.Task[None]] = set()


def is_busy(crawler: Crawler, more: int) -> bool:
    """Whether the downloader has no room for more requests, with ``more`` about to start."""
    downloader = crawler.engine.downloader
    under_way = getattr(downloader, "under_way", len(downloader.active)) + more
    return downloader.needs_backout() or 0 < downloader.total_concurrency <= under_way


def look_ahead(crawler: Crawler, url: str) -> Awaitable[float] | float | None:
    """The name lookup that a URL has to wait for, or seconds until it may begin; None: neither."""
    look_ahead = getattr(crawler.engine.downloader, "look_ahead", None)
    return None if look_ahead is None else look_ahead(url)


def observe_ends(crawler: Crawler, ended: Callable[[Request], None]) -> None:
    """Have ``ended`` called with every scheduled request that the engine has finished with.

    It is called whatever has happened to the request, once for every time that the scheduler
    returned it, and before the engine lets the spider close. Requests of
    ``engine.download_async()`` are not scheduled, so it is not called for them.
    """
    engine: Any = crawler.engine
    remove_request = engine._remove_request

    def observed(result: object, request: Request) -> None:
        try:
            ended(request)
        except Exception:  # Scrapy would log it at level INFO
            logger.exception("Error while ending the lease of %s", request)
        finally:
            remove_request(result, request)

    engine._remove_request = observed


def stop(crawler: Crawler, reason: str) -> None:
    """Close the spider. Requests in flight are finished first."""
    task = asyncio.ensure_future(crawler.engine.close_spider_async(reason=reason))
    _closing.add(task)
    task.add_done_callback(_closing.discard)


def fail(crawler: Crawler) -> None:
    """Have Scrapy's commands exit with 1 once the spider is closed.

    They do so for a crawl that has no spider at its end.
    """

    def closed() -> None:
        crawler.spider = None

    # Not weakly: nobody else holds it.
    crawler.signals.connect(closed, signals.spider_closed, weak=False)


def is_closing(crawler: Crawler) -> bool:
    """Whether the spider is being closed, or is not open: no request is started."""
    slot = crawler.engine._slot
    return slot is None or slot.closing is not None


def is_starting(crawler: Crawler) -> bool:
    """Whether the spider's ``start()`` has not ended."""
    return crawler.engine._start is not None


def is_asked_to_stop() -> bool:
    """Whether Scrapy's process was sent SIGINT or SIGTERM.

    Scrapy acts on it in a later iteration of the event loop. Until then the handler that it has
    installed for the next signal tells.
    """
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    # After the second signal it ignores both; a program of somebody else's may ignore one.
    is_ignored = all(handler is signal.SIG_IGN for handler in handlers)
    return is_ignored or getattr(handlers[0], "__name__", "") == "_signal_kill"


def wake(crawler: Crawler) -> None:
    """Make the engine ask the scheduler for requests in the next iteration of the event loop."""
    slot = crawler.engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def is_rushed(crawler: Crawler, pages: int = 1) -> bool:
    """Whether a host is ready now, or will be before that many pages could be parsed."""
    engine = crawler.engine
    has_more = getattr(scheduler_of(crawler), "has_more", None)
    if has_more is None or not has_more(pages):
        return False
    return not engine.paused and not engine.needs_backout()


def scheduler_of(crawler: Crawler) -> Any:
    """The scheduler, while there is one. Its attribute is public from Scrapy 2.19 on."""
    slot = crawler.engine._slot
    return None if slot is None else slot.scheduler


@coroutine
def next_turn() -> Generator[None, None, None]:
    """Yield to the event loop once: ``asyncio.sleep(0)`` without its overhead."""
    yield
