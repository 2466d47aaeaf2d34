"""Spider middlewares that are synchronous only, around callbacks that raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PAGES = {"/": {"links": ["/a"]}, "/a": {"links": ["/b"]}, "/b": {}, "/own": {}}


class Generator:
    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        yield from result


class Whole:
    """Takes all before it returns anything, and wants the spider."""

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Spider
    ) -> list[Any]:
        return list(result)


class Raises(SiteSpider):
    name = "raises"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url}
        if response.url.endswith("/a"):
            raise KeyError("on purpose")
        yield {"then": response.url}


class RaisesPlainly(Spider):
    name = "raises-plainly"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed)

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        yield {"got": response.url}
        yield response.follow("/own", self.parse_own)
        raise KeyError("on purpose")

    def parse_own(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url}


@pytest.mark.filterwarnings("ignore:.*requir.*spider:scrapy.exceptions.ScrapyDeprecationWarning")
@pytest.mark.parametrize("middleware", [Generator, Whole])
@pytest.mark.usefixtures("fastpath")
@deferred_f_from_coro_f
async def test_a_callback_that_raises_loses_nothing_that_it_has_yielded(
    site: SiteFactory, caplog: pytest.LogCaptureFixture, middleware: type
) -> None:
    server = site({"pages": PAGES})
    settings = {"SPIDER_MIDDLEWARES": {middleware: 500}}
    crawled = await crawl_site(server.url(), settings, spider=Raises)
    assert sorted(crawled.pages) == [server.url(path) for path in ("/", "/a", "/b")]
    assert crawled.pages[server.url("/a")].links == [server.url("/b")]
    assert {"got": server.url("/a")} in crawled.items
    assert {"then": server.url("/a")} not in crawled.items
    assert crawled.stats["spider_exceptions/KeyError"] == 1
    assert "on purpose" in caplog.text


@pytest.mark.usefixtures("fastpath")
@deferred_f_from_coro_f
async def test_the_same_holds_for_other_spiders(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    settings = {"SPIDER_MIDDLEWARES": {Generator: 500}}
    crawled = await crawl_site(server.url(), settings, spider=RaisesPlainly)
    assert crawled.items == [{"got": server.url("/")}, {"got": server.url("/own")}]
    assert crawled.stats["spider_exceptions/KeyError"] == 1
