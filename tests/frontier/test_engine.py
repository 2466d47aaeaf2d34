"""The private parts of Scrapy's engine that are used are where they are expected, and do the same.

The crawls here use Scrapy's own scheduler, downloader and middlewares.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.engine import is_closing, is_starting, observe_ends, stop, wake

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PATHS = (
    *("/items", "/nothing", "/raises", "/raises-late", "/dropped", "/broken-item", "/downloads"),
    *("/refused", "/refused-errback", "/refused-input", "/retried", "/filtered-output"),
)


class ManySpider(Spider):
    """One callback for each way in which the processing of a request can end."""

    name = "many"
    custom_settings = {  # noqa: RUF012
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "RETRY_TIMES": 1,
        "RETRY_PRIORITY_ADJUST": 0,
        "ITEM_PIPELINES": {"tests.frontier.test_engine.SlowPipeline": 1},
        "DOWNLOADER_MIDDLEWARES": {"tests.frontier.test_engine.Refusing": 1},
        "SPIDER_MIDDLEWARES": {"tests.frontier.test_engine.Filtering": 1},
    }
    start_urls: list[str]
    # What happened to each path, in order.
    events: list[tuple[str, str]]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:
            errback = self.on_error if url.endswith("errback") else None
            yield Request(url, errback=errback)

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        path = path_of(response)
        match path:
            case "/raises":
                raise ValueError("a bug in the callback")
            case "/downloads":
                # The same request, past the scheduler: it has not ended.
                assert response.request
                await self.crawler.engine.download_async(response.request)
                self.events.append(("downloaded", path))
                yield {"path": path}
            case "/nothing":
                pass
            case _:
                for _ in range(3):
                    yield {"path": path}
        if path == "/raises-late":
            raise ValueError("a bug behind the output")

    def on_error(self, failure: Any) -> Iterator[Any]:
        yield {"path": path_of(failure.request)}


class SlowPipeline:
    """Later than the callback, and not in order."""

    async def process_item(self, item: dict[str, str]) -> dict[str, str]:
        for _ in range(5):
            await asyncio.sleep(0)
        if item["path"] == "/dropped":
            raise DropItem("not wanted")
        if item["path"] == "/broken-item":
            raise ValueError("a bug in the pipeline")
        return item


class Refusing:
    def process_request(self, request: Request) -> None:
        if path_of(request).startswith("/refused") and path_of(request) != "/refused-input":
            raise IgnoreRequest


class Filtering:
    def process_spider_input(self, response: Response) -> None:
        if path_of(response) == "/refused-input":
            raise IgnoreRequest

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if path_of(response) != "/filtered-output":
                yield output


def path_of(found: Response | Request) -> str:
    return "/" + found.url.partition("://")[2].partition("/")[2]


async def run(
    server: Site, paths: tuple[str, ...], prepare: Callable[[Crawler], None], **settings: Any
) -> Crawler:
    runner = AsyncCrawlerRunner({"LOG_ENABLED": False, **settings})
    crawler = runner.create_crawler(ManySpider)

    def opened() -> None:
        crawler.spider.events = []  # type: ignore[union-attr]
        prepare(crawler)

    crawler.signals.connect(opened, signals.spider_opened)
    urls = [server.url(path) for path in paths]
    await runner.crawl(crawler, start_urls=urls)
    return crawler


@pytest.mark.parametrize("concurrent_items", [1, 100])
@deferred_f_from_coro_f
async def test_every_scheduled_request_ends_once_and_after_its_items(
    site: SiteFactory, concurrent_items: int
) -> None:
    server = site({"default": {}, "pages": {"/retried": {"status": 503}}})

    def prepare(crawler: Crawler) -> None:
        spider: Any = crawler.spider
        observe_ends(crawler, lambda request: spider.events.append(("ended", path_of(request))))

        def processed(item: dict[str, str]) -> None:
            spider.events.append(("item", item["path"]))

        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(processed, signal, weak=False)

    crawler = await run(server, PATHS, prepare, CONCURRENT_ITEMS=concurrent_items)
    assert crawler.stats.get_value("finish_reason") == "finished"
    events = crawler.spider.events  # type: ignore[union-attr]
    ends = Counter(path for event, path in events if event == "ended")
    # A retry is a request of its own.
    assert ends == {**dict.fromkeys(PATHS, 1), "/retried": 2}
    items = Counter(path for event, path in events if event == "item")
    three = ("/items", "/raises-late", "/dropped", "/broken-item")
    one = ("/downloads", "/refused-errback")
    assert items == {**dict.fromkeys(three, 3), **dict.fromkeys(one, 1)}
    for path in PATHS:
        own = [event for event, of in events if of == path]
        assert own[-1] == "ended", path
    assert events.index(("downloaded", "/downloads")) < events.index(("ended", "/downloads"))


@deferred_f_from_coro_f
async def test_an_error_of_the_observer_is_logged_and_the_crawl_ends(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(request: Request) -> None:
        raise ValueError("a bug of ours")

    server = site({"default": {}})
    crawler = await run(server, ("/items",), lambda crawler: observe_ends(crawler, fail))
    assert crawler.stats.get_value("finish_reason") == "finished"
    assert "a bug of ours" in caplog.text


class HoldingScheduler(Scheduler):
    """Returns nothing until it is released, and counts how often it was asked."""

    asked = 0
    is_released = False

    def next_request(self) -> Request | None:
        self.asked += 1
        return super().next_request() if self.is_released else None


@deferred_f_from_coro_f
async def test_a_wake_makes_the_engine_ask_the_scheduler(site: SiteFactory) -> None:
    counts: list[int] = []

    async def wake_up(crawler: Crawler, scheduler: HoldingScheduler) -> None:
        while not scheduler.asked or not scheduler.has_pending_requests():  # noqa: ASYNC110
            await asyncio.sleep(0)
        # The engine has nothing to do until its heart beats: five seconds.
        for _ in range(50):
            await asyncio.sleep(0)
        counts.append(scheduler.asked)
        for _ in range(50):
            await asyncio.sleep(0)
        counts.append(scheduler.asked)
        scheduler.is_released = True
        wake(crawler)

    tasks: list[Any] = []

    def prepare(crawler: Crawler) -> None:
        crawler.engine._SLOT_HEARTBEAT_INTERVAL = 3600.0
        scheduler: Any = crawler.engine._slot.scheduler  # type: ignore[union-attr]
        tasks.append(asyncio.ensure_future(wake_up(crawler, scheduler)))

    server = site({"default": {}})
    crawler = await run(server, ("/items",), prepare, SCHEDULER=HoldingScheduler)
    await tasks[0]
    # Nobody else has woken it.
    assert counts[0] == counts[1]
    assert crawler.stats.get_value("item_scraped_count") == 3


@deferred_f_from_coro_f
async def test_a_stopped_crawl_is_closing(site: SiteFactory) -> None:
    seen: list[bool] = []

    def prepare(crawler: Crawler) -> None:
        def stop_it() -> None:
            seen.append(is_closing(crawler))
            stop(crawler, "enough")

        crawler.signals.connect(stop_it, signals.response_received, weak=False)
        crawler.signals.connect(
            lambda: seen.append(is_closing(crawler)), signals.item_scraped, weak=False
        )

    server = site({"default": {}})
    crawler = await run(server, ("/items",), prepare, CONCURRENT_REQUESTS=1)
    assert crawler.stats.get_value("finish_reason") == "enough"
    assert seen == [False, True, True, True]
    assert is_closing(crawler)


class StartingSpider(Spider):
    name = "starting"
    custom_settings = {"TELNETCONSOLE_ENABLED": False}  # noqa: RUF012
    seen: list[bool]

    async def start(self) -> AsyncIterator[Any]:
        self.seen = [is_starting(self.crawler)]
        await asyncio.sleep(0)
        self.seen.append(is_starting(self.crawler))
        self.crawler.signals.connect(self.idle, signals.spider_idle)
        return
        yield

    def idle(self) -> None:
        self.seen.append(is_starting(self.crawler))


@deferred_f_from_coro_f
async def test_it_is_known_whether_start_has_ended() -> None:
    runner = AsyncCrawlerRunner()
    crawler = runner.create_crawler(StartingSpider)
    await runner.crawl(crawler)
    assert crawler.spider is not None
    assert crawler.spider.seen == [True, True, False]  # type: ignore[attr-defined]
