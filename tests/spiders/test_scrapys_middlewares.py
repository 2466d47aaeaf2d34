"""Middlewares of Scrapy that are off by default work for spiders of this project when set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

REFRESH = '<meta http-equiv="refresh" content="0; url=/end">'
SITE = {
    "pages": {
        "/": {"redirect": "/refresh"},
        "/refresh": {"body": REFRESH},
        "/end": {"links": ["/next"]},
        "/next": {},
    }
}


class Plain(Spider):
    name = "plain"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url, "status": response.status}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


@deferred_f_from_coro_f
async def test_redirects_and_refreshes_of_other_spiders(site: SiteFactory) -> None:
    server = site(SITE)
    settings = {"REDIRECT_ENABLED": True, "METAREFRESH_ENABLED": True, "REFERER_ENABLED": True}
    crawled = await crawl_site(server.url(), settings, spider=Plain)
    assert server.paths() == ["/", "/refresh", "/end", "/next"]
    assert [item["got"] for item in crawled.items] == [server.url("/end"), server.url("/next")]
    referers = {entry["path"]: entry["headers"].get("referer") for entry in server.log()}
    assert referers["/next"] == server.url("/end")


@deferred_f_from_coro_f
async def test_without_them_responses_are_as_they_are(site: SiteFactory) -> None:
    server = site(SITE)
    crawled = await crawl_site(server.url(), spider=Plain)
    assert crawled.items == [{"got": server.url("/"), "status": 301}]


@deferred_f_from_coro_f
async def test_pages_of_the_site_spider_are_redirected_by_the_frontier(site: SiteFactory) -> None:
    server = site(SITE)
    settings = {"REDIRECT_ENABLED": True, "METAREFRESH_ENABLED": True}
    crawled = await crawl_site(server.url(), settings, spider=SiteSpider)
    pages = crawled.pages
    assert sorted(pages) == [server.url(path) for path in ("/end", "/next", "/refresh")]
    assert pages[server.url("/refresh")].redirected_from == [server.url("/")]
    assert crawled.depths()[server.url("/end")] == 1


@deferred_f_from_coro_f
async def test_pages_have_a_referer_if_it_is_asked_for(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {"links": ["/b"]}, "/b": {}}})
    for policy, expected in (("scrapy-default", "/a"), ("origin", "/"), ("no-referrer", None)):
        settings = {"REFERER_ENABLED": True, "REFERRER_POLICY": policy}
        await crawl_site(server.url(), settings)
        entry = server.log()[-1]
        assert entry["path"] == "/b"
        assert entry["headers"].get("referer") == (expected and server.url(expected))
