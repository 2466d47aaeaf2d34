"""Arguments of a subclass's own, as Scrapy's spiders have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadArgument
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site, project_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


class ShopSpider(SiteSpider):
    name = "shop"
    currency = "EUR"
    country: str

    def __init__(self, category: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.category = category

    @property
    def vat(self) -> float:
        return 0.2

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[dict[str, Any]]:
        yield {"category": self.category, "currency": self.currency}


class BookSpider(ShopSpider):
    name = "books"

    def __init__(self, *args: Any, language: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.language = language


@deferred_f_from_coro_f
async def test_a_spider_gets_the_arguments_that_it_declares(site: SiteFactory) -> None:
    server = site({"default": {}})
    crawled = await crawl_site(
        server.url("/"),
        spider=BookSpider,
        category="novels",
        currency="GBP",
        country="uk",
        language="en",
        depth="0",
    )
    spider = crawled.crawler.spider
    assert isinstance(spider, BookSpider)
    assert (spider.language, spider.country) == ("en", "uk")
    assert {"category": "novels", "currency": "GBP"} in crawled.items
    assert crawled.crawler.settings.getbool("SCOPE_SEEDS_ONLY")


@pytest.mark.parametrize(
    ("spider", "given", "message"),
    [
        (
            ShopSpider,
            {"categori": "x"},
            "categori: no such argument; did you mean category? (one of your own is declared as a "
            "parameter of __init__() or as an attribute of the class)",
        ),
        # Not to be set: a property, a method, what SiteSpider has, a parameter of SiteSpider.
        (ShopSpider, {"vat": "1"}, "vat: no such argument"),
        (ShopSpider, {"parse_start_url": "1"}, "parse_start_url: no such argument"),
        (ShopSpider, {"rules": "1"}, "rules: no such argument"),
        (ShopSpider, {"token": "1"}, "token: no such argument"),
        (BookSpider, {}, "language: missing: BookSpider needs it, as in -a language=…"),
        (SiteSpider, {"category": "x"}, "category: no such argument"),
    ],
)
def test_other_arguments_are_refused(
    spider: type[SiteSpider], given: dict[str, str], message: str
) -> None:
    settings = project_settings()
    with pytest.raises(BadArgument) as raised:
        spider.check_arguments({"seed": "http://127.0.0.1/", **given}, settings)
    assert str(raised.value).startswith(message)
