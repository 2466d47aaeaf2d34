from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.scope.depth import DepthMiddleware
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


class FollowingSpider(SiteSpider):
    """Follows one kind of link with requests of its own."""

    name = "following"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield response.follow("/own", self.parse_own)

    def parse_own(self, response: Response) -> Iterator[Any]:
        yield {"own": response.url, "depth": response.meta["depth"]}
        yield response.follow("/deeper", self.parse_own)


@deferred_f_from_coro_f
async def test_requests_get_the_depth_of_their_response_and_one() -> None:
    crawler = get_crawler()
    middleware = DepthMiddleware(crawler)
    request = Request("https://example.com/", meta={"depth": 3})
    response = HtmlResponse(request.url, request=request)

    async def output() -> AsyncIterator[Any]:
        yield Request("https://example.com/a")
        yield {"an": "item"}

    outputs = middleware.process_spider_output_async(response, output())
    first, second = [thing async for thing in outputs]
    assert first.meta["depth"] == 4
    assert second == {"an": "item"}
    assert crawler.stats.get_value("request_depth_max") == 4


@deferred_f_from_coro_f
async def test_a_spiders_own_requests_are_limited_and_skipped_like_links(
    site: SiteFactory,
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}, "/own": {}, "/deeper": {}}})
    crawled = await crawl_site(server.url(), depth="1", spider=FollowingSpider)
    assert sorted(server.paths()) == ["/", "/a", "/own"]
    assert {"own": server.url("/own"), "depth": 1} in crawled.items
    # /own again from /a, and /deeper: both are too deep, and no filter is asked, as in Scrapy.
    assert crawled.stats["depth/request_ignored_count"] == 2
    assert "dupefilter/filtered" not in crawled.stats
    assert crawled.skipped() == {server.url("/deeper"): "depth"}
    assert crawled.frontier.exhausted()


class RuleFollowing(SiteSpider):
    name = "rule-following"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url, "depth": response.meta["depth"]}


@pytest.mark.parametrize("spider", [SiteSpider, RuleFollowing])
@deferred_f_from_coro_f
async def test_requests_are_counted_by_depth(site: SiteFactory, spider: type[SiteSpider]) -> None:
    pages = {"/": {"links": ["/a", "/b"]}, "/a": {"links": ["/c", "/"]}, "/b": {"links": ["/c"]}}
    flaky = {"times": {"1": {"status": 503}}}
    server = site({"pages": {**pages, "/c": flaky}})
    settings = {"DEPTH_STATS_VERBOSE": True, "POLITENESS_MAX_HOLD_SECONDS": 0}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    counts = {
        name.rpartition("/")[2]: count
        for name, count in crawled.stats.items()
        if name.startswith("request_depth_count/")
    }
    assert counts == {"0": 1, "1": 2, "2": 1}
    assert crawled.stats["request_depth_max"] == 2


@pytest.mark.parametrize("spider", [SiteSpider, RuleFollowing])
@deferred_f_from_coro_f
async def test_what_is_too_deep_comes_in_by_a_shorter_path(
    site: SiteFactory, spider: type[SiteSpider]
) -> None:
    pages = {
        "/": {"links": ["/1", "/slow"]},
        "/1": {"links": ["/2"]},
        "/2": {"links": ["/x", "/y"]},
        "/slow": {"links": ["/x"], "delay": 0.3},
        "/x": {"links": ["/z"]},
    }
    server = site({"pages": pages})
    crawled = await crawl_site(server.url(), spider=spider, depth="2")
    assert sorted(server.paths()) == ["/", "/1", "/2", "/slow", "/x"]
    assert crawled.depths()[server.url("/x")] == 2
    facts = {skip.url: (skip.reason, skip.referrer) for skip in crawled.frontier.skips()}
    assert facts == {
        server.url("/y"): ("depth", server.url("/2")),
        server.url("/z"): ("depth", server.url("/x")),
    }
    if spider is RuleFollowing:
        # /x and /y from /2, /z from /x.
        assert crawled.stats["depth/request_ignored_count"] == 3


def test_depth_priority_and_depth_reset_are_those_of_scrapy() -> None:
    crawler = get_crawler(settings_dict={"DEPTH_PRIORITY": 2, "DEPTH_LIMIT": 3})
    middleware = DepthMiddleware.from_crawler(crawler)
    source = Request("https://example.com/", meta={"depth": 1})
    response = HtmlResponse(source.url, request=source)
    request = Request("https://example.com/a", priority=5)
    middleware.get_processed_request(request, response)
    assert (request.meta["depth"], request.priority) == (2, 1)
    reset = Request("https://example.com/b", meta={"depth_reset": True})
    middleware.get_processed_request(reset, response)
    assert reset.meta == {"depth": 0}
