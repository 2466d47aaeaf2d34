"""The way of a request through Scrapy's engine and back, in one task.

Scrapy hands it on through three tasks, a dozen Deferreds and two queues: with what
``scraping`` spares, an eighth of what a page costs here. What is called, in which order, and
what comes of an error is the same.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import logformatter_adapter
from scrapy.utils.reactor import CallLaterOnce
from twisted.python.failure import Failure

from crawlproject.frontier.scraping import scrape_shortly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

# Who looks for what was crawled, or filters it, knows it by this name.
logger = logging.getLogger("scrapy.core.engine")


def take_short_way(crawler: Crawler) -> None:
    """From now on. A downloader of a team's own, or more items at once, go Scrapy's way."""
    engine: Any = crawler.engine
    slot = engine._slot
    slot.nextcall = _NextCall(engine._start_scheduled_requests)
    slot.heartbeat = create_looping_call(slot.nextcall.schedule)
    way = _ShortWay(crawler)
    is_ours = type(engine.downloader).fetch is Downloader.fetch
    if is_ours and hasattr(engine.downloader, "fetch_async"):
        engine._start_scheduled_request = way.start
    if engine.scraper.concurrent_items == 1:
        scrape_shortly(crawler)


class _NextCall(CallLaterOnce[None]):
    """The engine's next turn. Scrapy looks for the event loop each time, and imports what does."""

    # It is cancelled, if need be, and nothing else.
    _call: asyncio.TimerHandle | None  # type: ignore[assignment]

    def __init__(self, start: Callable[[], None]) -> None:
        super().__init__(start)
        self._loop = asyncio.get_running_loop()

    def schedule(self, delay: float = 0) -> None:
        if self._call is None:
            self._call = self._loop.call_later(delay, self)

    def __call__(self) -> None:
        self._call = None
        self._func(*self._a, **self._kw)
        for waiting in self._deferreds:
            self._loop.call_soon(waiting.callback, None)
        self._deferreds.clear()


class _ShortWay:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._loop = asyncio.get_running_loop()
        self._engine: Any = crawler.engine
        self._scraper: Any = crawler.engine.scraper

    def start(self) -> bool:
        """Whether there was a request to start."""
        engine = self._engine
        slot = engine._slot
        request = slot.scheduler.next_request()
        if request is None:
            engine.signals.send_catch_log(signals.scheduler_empty)
            return False
        slot.inprogress.add(request)
        answer = engine.downloader.fetch_async(request)
        self._loop.create_task(self._carry_out(request, answer))
        return True

    async def _carry_out(self, request: Request, answer: Awaitable[Any]) -> None:
        slot = self._engine._slot
        try:
            result = await self._received(request, answer)
            slot.nextcall.schedule()
            if isinstance(result, Request):
                self._engine.crawl(result)
            else:
                await self._hand_over(result, request)
        except Exception:  # of a team's code or ours: it costs one request, as in Scrapy
            self._log_error("Error while handling downloader output")
        finally:
            # A spider may have given the same request twice.
            if request in slot.inprogress:
                slot.remove_request(request)
            slot.nextcall.schedule()

    async def _received(
        self, request: Request, answer: Awaitable[Any]
    ) -> Response | Request | Failure:
        # Apart: a failure holds the frames that it came through, with all that they read. If one
        # of them held it, they would stay until the garbage is collected.
        try:
            result: Response | Request = await answer
            if not isinstance(result, Request):
                self._report(result, request)
        except (Exception, asyncio.CancelledError):
            return Failure()
        return result

    def _report(self, response: Any, request: Request) -> None:
        if not isinstance(response, Response):
            raise TypeError(f"Expected a Response or a Request, got {response!r}")
        if response.request is None:
            response.request = request
        spider = self._crawler.spider
        words = self._engine.logformatter.crawled(response.request, response, spider)
        if words is not None:
            logger.log(*logformatter_adapter(words), extra={"spider": spider})
        self._engine.signals.send_catch_log(
            signals.response_received, response=response, request=response.request, spider=spider
        )

    async def _hand_over(self, result: Response | Failure, request: Request) -> None:
        slot = self._scraper.slot
        # Scrapy's queue would be empty: what comes in is taken out at once.
        slot.active.add(request)
        size = len(result.body) if isinstance(result, Response) else 0
        slot.active_size += max(size, slot.MIN_RESPONSE_SIZE)
        try:
            await self._scraper._scrape(result, request)
        except Exception:  # the slot must be left, or the crawl would never end
            self._log_error(f"Scraper bug processing {request}")
        finally:
            slot.finish_response(result, request)
            self._scraper._check_if_closing()

    def _log_error(self, words: str) -> None:
        logger.error(words, exc_info=True, extra={"spider": self._crawler.spider})
