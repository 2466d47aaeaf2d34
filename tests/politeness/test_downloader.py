"""Requests with a turn at the gate, those without, and answers that wait to be read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, signals
from scrapy.exceptions import StopDownload
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import LEASE
from crawlproject.frontier.clock import now
from crawlproject.frontier.engine import wake
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import pytest
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.items import Page
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HOSTS = [f"127.0.3.{number}" for number in range(1, 21)]


class Pictures:
    """A pipeline that downloads two files for each page, past the frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Pictures:
        return cls(crawler)

    async def process_item(self, item: Page) -> Page:
        for number in (1, 2):
            request = Request(f"{item.url}picture{number}", meta={"download_slot": "pictures"})
            await self._crawler.engine.download_async(request)
        return item


@deferred_f_from_coro_f
async def test_a_request_that_names_a_slot_keeps_to_its_limits(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": []}}})
    slots = {"pictures": {"concurrency": 1, "delay": 0.1}}
    settings: dict[str, Any] = {"ITEM_PIPELINES": {Pictures: 1}, "DOWNLOAD_SLOTS": slots}
    crawled = await crawl_site(server.url(), settings, delay="0")
    assert len(crawled.pages) == 1
    pictures = [entry for entry in server.log() if "picture" in entry["path"]]
    assert len(pictures) == 2
    # Scrapy counts from start to start, and its timers may be early by a little.
    assert pictures[1]["start"] - pictures[0]["start"] >= 0.09


@deferred_f_from_coro_f
async def test_a_request_with_the_lease_of_another_waits_for_a_turn_of_its_own(
    site: SiteFactory,
) -> None:
    class Copying(SiteSpider):
        name = "copying"

        async def find_links(self, response: Response) -> dict[str, bool]:
            for number in (1, 2):
                picture = response.follow(f"/picture{number}", meta=response.meta)
                await self.crawler.engine.download_async(picture)
            return await super().find_links(response)

    server = site({"pages": {"/": {"links": []}}})
    crawled = await crawl_site(server.url(), spider=Copying, delay="0.1")
    assert len(crawled.pages) == 1
    assert {"/picture1", "/picture2"} <= {*server.paths()}
    assert min(server.gaps()) >= 0.1


@deferred_f_from_coro_f
async def test_workers_limit_what_is_under_way_over_all_hosts(site: SiteFactory) -> None:
    server = site(
        {"pages": {"/": {"links": ["/a"], "delay": 0.03}, "/a": {"links": [], "delay": 0.03}}},
        all_loopback=True,
    )
    seeds = " ".join(server.url(host=host) for host in HOSTS)
    crawled = await crawl_site(seeds, delay="0.01", workers="5")
    assert len(crawled.pages) == 2 * len(HOSTS)
    assert server.max_in_flight() == 5


@deferred_f_from_coro_f
async def test_a_crawl_that_is_paused_goes_on(site: SiteFactory) -> None:
    class Paused(SiteSpider):
        name = "paused"

        async def start(self) -> AsyncIterator[Any]:
            engine = self.crawler.engine
            call_later(0.05, engine.pause)
            call_later(0.3, engine.unpause)
            # Scrapy itself would look again in five seconds.
            call_later(0.3, wake, self.crawler)
            async for output in super().start():
                yield output

    server = site({"generated": {"kind": "wide", "pages": 40}, "random_delay": [0.01, 0.03]})
    crawled = await crawl_site(server.url(), spider=Paused, workers="4", concurrency="4")
    assert len(crawled.pages) == 41
    assert len(server.paths()) == 41


class MetaSpider(SiteSpider):
    """Keeps what the answers say about themselves."""

    name = "meta"
    metas: ClassVar[list[dict[str, Any]]] = []

    def parse_start_url(self, response: Response, **kwargs: Any) -> Any:
        self.metas.append(response.meta)
        return []


@deferred_f_from_coro_f
async def test_an_answer_ends_with_its_last_byte(site: SiteFactory) -> None:
    MetaSpider.metas.clear()
    server = site({"pages": {"/": {"links": []}}})
    await crawl_site(server.url(), spider=MetaSpider)
    (meta,) = MetaSpider.metas
    assert meta["fetch_started"] < meta["fetch_ended"] <= now()
    assert meta["fetch_ms"] == round(1000 * (meta["fetch_ended"] - meta["fetch_started"]))


@deferred_f_from_coro_f
async def test_an_answer_that_is_not_read_to_its_end_ends_when_it_is_left(
    site: SiteFactory,
) -> None:
    MetaSpider.metas.clear()
    server = site({"pages": {"/": {"body": "x" * 500_000}}})
    await crawl_site(server.url(), {"EXTENSIONS": {Impatient: 1}}, spider=MetaSpider)
    (meta,) = MetaSpider.metas
    assert "fetch_ended" not in meta
    assert meta["fetch_ms"] >= 0


class Impatient:
    def __init__(self, crawler: Crawler) -> None:
        crawler.signals.connect(self._stop, signals.bytes_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Impatient:
        return cls(crawler)

    def _stop(self, request: Request) -> None:
        if LEASE in request.meta:
            raise StopDownload(fail=False)


@deferred_f_from_coro_f
async def test_answers_are_read_in_their_order_when_no_host_waits(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = site({"pages": {"/": {"links": []}}})
    downloader = (await crawl_site(server.url())).crawler.engine.downloader
    assert isinstance(downloader, GatedDownloader)
    is_rushed = True
    monkeypatch.setattr("crawlproject.politeness.downloader.is_rushed", lambda crawler: is_rushed)
    read: list[int] = []

    async def answer(number: int) -> None:
        await downloader.stand_in_line()
        read.append(number)

    answers = [asyncio.ensure_future(answer(number)) for number in range(3)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert read == []
    is_rushed = False
    await asyncio.gather(*answers)
    assert read == [0, 1, 2]
