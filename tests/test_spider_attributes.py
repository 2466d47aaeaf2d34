"""Attributes of a spider that limit its downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.errors import BadArgument
from crawlproject.spider_attributes import download_limit
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DEPRECATED = "ignore:The 'download_:scrapy.exceptions.ScrapyDeprecationWarning"
SITE = {
    "pages": {
        "/": {"links": ["/large", "/packed", "/hangs"]},
        "/large": {"body": "x" * 500},
        "/hangs": {"hang": True},
    }
}
LIMITS: dict[str, Any] = {
    "download_timeout": 1,
    "download_maxsize": "400",
    "download_warnsize": 50,
}


class Sites(SiteSpider):
    name = "sites"


class Plain(Spider):
    name = "plain"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        for path in ("", "large", "hangs"):
            yield Request(f"{self.seed}{path}", errback=self.failed)

    def parse(self, response: Response) -> dict[str, Any]:
        return {"fine": response.url}

    def failed(self, failure: Any) -> dict[str, Any]:
        return {"failed": failure.request.url, "error": type(failure.value).__name__}


@pytest.mark.usefixtures("fastpath")
@pytest.mark.filterwarnings(DEPRECATED)
@deferred_f_from_coro_f
async def test_they_limit_pages(site: SiteFactory, caplog: pytest.LogCaptureFixture) -> None:
    server = site(SITE)
    spider = type("Limited", (Sites,), LIMITS)
    settings = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 600, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    errors = {path: crawled.pages[server.url(path)].error for path in ("/", "/large", "/hangs")}
    assert errors == {"/": None, "/large": "too large", "/hangs": "timeout"}
    assert "more than the download warn size of 50" in caplog.text


@pytest.mark.filterwarnings(DEPRECATED)
@deferred_f_from_coro_f
async def test_they_limit_requests_of_other_spiders(site: SiteFactory) -> None:
    server = site(SITE)
    spider = type("Limited", (Plain,), LIMITS)
    settings = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 600, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    assert sorted(crawled.items, key=str) == [
        {"failed": server.url("/hangs"), "error": "DownloadTimeoutError"},
        {"failed": server.url("/large"), "error": "DownloadCancelledError"},
        {"fine": server.url("/")},
    ]


@pytest.mark.parametrize(("value", "expected"), [(5, 5), ("1.5", 1.5), (0, 0), (None, 30)])
@pytest.mark.filterwarnings(DEPRECATED)
def test_an_attribute_wins_over_the_setting(value: Any, expected: float) -> None:
    crawler = get_crawler(Plain, {"DOWNLOAD_TIMEOUT": 30})
    assert download_limit(crawler, "DOWNLOAD_TIMEOUT") == 30
    crawler.spider = Plain("any", download_timeout=value)
    assert download_limit(crawler, "DOWNLOAD_TIMEOUT") == expected


def test_it_is_deprecated_as_in_scrapy() -> None:
    crawler = get_crawler(Plain)
    crawler.spider = Plain("any", download_maxsize=1)
    with pytest.warns(ScrapyDeprecationWarning, match="'download_maxsize' .*'DOWNLOAD_MAXSIZE'"):
        download_limit(crawler, "DOWNLOAD_MAXSIZE")


@pytest.mark.filterwarnings(DEPRECATED)
def test_what_is_no_number_is_refused() -> None:
    crawler = get_crawler(Plain)
    crawler.spider = Plain("any", download_maxsize="much")
    with pytest.raises(BadArgument, match="download_maxsize: 'much' is not a number"):
        download_limit(crawler, "DOWNLOAD_MAXSIZE")
