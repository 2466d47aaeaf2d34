"""From a response to its callback, and what that yields, without detours.

Scrapy lets the event loop turn twice before a callback, and hands what it yields through
seventeen asynchronous generators. What is called, in which order, and what comes of an error
is the same. (The downloader lets the loop turn once, and answers stand in line before.)

Nor is a pipeline waited for that gives back the item it got, as nearly all do.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import ScrapyDeprecationWarning, _InvalidOutput
from scrapy.http import Response
from scrapy.pipelines import ItemPipelineManager
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import aiter_errback, ensure_awaitable, iter_errback
from scrapy.utils.misc import warn_on_generator_with_return_value
from scrapy.utils.python import global_object_name
from scrapy.utils.spider import iterate_spider_output
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler

    Process = Callable[[Any, Response | None], Any]
    # What a spider middleware does with a request, and with an item; None: nothing.
    Processor = tuple[Process | None, Process | None]


def scrape_shortly(crawler: Crawler) -> None:
    """From now on, one item at a time."""
    scraper: Any = crawler.engine.scraper
    scraping = _Scraping(crawler)
    scraper.handle_spider_output_async = scraping.handle_output
    processors = _processors(scraper.spidermw)
    if processors is not None:
        scraping.processors = processors
        scraper._scrape = scraping.scrape
    pipelines = scraper.itemproc
    if type(pipelines) is ItemPipelineManager and not pipelines._mw_methods_requiring_spider:
        scraper.itemproc.process_item_async = scraping.process_item


def _processors(manager: Any) -> list[Processor] | None:
    """What the spider middlewares do with each output, in turn.

    None: one of them wants to see all outputs at once, or errors, or the spider as Scrapy once
    gave it.
    """
    if manager._mw_methods_requiring_spider:
        return None
    processors: list[Processor] = []
    usual = BaseSpiderMiddleware
    # The nearest to the spider is the first to see what it yields.
    for middleware in reversed(manager.middlewares):
        if hasattr(middleware, "process_spider_exception"):
            return None
        if isinstance(middleware, usual) and all(
            getattr(type(middleware), name) is getattr(usual, name) and name not in vars(middleware)
            for name in ("process_spider_output", "process_spider_output_async", "_get_processed")
        ):
            of_request = _own(middleware, "get_processed_request")
            processors.append((of_request, _own(middleware, "get_processed_item")))
        elif hasattr(middleware, "process_spider_output"):
            return None
    return processors


def _own(middleware: BaseSpiderMiddleware, name: str) -> Process | None:
    """A method, unless it is Scrapy's, which gives back what it gets."""
    method: Process = getattr(middleware, name)
    is_scrapys = getattr(method, "__func__", None) is getattr(BaseSpiderMiddleware, name)
    return None if is_scrapys else method


class _Scraping:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scraper: Any = crawler.engine.scraper
        self._scrapys_way = self._scraper._scrape
        manager: Any = self._scraper.spidermw
        self._look_at: Iterable[Callable[..., Any]] = manager.methods["process_spider_input"]
        self._warns = crawler.settings.getbool("WARN_ON_GENERATOR_RETURN_VALUE")
        self.processors: list[Processor] = []

    async def scrape(self, result: Response | Failure, request: Request) -> None:
        """Have the callback called. What is no response goes Scrapy's way."""
        if not isinstance(result, Response):
            await self._scrapys_way(result, request)
            return
        try:
            output = self._output(result, request)
            # A crawl spider's callbacks, and most others, are asynchronous generators.
            if type(output) is not AsyncGeneratorType:
                output = _iterated(await ensure_awaitable(output))
        except Exception:  # whatever a callback or a middleware raises, Scrapy reports
            self._report(request, result)
        else:
            await self._process(output, request, result)

    def _output(self, response: Response, request: Request) -> Any:
        for look in self._look_at:
            try:
                answer = look(response=response)
            except _InvalidOutput:
                raise
            except Exception:  # it is for the errback
                return self._scraper.call_spider_async(
                    Failure(),
                    request,
                )
            if answer is not None:
                raise _InvalidOutput(
                    f"{global_object_name(look)} must return None or raise an exception, "
                    f"got {type(answer)}"
                )
        if response.request is None:
            response.request = request
        spider: Any = self._crawler.spider
        callback: Any = response.request.callback or spider._parse
        if self._warns:
            warn_on_generator_with_return_value(spider, callback)
        output = callback(response, **response.request.cb_kwargs)
        if type(output) is AsyncGeneratorType:
            return output
        if isinstance(output, Deferred):
            warnings.warn(
                f"{callback} returned a Deferred. Returning Deferreds from spider callbacks is "
                "deprecated.",
                ScrapyDeprecationWarning,
                stacklevel=2,
            )
        return iterate_spider_output(output)

    async def _process(
        self, output: AsyncIterator[Any], request: Request, response: Response
    ) -> None:
        while True:
            try:
                one = self._processed(await anext(output), response)
            except StopAsyncIteration:
                return
            except Exception:  # as above
                self._report(request, response)
                return
            # As Scrapy does it, one call further on.
            if isinstance(one, Request):
                self._crawler.engine.crawl(one)
            elif one is not None:
                await self._scraper.start_itemproc_async(one, response=response)

    def _processed(self, one: Any, response: Response) -> Any:
        for of_request, of_item in self.processors:
            process = of_request if isinstance(one, Request) else of_item
            if process is not None:
                one = process(one, response)
            if one is None:
                break
        return one

    async def process_item(self, item: Any) -> Any:
        """Through the pipelines."""
        for process in self._scraper.itemproc.methods["process_item"]:
            answer = process(item)
            if answer is not item:
                item = await ensure_awaitable(answer, _warn=global_object_name(process))
        return item

    async def handle_output(
        self, output: Any, request: Request, response: Response | Failure
    ) -> None:
        """What an errback yields, one after the other, or what is left of Scrapy's way."""
        errback = aiter_errback if isinstance(output, AsyncIterator) else iter_errback
        outputs: Any = errback(output, self._scraper.handle_spider_error, request, response)
        async for one in as_async_generator(outputs):
            await self._scraper._process_spidermw_output_async(one, response)

    def _report(self, request: Request, response: Response) -> None:
        failure = Failure()
        self._scraper.handle_spider_error(failure, request, response)


def _iterated(output: Any) -> AsyncIterator[Any]:
    return output if isinstance(output, AsyncIterator) else as_async_generator(output)
