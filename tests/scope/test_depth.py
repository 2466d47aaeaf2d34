from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import HtmlResponse
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
async def test_a_spiders_own_requests_are_limited_filtered_and_skipped_like_links(
    site: SiteFactory,
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}, "/own": {}, "/deeper": {}}})
    crawled = await crawl_site(server.url(), depth="1", spider=FollowingSpider)
    assert sorted(server.paths()) == ["/", "/a", "/own"]
    assert {"own": server.url("/own"), "depth": 1} in crawled.items
    # Of /a's it is the second, of /own's it is too deep.
    assert crawled.stats["dupefilter/filtered"] == 1
    assert crawled.skipped() == {server.url("/deeper"): "depth"}
    assert crawled.frontier.exhausted()
