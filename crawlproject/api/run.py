"""Run one crawl in the reactor's thread, and hand its results to the caller's."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response, TextResponse
from scrapy.settings import Settings

from crawlproject.api import reactor
from crawlproject.api.caller import CONTENT, CallerSpider, Functions, use_functions
from crawlproject.errors import BadArgument
from crawlproject.frontier import frontier_of
from crawlproject.items import Page
from crawlproject.scrapy_compat import engine_of
from crawlproject.spiders import arguments
from crawlproject.urls.document import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier


_STOP_RETRY_SECONDS = 0.02

# The arguments behind the settings, for messages.
_ARGUMENTS = {
    "SEEDS": "start_url",
    "DEPTH_LIMIT": "max_depth",
    "CONCURRENT_REQUESTS": "max_workers",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "per_host_concurrency",
    "DOWNLOAD_DELAY": "per_host_delay_s",
    "SCOPE_ALLOW": "allow_domains",
    "FRONTIER_CAPACITY": "frontier_capacity",
    "RENDER_MODE": "render",
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
    render: str


class Result(NamedTuple):
    page: Page
    content: Any
    frontier: Frontier

    def final_page(self) -> Page:
        """The page as it turned out: a shorter way may have been found after it arrived."""
        facts = self.frontier.facts(self.page.url)
        if facts is None:
            return self.page
        return replace(
            self.page,
            depth=facts.depth,
            referrer=facts.referrer,
            redirected_from=list(facts.redirected_from),
        )


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
    crawl = _Crawl(options, settings, with_content)
    reactor.call(crawl.start)
    # With contents the results are collected here, and Ctrl-C is ours at any moment;
    # pages go to a loop of the caller's, which it may stop as any other.
    always = _on_interrupt(crawl.stop) if with_content else nullcontext()
    try:
        with always:
            while isinstance(result := crawl.next(), Result):
                yield result
    finally:
        crawl.stop()
    if result.error is not None:
        raise result.error


class _Crawl:
    """One crawl. It runs in the reactor's thread; ``next`` and ``stop`` are the caller's."""

    def __init__(self, options: Options, settings: Settings, with_content: bool) -> None:
        self._options = options
        self._settings = settings
        self._with_content = with_content
        self._results: SimpleQueue[Result | End] = SimpleQueue()
        self._crawler: Crawler | None = None
        self._wants_stop = False
        self._stopping: asyncio.Future[None] | None = None
        self._is_over = False

    def next(self) -> Result | End:
        """Ctrl-C ends the crawl; what is under way still comes."""
        with nullcontext() if self._wants_stop else _on_interrupt(self.stop):
            return self._results.get()

    def stop(self) -> None:
        """Ask the crawl to end, if it has not. Nobody may be left to read its results."""
        self._wants_stop = True
        if not self._is_over:
            reactor.call(self._stop)

    def start(self) -> None:
        reactor.running.add(self._stop)
        task = asyncio.ensure_future(self._run())
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[None]) -> None:
        self._is_over = True
        reactor.running.discard(self._stop)
        self._results.put(End(None if task.cancelled() else task.exception()))

    def _stop(self) -> None:
        self._wants_stop = True
        crawler = self._crawler
        if self._stopping is not None or self._is_over or crawler is None:
            return
        engine = engine_of(crawler)
        if engine is not None and engine.running:
            self._stopping = asyncio.ensure_future(crawler.stop_async())
        else:
            # An engine that is told to stop before it runs would never end.
            asyncio.get_running_loop().call_later(_STOP_RETRY_SECONDS, self._stop)

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
        try:
            if not self._wants_stop:
                await runner.crawl(crawler)
        finally:
            functions.close()

    def _page_done(self, item: Any, response: Any) -> None:
        if isinstance(item, Page):
            content = _content(response) if self._with_content else None
            assert self._crawler is not None
            self._results.put(Result(item, content, frontier_of(self._crawler)))


@contextmanager
def _on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C stops the crawl, a second one raises. A handler of the program's own stays."""
    raises = signal.default_int_handler
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not raises:
        yield
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, raises)
        stop()

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, raises)


def _content(response: Any) -> Any:
    """What http_get returned; for a real answer its text, or its bytes if it is none."""
    if not isinstance(response, Response):
        return None
    if CONTENT in response.meta:
        return response.meta[CONTENT]
    return text_of(response) if isinstance(response, TextResponse) else response.body


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
        "RENDER_MODE": options.render,
        # Links are what it follows.
        "SITEMAPS_MODE": "never",
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
