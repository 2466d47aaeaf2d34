"""From a response to its callback and from its output to the pipelines, by fewer calls.

Scrapy yields to the event loop twice before a callback, passes its output through an asynchronous
generator or two for each spider middleware, and makes a task for the output and an awaitable for
each pipeline. Here the output is processed in the task of the response. What is called, in which
order, and the handling of errors are the same. (The downloader has yielded to the event loop.)

It is used for crawls that process one item at a time (CONCURRENT_ITEMS), as far as the spider
middlewares allow it: those that look at one output at a time (``BaseSpiderMiddleware``) do, and
those that handle exceptions do not. Scrapy's HttpErrorMiddleware is one of the latter, so most of
the saving is for the site spider, which does without it.

Without it a page of 25 KB takes 7 to 12 % more CPU time.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from itertools import count
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
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

from crawlproject.frontier.engine import next_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler

    Process = Callable[[Any, Response | None], Any]
    # What a spider middleware does with a request, and with an item; None: nothing.
    Processor = tuple[Process | None, Process | None]


# Outputs of a callback that are processed in one turn of the event loop: it may yield thousands,
# and others have to run meanwhile.
_OUTPUTS_AT_ONCE = 8


def install(crawler: Crawler) -> None:
    """Take effect when the spider is opened: then all components exist."""

    def replace() -> None:
        # It holds the crawler.
        crawler.signals.disconnect(replace, signals.spider_opened, weak=False)
        if crawler.engine.scraper.concurrent_items == 1:
            _Scraping(crawler).replace()

    # Not weakly: nobody else holds it.
    crawler.signals.connect(replace, signals.spider_opened, weak=False)


def _processors(manager: Any) -> list[Processor] | None:
    """Return what the spider middlewares do with each output, in order.

    None if one of them takes the whole output, handles exceptions, or requires the deprecated
    ``spider`` argument.
    """
    if manager._mw_methods_requiring_spider:
        return None
    processors: list[Processor] = []
    base = BaseSpiderMiddleware
    # The one nearest to the spider is the first to see its output.
    for middleware in reversed(manager.middlewares):
        if hasattr(middleware, "process_spider_exception"):
            return None
        if isinstance(middleware, base) and all(
            getattr(type(middleware), name) is getattr(base, name) and name not in vars(middleware)
            for name in ("process_spider_output", "process_spider_output_async", "_get_processed")
        ):
            of_request = _own(middleware, "get_processed_request")
            processors.append((of_request, _own(middleware, "get_processed_item")))
        elif hasattr(middleware, "process_spider_output"):
            return None
    return processors


def _is_plain(pipelines: Any) -> bool:
    return type(pipelines) is ItemPipelineManager and not pipelines._mw_methods_requiring_spider


def _own(middleware: BaseSpiderMiddleware, name: str) -> Process | None:
    """Return a method, unless it is the base class's, which returns its argument."""
    method: Process = getattr(middleware, name)
    is_inherited = getattr(method, "__func__", None) is getattr(BaseSpiderMiddleware, name)
    return None if is_inherited else method


class _Scraping:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scraper: Any = crawler.engine.scraper
        self._scrapys_scrape = self._scraper._scrape
        manager: Any = self._scraper.spidermw
        self._input_methods: Iterable[Callable[..., Any]] = manager.methods["process_spider_input"]
        self._warns = crawler.settings.getbool("WARN_ON_GENERATOR_RETURN_VALUE")
        self._processors: list[Processor] = []

    def replace(self) -> None:
        """Replace methods of the scraper, as far as its components allow it."""
        scraper = self._scraper
        scraper.handle_spider_output_async = self.handle_output
        processors = _processors(scraper.spidermw)
        if processors is not None:
            self._processors = processors
            scraper._scrape = self.scrape
        if _is_plain(scraper.itemproc):
            scraper.itemproc.process_item_async = self.process_item

    async def scrape(self, result: Response | Failure, request: Request) -> None:
        """Call the callback for a response. A failure is left to Scrapy."""
        if not isinstance(result, Response):
            await self._scrapys_scrape(result, request)
            return
        try:
            output = self._output(result, request)
            # Callbacks of a CrawlSpider, and most others, are asynchronous generators.
            if type(output) is not AsyncGeneratorType:
                output = _iterator(await ensure_awaitable(output))
        except Exception:  # whatever a callback or a middleware raises, Scrapy reports
            self._report(request, result)
        else:
            await self._process(output, request, result)

    def _output(self, response: Response, request: Request) -> Any:
        for method in self._input_methods:
            try:
                returned = method(response=response)
            except _InvalidOutput:
                raise
            except Exception:  # for the errback
                return self._scraper.call_spider_async(Failure(), request)
            if returned is not None:
                raise _InvalidOutput(
                    f"{global_object_name(method)} must return None or raise an exception, "
                    f"got {type(returned)}"
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
        for number in count(1):
            try:
                one = await anext(output)
            except StopAsyncIteration:
                return
            except Exception:  # of the callback, as above
                self._report(request, response)
                return
            try:
                one = self._processed(one, response)
            except Exception:  # of a middleware
                self._report(request, response)
                return
            if isinstance(one, Request):
                self._crawler.engine.crawl(one)
            elif one is not None:
                await self._scraper.start_itemproc_async(one, response=response)
            if not number % _OUTPUTS_AT_ONCE:
                await next_turn()

    def _processed(self, one: Any, response: Response) -> Any:
        for of_request, of_item in self._processors:
            process = of_request if isinstance(one, Request) else of_item
            if process is not None:
                one = process(one, response)
            if one is None:
                break
        return one

    async def process_item(self, item: Any) -> Any:
        """Pass an item through the pipelines. Most return the item itself, not an awaitable."""
        for process in self._scraper.itemproc.methods["process_item"]:
            returned = process(item)
            if returned is not item:
                item = await ensure_awaitable(returned, _warn=global_object_name(process))
        return item

    async def handle_output(
        self, output: Any, request: Request, response: Response | Failure
    ) -> None:
        """Process the output of an errback, or of a callback that Scrapy has called, in order."""
        errback = aiter_errback if isinstance(output, AsyncIterator) else iter_errback
        outputs: Any = errback(output, self._scraper.handle_spider_error, request, response)
        number = 0
        async for one in as_async_generator(outputs):
            await self._scraper._process_spidermw_output_async(one, response)
            number += 1
            if not number % _OUTPUTS_AT_ONCE:
                await next_turn()

    def _report(self, request: Request, response: Response) -> None:
        failure = Failure()
        self._scraper.handle_spider_error(failure, request, response)


def _iterator(output: Any) -> AsyncIterator[Any]:
    return output if isinstance(output, AsyncIterator) else as_async_generator(output)
