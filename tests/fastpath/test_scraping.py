"""The results of a crawl are the same with and without the fast path."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject import settings as defaults
from crawlproject.politeness.downloader import GatedDownloader
from tests.crawling import crawl_site
from tests.frontier.test_own_requests import (
    MEDDLED,
    WAYS,
    Spoiler,
    also,
    crawl,
    path_of,
    states,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HEARD = (
    "request_reached_downloader",
    "request_left_downloader",
    "response_downloaded",
    "response_received",
    "item_scraped",
    "item_dropped",
    "item_error",
    "spider_error",
)


class Downloader(GatedDownloader):
    def fetch(self, request: Request) -> Deferred[Response | Request]:  # type: ignore[override]
        return super().fetch(request)


class Listener:
    """What was signalled, and of which page."""

    heard: Counter[tuple[str, str]]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Listener:
        listener = cls()
        listener.heard = Counter()
        crawler.heard = listener.heard  # type: ignore[attr-defined]
        for name in HEARD:
            # Not weakly: nobody else keeps it.
            crawler.signals.connect(listener.hear(name), getattr(signals, name), weak=False)
        return listener

    def hear(self, name: str) -> Callable[..., None]:
        def hear(request: Any = None, response: Any = None) -> None:
            about = request or getattr(response, "request", response)
            self.heard[name, path_of(about.url)] += 1

        return hear


class Editor(BaseSpiderMiddleware):
    """A spider middleware that looks at outputs one by one."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        assert response is not None
        if path_of(response.url) == "/spoilt-output":
            raise ValueError("a bug of the middleware's")
        if path_of(response.url) == "/plain":
            return None
        return {**item, "edited": True}

    def get_processed_request(self, request: Request, response: Response | None) -> Any:
        return None if path_of(request.url) == "/from-coroutine" else request


class Forgiver:
    """One that makes items of errors."""

    def process_spider_exception(self, response: Response, exception: Exception) -> list[Any]:
        return [{"forgiven": path_of(response.url)}]


async def observed(
    server: Site,
    job: Path,
    caplog: pytest.LogCaptureFixture,
    middlewares: tuple[type, ...],
    *,
    fastpath: bool,
) -> tuple[Counter[Any], ...]:
    caplog.clear()
    wired: dict[Any, int | None] = defaults.SPIDER_MIDDLEWARES
    for middleware in middlewares:
        wired = also(wired, middleware)
    settings = {**MEDDLED, "SPIDER_MIDDLEWARES": wired, "FASTPATH_ENABLED": fastpath}
    crawled = await crawl(server, job, list(WAYS), EXTENSIONS={Listener: 1}, **settings)
    counts = ("count", "downloader/", "item_", "spider_exceptions/", "finish_reason", "retry/")
    stats = {name: value for name, value in crawled.stats.items() if name.startswith(counts)}
    logged = Counter(
        (record.name, record.levelname, record.getMessage().partition(" 0x")[0])
        for record in caplog.records
        if record.name.startswith("scrapy.core") and job.name not in record.getMessage()
    )
    items = Counter(map(str, crawled.items))
    known = Counter(map(str, states(job).items()))
    return crawled.crawler.heard, Counter(stats), logged, known, items  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "middlewares",
    [(), (Spoiler,), (Editor,), (Forgiver,), (Spoiler, Editor), (Editor, Forgiver)],
    ids=lambda types: "-".join(one.__name__ for one in types) or "ours",
)
@deferred_f_from_coro_f
async def test_the_same_is_called_signalled_logged_and_counted(
    site: SiteFactory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    middlewares: tuple[type, ...],
) -> None:
    server = site({"default": {}, "pages": {"/drop": {"drop": True}}})
    fast = await observed(server, tmp_path / "fast", caplog, middlewares, fastpath=True)
    scrapys = await observed(server, tmp_path / "scrapys", caplog, middlewares, fastpath=False)
    assert all(fast)
    assert fast == scrapys


class Many(Spider):
    """Yields many outputs, and counts how often another task runs meanwhile."""

    name = "many"
    seed: str
    turns = 0

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed, self.on_page, errback=self.on_error)

    def on_page(self, response: Response) -> Iterator[Any]:
        return self.outputs()

    def on_error(self, failure: Failure) -> Iterator[Any]:
        return self.outputs()

    def outputs(self) -> Iterator[Any]:
        task = asyncio.get_running_loop().create_task(self.run_beside())
        for number in range(200):
            yield {"number": number}
        task.cancel()

    async def run_beside(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


@pytest.mark.parametrize("page", [{}, {"drop": True}], ids=["callback", "errback"])
@deferred_f_from_coro_f
async def test_others_run_while_a_callback_yields_many_outputs(
    site: SiteFactory, fastpath: bool, page: dict[str, Any]
) -> None:
    server = site({"pages": {"/": page}})
    settings = {"ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False}
    crawled = await crawl_site(server.url(), settings, spider=Many)
    assert len(crawled.items) == 200
    assert crawled.crawler.spider.turns >= 20  # type: ignore[union-attr]


@deferred_f_from_coro_f
async def test_a_downloader_of_a_teams_own_goes_scrapys_way(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {}})
    crawled = await crawl(server, tmp_path, ["/plain", "/raises"], DOWNLOADER=Downloader)
    assert states(tmp_path) == {"/plain": ["done"], "/raises": ["failed"]}
    assert crawled.stats["finish_reason"] == "finished"
