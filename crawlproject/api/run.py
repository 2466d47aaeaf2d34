"""Run one crawl in the reactor's thread, and hand its results to the caller's."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response, TextResponse
from scrapy.settings import Settings

from crawlproject.api import reactor
from crawlproject.api.caller import CONTENT, CallerSpider, Functions, use_functions
from crawlproject.errors import BadArgument
from crawlproject.items import Page
from crawlproject.scope.resolver import GuardedResolver
from crawlproject.spiders import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.crawler import Crawler


# The arguments behind the settings, for messages.
_ARGUMENTS = {
    "SEEDS": "start_url",
    "DEPTH_LIMIT": "max_depth",
    "CONCURRENT_REQUESTS": "max_workers",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "per_host_concurrency",
    "DOWNLOAD_DELAY": "per_host_delay_s",
    "SCOPE_ALLOW": "allow_domains",
    "FRONTIER_CAPACITY": "frontier_capacity",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of ``crawl`` and ``crawl_pages``."""

    start_url: str
    max_depth: int | None
    max_workers: int
    per_host_concurrency: int
    per_host_delay_s: float
    allow_domains: Iterable[str] | None
    frontier_capacity: int
    http_get: Callable[[str], Any] | None
    extract_links: Callable[[Any, str], Iterable[str]] | None
    is_allowed: Callable[[str], bool] | None


class Result(NamedTuple):
    page: Page
    content: Any


class End(NamedTuple):
    """The crawl is over; what it died of, if it did."""

    error: BaseException | None


def run(options: Options, *, with_content: bool) -> Iterator[Result]:
    settings = _settings(options)
    try:
        # Now, in the caller's thread and at the call, not at the first result.
        arguments.apply({}, settings.copy())
    except BadArgument as error:
        raise BadArgument(_ARGUMENTS.get(error.name, error.name), error.problem) from None
    reactor.require_other_thread()
    return _results(options, settings, with_content)


def _results(options: Options, settings: Settings, with_content: bool) -> Iterator[Result]:
    results: SimpleQueue[Result | End] = SimpleQueue()
    crawl = _Crawl(options, settings, results, with_content)
    reactor.call(crawl.start)
    try:
        while isinstance(result := crawl.next(), Result):
            yield result
    finally:
        crawl.stop()
    if result.error is not None:
        raise result.error


class _Crawl:
    def __init__(
        self,
        options: Options,
        settings: Settings,
        results: SimpleQueue[Result | End],
        with_content: bool,
    ) -> None:
        self._options = options
        self._settings = settings
        self._results = results
        self._with_content = with_content
        self._crawler: Crawler | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._is_over = False

    def start(self) -> None:
        """In the reactor's thread."""
        task = asyncio.ensure_future(self._run())
        task.add_done_callback(
            lambda task: self._results.put(End(None if task.cancelled() else task.exception()))
        )

    def next(self) -> Result | End:
        """In the caller's thread. Ctrl-C ends the crawl; what is under way still comes."""
        try:
            result = self._results.get()
        except KeyboardInterrupt:
            self.stop()
            result = self._results.get()
        self._is_over = isinstance(result, End)
        return result

    def stop(self) -> None:
        """Ask the crawl to end, if it has not. Nobody may be left to read its results."""
        if not self._is_over:
            reactor.call(self._stop)

    def _stop(self) -> None:
        if self._crawler is not None and self._crawler.crawling and self._stopping is None:
            self._stopping = asyncio.ensure_future(self._crawler.stop_async())

    async def _run(self) -> None:
        runner = AsyncCrawlerRunner(self._settings)
        self._crawler = crawler = runner.create_crawler(CallerSpider)
        functions = Functions(
            self._options.http_get,
            self._options.extract_links,
            self._options.is_allowed,
            threads=self._options.max_workers,
        )
        use_functions(crawler, functions)
        crawler.signals.connect(self._page_done, signals.item_scraped)
        if not isinstance(reactor.installed().nameResolver, GuardedResolver):
            GuardedResolver.from_crawler(crawler, reactor.installed()).install_on_reactor()
        try:
            await runner.crawl(crawler)
        finally:
            functions.close()

    def _page_done(self, item: Any, response: Any) -> None:
        if not isinstance(item, Page):
            return
        content = None
        if self._with_content and isinstance(response, Response):
            text = response.text if isinstance(response, TextResponse) else response.body
            content = response.meta.get(CONTENT, text)
        self._results.put(Result(item, content))


def _settings(options: Options) -> Settings:
    settings = Settings()
    settings.setmodule("crawlproject.settings", priority="project")
    seeds_only = options.max_depth == 0
    allowed = options.allow_domains or ()
    ours: dict[str, Any] = {
        "SEEDS": [options.start_url],
        "SCOPE_SEEDS_ONLY": seeds_only,
        "DEPTH_LIMIT": "none" if options.max_depth is None else options.max_depth,
        "CONCURRENT_REQUESTS": options.max_workers,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.per_host_concurrency,
        "DOWNLOAD_DELAY": options.per_host_delay_s,
        "SCOPE_ALLOW": [allowed] if isinstance(allowed, str) else list(allowed),
        "FRONTIER_CAPACITY": options.frontier_capacity,
        "MONITORING_PROGRESS": False,
        "MONITORING_SUMMARY": False,
        "STATS_DUMP": False,
    }
    if options.http_get is not None:
        handler = "crawlproject.api.caller.CallerHandler"
        ours["DOWNLOAD_HANDLERS"] = {"http": handler, "https": handler}
        ours["AUTOTHROTTLE_ENABLED"] = False
    if options.http_get is not None or options.is_allowed is not None:
        ours["FRONTIER_GATEKEEPER"] = "crawlproject.api.caller.CallerGatekeeper"
    settings.setdict(ours, priority="cmdline")
    return settings
