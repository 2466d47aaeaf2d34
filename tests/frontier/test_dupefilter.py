"""Duplicates in a crawl: the dupe filter is asked about every request, and asks the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider
from scrapy.dupefilters import BaseDupeFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from crawlproject.urls.dupefilter import CanonicalDupeFilter
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SPELLINGS = ["/a?x=1&y=2", "/a?y=2&x=1", "/a?x=1&y=2&utm_source=mail", "/b", "/b#part"]
asked_about: list[str] = []


class Watched(CanonicalDupeFilter):
    def request_seen(self, request: Request) -> bool:
        asked_about.append(request.url)
        return super().request_seen(request)


class OnlyShort(BaseDupeFilter):
    """A project's own: the second of two URLs with the same first letter."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def request_seen(self, request: Request) -> bool:
        letter = request.url.rpartition("/")[2][:1]
        if letter in self.seen:
            return True
        self.seen.add(letter)
        return False

    def log(self, request: Request, spider: Spider) -> None:
        spider.crawler.stats.inc_value("own/filtered")


class Plain(Spider):
    name = "plain"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed, callback=self.ask)

    def ask(self, response: Response) -> Iterator[Any]:
        for path in SPELLINGS:
            yield response.follow(path, self.done)
        yield response.follow("/b", self.done, dont_filter=True)

    def done(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url}


class ByRules(SiteSpider):
    name = "by-rules"
    rules = (Rule(LinkExtractor(), follow=True),)


SITE = {"pages": {"/": {"links": SPELLINGS}}, "default": {"links": ["/b", "/"]}}


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@pytest.mark.parametrize("spider", [Plain, ByRules])
@deferred_f_from_coro_f
async def test_the_filter_is_asked_about_every_request(
    site: SiteFactory, redis_url: str, engine: str, spider: type[Spider]
) -> None:
    asked_about.clear()
    server = site(SITE)
    settings: dict[str, Any] = {"DUPEFILTER_CLASS": Watched, "ROBOTSTXT_OBEY": False}
    if engine == "redis":
        settings |= {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": spider.name}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    paths = server.paths()
    assert paths.count("/a?x=1&y=2") == 1
    if spider is Plain:
        # The seed, and all links but for the one that is not to be filtered.
        assert len(asked_about) == 1 + len(SPELLINGS)
        assert crawled.stats["dupefilter/filtered"] == 3
        assert paths.count("/b") == 2
    else:
        # Scrapy's extractor leaves out what it takes for the same link; /a and /b link on.
        assert len(asked_about) == crawled.stats["dupefilter/filtered"] + 2
        assert paths.count("/b") == 1
        assert crawled.stats["dupefilter/filtered"] >= 4


@deferred_f_from_coro_f
async def test_what_an_earlier_run_has_asked_for_is_known(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    settings = {"JOBDIR": str(tmp_path), "ROBOTSTXT_OBEY": False}
    await crawl_site(server.url(), settings, spider=Plain)
    before = len(server.paths())
    crawled = await crawl_site(server.url(), settings, spider=Plain)
    assert len(server.paths()) == before
    assert crawled.stats["dupefilter/filtered"] == 1


@deferred_f_from_coro_f
async def test_a_filter_of_a_projects_own_is_asked_too(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": ["/apple", "/ant", "/bee", "/bee#x"]}}, "default": {}})
    settings = {"DUPEFILTER_CLASS": OnlyShort, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), settings, spider=ByRules)
    assert crawled.stats["own/filtered"] >= 1
    assert "/apple" in server.paths()
