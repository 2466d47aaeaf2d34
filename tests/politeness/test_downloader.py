"""Requests with a turn at the gate, those without, and answers that wait to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.engine import wake
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.link import Link

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
async def test_a_request_without_a_turn_goes_through_scrapys_slots(site: SiteFactory) -> None:
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
async def test_a_request_with_the_lease_of_another_goes_through_scrapys_slots(
    site: SiteFactory,
) -> None:
    class Copying(SiteSpider):
        name = "copying"

        async def find_links(self, response: Response) -> list[Link]:
            for number in (1, 2):
                picture = response.follow(f"/picture{number}", meta=response.meta)
                await self.crawler.engine.download_async(picture)
            return await super().find_links(response)

    server = site({"pages": {"/": {"links": []}}})
    crawled = await crawl_site(server.url(), spider=Copying, delay="0.1")
    assert len(crawled.pages) == 1
    pictures = [entry for entry in server.log() if "picture" in entry["path"]]
    assert len(pictures) == 2
    assert pictures[1]["start"] - pictures[0]["start"] >= 0.09


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
