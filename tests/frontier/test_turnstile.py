"""Requests that the frontier does not queue: of pipelines, callbacks and middlewares."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject import settings as defaults
from crawlproject.failures import Verdict
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site
from tests.frontier.test_own_requests import also

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from tests.crawling import Crawled
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.07
FILES = [f"/file{number}" for number in range(4)]
PAGES: dict[str, Any] = {"/": {"links": ["/a", "/b", "/c"]}, "/a": {}, "/b": {}, "/c": {}}
WITH_FILES = {**PAGES, **{path: {"body": path} for path in FILES}}


class Collector(SiteSpider):
    """Yields an item with files for its seed."""

    name = "collector"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        if response.url.endswith("/"):
            yield {"file_urls": [response.urljoin(path) for path in FILES]}


def storing(tmp_path: Path) -> dict[str, Any]:
    return {"ITEM_PIPELINES": {FilesPipeline: 1}, "FILES_STORE": str(tmp_path / "files")}


def stored(crawled: Crawled) -> list[str]:
    (item,) = [item for item in crawled.items if isinstance(item, dict)]
    return sorted(one["url"] for one in item["files"])


@pytest.mark.parametrize("limits", [{}, {"concurrency": "1"}])
@deferred_f_from_coro_f
async def test_the_files_of_a_media_pipeline_and_pages_wait_for_each_other(
    site: SiteFactory, tmp_path: Path, limits: dict[str, str]
) -> None:
    server = site({"pages": WITH_FILES})
    crawled = await crawl_site(
        server.url(), storing(tmp_path), spider=Collector, delay=str(DELAY), **limits
    )
    assert stored(crawled) == [server.url(path) for path in FILES]
    assert len(crawled.pages) == 4
    assert sorted(server.paths()) == sorted(WITH_FILES)
    assert min(server.pauses()) >= DELAY
    assert server.max_in_flight() == 1


@deferred_f_from_coro_f
async def test_a_delay_counts_from_the_last_completion_for_files_too(
    site: SiteFactory, tmp_path: Path
) -> None:
    # They respond when two of them are in flight: no start crosses a response on its way.
    paths = [*FILES, "/a", "/b"]
    pages = {path: {"body": path, "together": 2} for path in paths}
    server = site({"pages": {"/": {"links": ["/a", "/b"]}, **pages}})
    crawled = await crawl_site(
        *(server.url(), storing(tmp_path)),
        spider=Collector,
        delay=str(DELAY),
        concurrency="2",
        sitemaps="never",
    )
    assert stored(crawled) == [server.url(path) for path in FILES]
    assert len(crawled.pages) == 3
    assert sorted(server.paths()) == sorted(["/", *paths])
    assert min(server.pauses()) >= DELAY
    assert server.max_in_flight() == 2


@deferred_f_from_coro_f
async def test_robots_txt_is_asked_about_files_too(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": WITH_FILES, "robots": f"User-agent: *\nDisallow: {FILES[0]}"})
    other = site({"pages": {"/file": {"body": "x"}}, "robots": "User-agent: *\nDisallow: /"})

    class Others(Collector):
        name = "others"

        def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
            for item in super().parse_start_url(response):
                yield {"file_urls": [*item["file_urls"], other.url("/file")]}

    crawled = await crawl_site(server.url(), storing(tmp_path), spider=Others)
    assert stored(crawled) == [server.url(path) for path in FILES[1:]]
    assert FILES[0] not in server.paths()
    for one in (server, other):
        assert [entry["path"] for entry in one.log()].count("/robots.txt") == 1
    assert other.paths() == []


@deferred_f_from_coro_f
async def test_a_file_that_is_refused_for_now_holds_the_host(
    site: SiteFactory, tmp_path: Path
) -> None:
    busy = {"times": {"1": {"status": 429, "headers": {"Retry-After": "1"}}, "2": {"body": "x"}}}
    server = site({"pages": {**WITH_FILES, FILES[0]: busy}})
    crawled = await crawl_site(server.url(), storing(tmp_path), spider=Collector, concurrency="1")
    assert crawled.stats["politeness/held/429"] == 1
    log = server.log()
    (place,) = [number for number, entry in enumerate(log) if entry["status"] == 429]
    assert log[place + 1]["start"] - log[place]["end"] >= 1


@deferred_f_from_coro_f
async def test_a_host_that_is_slow_with_files_is_asked_more_slowly(
    site: SiteFactory, tmp_path: Path
) -> None:
    latency, host = 0.2, "127.0.0.2"
    slow = {"pages": {path: {"body": "x", "delay": latency} for path in FILES}}
    server = site({"pages": {"/": {}}, "hosts": {host: slow}}, all_loopback=True)

    class Elsewhere(Collector):
        name = "elsewhere"

        def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
            yield {"file_urls": [server.url(path, host=host) for path in FILES]}

    settings = {
        **storing(tmp_path),
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": 1,
    }
    crawled = await crawl_site(server.url(), settings, spider=Elsewhere, concurrency="2")
    assert len(stored(crawled)) == len(FILES)
    assert crawled.frontier.throttle_delay(host) >= latency


class Prober:
    """A downloader middleware that sends a request before each page, to its host."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Prober:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if "probe" not in request.url:
            probe = Request(f"{request.url}?probe", callback=NO_CALLBACK)
            await self._crawler.engine.download_async(probe)


@deferred_f_from_coro_f
async def test_a_middleware_may_send_a_request_while_another_has_the_only_turn(
    site: SiteFactory, fastpath: bool
) -> None:
    server = site({"pages": PAGES, "default": {}})
    settings = {
        "DOWNLOADER_MIDDLEWARES": also(defaults.DOWNLOADER_MIDDLEWARES, Prober),
        # A crawl in which both wait for each other ends too, but without its pages.
        "CLOSESPIDER_TIMEOUT": 20,
    }
    crawled = await crawl_site(
        server.url(), settings, delay=str(DELAY), concurrency="1", sitemaps="never"
    )
    assert {page.error for page in crawled.pages.values()} == {None}
    probed = ["/robots.txt", *PAGES]
    assert sorted(server.paths()) == sorted([*PAGES, *(f"{path}?probe" for path in probed)])
    log = server.log()
    # That for robots.txt and the one before it have one turn.
    assert [entry["path"] for entry in log[:2]] == ["/robots.txt?probe", "/robots.txt"]
    assert min(server.gaps()[1:]) >= DELAY


class Answering:
    """A downloader middleware that has the responses for pages, as a cache does."""

    def process_request(self, request: Request) -> Response | None:
        if urlsplit(request.url).path in PAGES:
            return HtmlResponse(request.url, body=b"<title>Known</title>")
        return None


class Fetching:
    """A pipeline that has a task of its own fetch a file for each page, and waits for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._wanted: asyncio.Queue[tuple[str, asyncio.Future[int]]] = asyncio.Queue()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Fetching:
        return cls(crawler)

    async def open_spider(self) -> None:
        self._worker = asyncio.get_running_loop().create_task(self._work())

    async def close_spider(self) -> None:
        self._worker.cancel()

    async def _work(self) -> None:
        while True:
            url, fetched = await self._wanted.get()
            request = Request(url, callback=NO_CALLBACK)
            fetched.set_result((await self._crawler.engine.download_async(request)).status)

    async def process_item(self, item: Any) -> Any:
        fetched = asyncio.get_running_loop().create_future()
        self._wanted.put_nowait((f"{item.url}file", fetched))
        item.extra["file"] = await fetched
        return item


@deferred_f_from_coro_f
async def test_a_page_that_was_not_sent_for_does_not_keep_its_turn_from_its_files(
    site: SiteFactory, fastpath: bool
) -> None:
    paths = [f"{path}file" for path in PAGES]
    server = site({"pages": {path: {"body": path} for path in paths}})
    settings = {
        "DOWNLOADER_MIDDLEWARES": also(defaults.DOWNLOADER_MIDDLEWARES, Answering),
        "ITEM_PIPELINES": {Fetching: 500},
    }
    seeds = " ".join(server.url(path) for path in PAGES)
    crawled = await crawl_site(seeds, settings, delay=str(DELAY), concurrency="1")
    assert [page.extra["file"] for page in crawled.pages.values()] == [200] * len(PAGES)
    assert sorted(server.paths()) == sorted(paths)
    assert min(server.gaps()) >= DELAY


class Asker:
    """A pipeline that asks for a page that robots.txt denies."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Asker:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        meta = {"dont_obey_robotstxt": item.url.endswith("/a")}
        request = Request(f"{item.url}denied", callback=NO_CALLBACK, meta=meta)
        try:
            item.extra["asked"] = (await self._crawler.engine.download_async(request)).status
        except Verdict as refusal:
            item.extra["asked"] = refusal.error
        return item


@deferred_f_from_coro_f
async def test_a_request_that_is_denied_raises_unless_it_is_exempt(site: SiteFactory) -> None:
    pages = {"/": {"links": ["/a"]}, "/a": {}, "/adenied": {}}
    server = site({"pages": pages, "robots": "User-agent: *\nDisallow: /*denied"})
    crawled = await crawl_site(server.url(), {"ITEM_PIPELINES": {Asker: 500}})
    asked = {page.url: page.extra["asked"] for page in crawled.pages.values()}
    assert asked == {server.url(): "robots", server.url("/a"): 200}
    assert "/denied" not in server.paths()
