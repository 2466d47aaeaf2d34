"""The way of a request through Scrapy's engine and back, in one task.

Scrapy hands it on through three tasks, a dozen Deferreds and two queues, and what comes of
it through seventeen asynchronous generators: an eighth of what a page costs here. What is
called, in which order, and what comes of an error is the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import _schedule_coro, aiter_errback, iter_errback
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from scrapy.crawler import Crawler

    # What a spider middleware makes of one output; None: nothing.
    Processor = Callable[[Any, Response | None], Any]

# Who looks for what was crawled, or filters it, knows it by this name.
logger = logging.getLogger("scrapy.core.engine")


def take_short_way(crawler: Crawler) -> None:
    """From now on. A downloader of a team's own, or more items at once, go Scrapy's way."""
    engine: Any = crawler.engine
    way = _ShortWay(crawler)
    is_ours = type(engine.downloader).fetch is Downloader.fetch
    if is_ours and hasattr(engine.downloader, "fetch_async"):
        engine._start_scheduled_request = way.start
    if engine.scraper.concurrent_items == 1:
        engine.scraper.handle_spider_output_async = way.handle_output
        if way.processors is not None:
            engine.scraper.spidermw._process_callback_output = way.as_it_is


def _processors(middlewares: Iterable[Any]) -> list[Processor] | None:
    """What the spider middlewares do with each output, in turn.

    None: one of them wants to see all outputs at once, or errors.
    """
    processors: list[Processor] = []
    usual = BaseSpiderMiddleware
    for middleware in middlewares:
        if hasattr(middleware, "process_spider_exception"):
            return None
        if isinstance(middleware, usual) and all(
            getattr(type(middleware), name) is getattr(usual, name) and name not in vars(middleware)
            for name in ("process_spider_output", "process_spider_output_async")
        ):
            processors.append(middleware._get_processed)
        elif hasattr(middleware, "process_spider_output"):
            return None
    return processors


class _ShortWay:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._engine: Any = crawler.engine
        self._scraper: Any = crawler.engine.scraper
        # The nearest to the spider is the first to see what it yields.
        self.processors = _processors(reversed(self._scraper.spidermw.middlewares))

    def start(self) -> bool:
        """Whether there was a request to start."""
        request = self._engine._slot.scheduler.next_request()
        if request is None:
            self._engine.signals.send_catch_log(signals.scheduler_empty)
            return False
        self._engine._slot.add_request(request)
        answer = self._engine.downloader.fetch_async(request)
        _schedule_coro(self._carry_out(request, answer))
        return True

    async def _carry_out(self, request: Request, answer: Awaitable[Any]) -> None:
        slot = self._engine._slot
        try:
            result = await self._received(request, answer)
            slot.nextcall.schedule()
            if isinstance(result, Request):
                self._engine.crawl(result)
            else:
                await self._scrape(result, request)
        except Exception:  # of a team's code or ours: it costs one request, as in Scrapy
            self._log_error("Error while handling downloader output")
        finally:
            # A spider may have given the same request twice.
            with suppress(KeyError):
                slot.remove_request(request)
            slot.nextcall.schedule()

    async def _received(
        self, request: Request, answer: Awaitable[Any]
    ) -> Response | Request | Failure:
        try:
            result: Response | Request = await answer
            if isinstance(result, Response):
                self._report(result, request)
            elif not isinstance(result, Request):
                raise TypeError(f"Expected a Response or a Request, got {result!r}")
        except (Exception, asyncio.CancelledError):
            return Failure()  # type: ignore[no-untyped-call]
        return result

    def _report(self, response: Response, request: Request) -> None:
        if response.request is None:
            response.request = request
        spider = self._crawler.spider
        words = self._engine.logformatter.crawled(response.request, response, spider)
        if words is not None:
            logger.log(*logformatter_adapter(words), extra={"spider": spider})
        self._engine.signals.send_catch_log(
            signals.response_received, response=response, request=response.request, spider=spider
        )

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        slot = self._scraper.slot
        # Scrapy's queue is always empty: what comes in is taken out at once.
        slot.add_response_request(result, request)
        slot.next_response_request_deferred()
        try:
            await self._scraper._scrape(result, request)
        except Exception:  # the slot must be left, or the crawl would never end
            self._log_error(f"Scraper bug processing {request}")
        finally:
            slot.finish_response(result, request)
            self._scraper._check_if_closing()

    async def as_it_is(self, response: Response, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """In place of the spider middlewares: ``handle_output`` asks them."""
        return output

    async def handle_output(
        self, output: Any, request: Request, response: Response | Failure
    ) -> None:
        """What a callback yields, one after the other."""
        if self.processors is not None and isinstance(response, Response):
            await self._process(output, request, response)
            return
        errback = aiter_errback if isinstance(output, AsyncIterator) else iter_errback
        outputs: Any = errback(output, self._scraper.handle_spider_error, request, response)
        async for one in as_async_generator(outputs):
            await self._scraper._process_spidermw_output_async(one, response)

    async def _process(
        self, output: AsyncIterator[Any], request: Request, response: Response
    ) -> None:
        while True:
            try:
                one = self._processed(await anext(output), response)
            except StopAsyncIteration:
                return
            except Exception:  # whatever a callback or a middleware raises, Scrapy reports
                failure = Failure()  # type: ignore[no-untyped-call]
                self._scraper.handle_spider_error(failure, request, response)
                return
            await self._scraper._process_spidermw_output_async(one, response)

    def _processed(self, one: Any, response: Response) -> Any:
        for process in self.processors or ():
            one = process(one, response)
            if one is None:
                break
        return one

    def _log_error(self, words: str) -> None:
        logger.error(words, exc_info=True, extra={"spider": self._crawler.spider})
