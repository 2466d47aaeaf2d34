"""``rules`` on a subclass of SiteSpider: what Scrapy's documentation says of CrawlSpider holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadArgument
from crawlproject.spiders.site import SiteSpider
from crawlproject.urls.links import FastLinkExtractor
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from scrapy.http import Response
    from scrapy.link import Link
    from twisted.python.failure import Failure

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SHOP = {
    "/": "<nav><a href=/list>list</a></nav><a href=/about>about</a><a href=/item/0>zero</a>",
    "/list": (
        "<ul class=items><li><a href=/item/1>one</a><li><a href=/item/2>two</a>"
        "<li><a href=/item/gone>gone</a></ul><div class=next><a href=/list?page=2>more</a></div>"
    ),
    "/list?page=2": "<ul class=items><li><a href=/item/3>three</a></ul>",
    "/item/0": "<a href=/about>about</a>",
    **{f"/item/{number}": f"<h1>Item {number}</h1><a href=/hidden>no</a>" for number in (1, 2, 3)},
    "/about": "<a href=/item/9>nine</a>",
}


def shop(**pages: dict[str, Any]) -> dict[str, Any]:
    return {"pages": {path: {"body": body} for path, body in SHOP.items()} | pages}


class ShopSpider(SiteSpider):
    """As in Scrapy's documentation: one rule to follow, one to parse."""

    name = "shop"
    rules = (
        Rule(LinkExtractor(allow=r"/list", restrict_css=("nav", ".next"))),
        Rule(
            LinkExtractor(allow=r"/item/", restrict_css=".items"),
            callback="parse_item",
            errback="item_failed",
            cb_kwargs={"kind": "thing"},
        ),
    )

    def parse_item(self, response: Response, kind: str) -> Iterator[Any]:
        assert response.request
        yield {
            "heading": response.css("h1::text").get(),
            "kind": kind,
            "text": response.meta["link_text"],
            "depth": response.meta["depth"],
        }

    def item_failed(self, failure: Failure) -> Iterator[Any]:
        assert failure.value is not None
        yield {"failed": type(failure.value).__name__}


def own(items: list[Any]) -> list[Any]:
    return [item for item in items if isinstance(item, dict)]


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@deferred_f_from_coro_f
async def test_rules_decide_what_is_followed_and_parsed(
    site: SiteFactory, redis_url: str, engine: str
) -> None:
    server = site(shop())
    settings = {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": "shop"} if engine == "redis" else {}
    crawled = await crawl_site(server.url(), settings, spider=ShopSpider)
    assert sorted(server.paths()) == [
        *("/", "/item/1", "/item/2", "/item/3", "/item/gone", "/list", "/list?page=2")
    ]
    items = sorted((item for item in own(crawled.items) if "kind" in item), key=str)
    assert items == [
        {"heading": "Item 1", "kind": "thing", "text": "one", "depth": 2},
        {"heading": "Item 2", "kind": "thing", "text": "two", "depth": 2},
        {"heading": "Item 3", "kind": "thing", "text": "three", "depth": 3},
    ]
    # A status that is no success is the errback's, as with Scrapy's HttpErrorMiddleware.
    assert {"failed": HttpError.__name__} in crawled.items
    # Every URL is a page, with the links that its rules have found.
    pages = crawled.pages
    assert len(pages) == 7
    assert pages[server.url("/")].links == [server.url("/list")]
    assert pages[server.url("/list")].links == [
        server.url(path) for path in ("/list?page=2", "/item/1", "/item/2", "/item/gone")
    ]
    # A rule with a callback does not follow, unless it says so.
    assert pages[server.url("/item/1")].links == []
    assert pages[server.url("/item/gone")].error == "unexpected status 404"
    assert pages[server.url("/item/3")].referrer == server.url("/list?page=2")
    assert crawled.depths()[server.url("/item/3")] == 3
    assert crawled.stats["links/found"] == 6


class Processing(SiteSpider):
    name = "processing"
    rules = (
        Rule(
            LinkExtractor(),
            callback="parse_item",
            follow=True,
            process_links="without_about",
            process_request="marked",
        ),
    )

    def without_about(self, links: list[Link]) -> Iterable[Link]:
        return (link for link in links if "about" not in link.url)

    def marked(self, request: Request, response: Response) -> Request | None:
        if request.url.endswith("/item/2"):
            return None
        return request.replace(headers={"X-Seen-On": response.url}, cb_kwargs={"mark": 1})

    async def parse_item(self, response: Response, mark: int) -> AsyncIterator[Any]:
        yield {"got": response.url, "mark": mark}


@deferred_f_from_coro_f
async def test_process_links_and_process_request_change_what_is_asked_for(
    site: SiteFactory,
) -> None:
    server = site(shop())
    crawled = await crawl_site(server.url(), {"ROBOTSTXT_OBEY": False}, spider=Processing)
    asked = {entry["path"]: entry["headers"].get("x-seen-on") for entry in server.log()}
    assert "/about" not in asked
    assert "/item/2" not in asked
    assert asked["/item/0"] == server.url("/")
    assert asked["/item/3"] == server.url("/list?page=2")
    assert {"got": server.url("/hidden"), "mark": 1} not in crawled.items
    assert {"got": server.url("/list"), "mark": 1} in crawled.items
    assert server.url("/about") not in crawled.pages[server.url("/")].links


class Everything(SiteSpider):
    name = "everything"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url, "depth": response.meta["depth"]}


@deferred_f_from_coro_f
async def test_scope_applies_to_links_of_rules_and_all_are_accounted_for(
    site: SiteFactory,
) -> None:
    links = "".join(
        f"<a href={href}>x</a>"
        for href in ("/a", "/private/x", "http://other.example/", "/deep", "/a?utm_source=x")
    )
    server = site(
        {
            "pages": {
                "/": {"body": f"{links}<a href=/no rel=nofollow>no</a>"},
                "/a": {"body": "<a href=/a>a</a><a href=/>home</a>"},
                "/deep": {"links": ["/deeper"]},
                "/deeper": {"links": ["/too-deep"]},
            }
        }
    )
    crawled = await crawl_site(server.url(), spider=Everything, exclude="/private/", depth="2")
    assert sorted(server.paths()) == ["/", "/a", "/deep", "/deeper"]
    assert crawled.skipped() == {
        server.url("/private/x"): "excluded",
        "http://other.example/": "offsite",
        server.url("/no"): "nofollow",
        server.url("/too-deep"): "depth",
    }
    skips = {skip.url: skip for skip in crawled.frontier.skips()}
    assert skips[server.url("/private/x")].referrer == server.url("/")
    assert skips[server.url("/private/x")].rule == "/private/"
    assert skips[server.url("/too-deep")].referrer == server.url("/deeper")
    # The other spelling of /a, /a itself and / again.
    assert crawled.stats["dupefilter/filtered"] == 3
    # Each once, as for the default spider.
    assert len(crawled.pages[server.url("/")].links) == 5


@deferred_f_from_coro_f
async def test_a_budget_of_pages_is_exact_with_rules(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": [f"/{n}" for n in range(20)]}}})
    crawled = await crawl_site(
        server.url(), {"ROBOTSTXT_OBEY": False}, spider=Everything, max_pages="5"
    )
    assert len(crawled.pages) == len(server.paths()) == 5


class Redirected(Everything):
    name = "redirected"
    rules = (
        Rule(
            LinkExtractor(allow="/old"),
            callback="parse_item",
            errback="item_failed",
            process_request="marked",
        ),
    )

    def marked(self, request: Request, response: Response) -> Request:
        request.meta["mark"] = "m"
        return request

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url, "mark": response.meta["mark"]}

    def item_failed(self, failure: Failure) -> Iterator[Any]:
        request = failure.request  # type: ignore[attr-defined]
        yield {"failed": request.url, "mark": request.meta["mark"]}


@deferred_f_from_coro_f
async def test_callback_errback_and_meta_survive_redirects(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/old/1", "/old/2", "/old/3"]},
                "/old/1": {"redirect": "/between"},
                "/between": {"redirect": "/new"},
                "/new": {"body": "new"},
                "/old/2": {"redirect": "/broken"},
                "/broken": {"drop": True},
                "/old/3": {"redirect": "http://other.example/"},
            }
        }
    )
    crawled = await crawl_site(server.url(), {"RETRY_TIMES": 0}, spider=Redirected)
    assert {"got": server.url("/new"), "mark": "m"} in crawled.items
    assert {"failed": server.url("/broken"), "mark": "m"} in crawled.items
    page = crawled.pages[server.url("/new")]
    assert page.redirected_from == [server.url("/old/1"), server.url("/between")]
    assert page.depth == 1
    assert crawled.pages[server.url("/old/3")].links == ["http://other.example/"]


class Middleware:
    """Filters, changes and adds, by one synchronous generator, as many are written."""

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        for one in result:
            if not isinstance(one, Request):
                yield one
            elif "item/1" in one.url:
                continue
            elif "item/2" in one.url:
                yield one.replace(url=one.url + "?changed")
            else:
                yield one
        if response.url.endswith("/list"):
            yield response.follow("/added")


class AsyncMiddleware(Middleware):
    async def process_spider_output(  # type: ignore[override]
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        outputs = [one async for one in result]
        for one in super().process_spider_output(response, outputs):
            yield one


@pytest.mark.parametrize("middleware", [Middleware, AsyncMiddleware])
@deferred_f_from_coro_f
async def test_spider_middlewares_filter_change_and_add(
    site: SiteFactory, middleware: type, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(shop(**{"/added": {"body": "added"}}))
    settings = {"SPIDER_MIDDLEWARES": {middleware: 500}}
    crawled = await crawl_site(server.url(), settings, spider=ShopSpider)
    assert sorted(server.paths()) == [
        *("/", "/added", "/item/2?changed", "/item/3", "/item/gone", "/list", "/list?page=2")
    ]
    links = crawled.pages[server.url("/list")].links
    assert links == [server.url(path) for path in ("/list?page=2", "/item/2?changed", "/item/gone")]
    assert server.url("/added") in crawled.pages
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


class Raising(Everything):
    name = "raising"
    rules = (Rule(LinkExtractor(), process_links="raises"),)

    def raises(self, links: list[Link]) -> list[Link]:
        raise ValueError("a bug of the spider's")


@deferred_f_from_coro_f
async def test_a_bug_in_a_rule_is_reported_and_costs_no_page(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(shop())
    crawled = await crawl_site(server.url(), spider=Raising)
    assert crawled.stats["spider_exceptions/ValueError"] == 1
    assert crawled.pages[server.url()].error is None
    assert "a bug of the spider's" in caplog.text


class Fast(SiteSpider):
    """Extractors of ours are bound to the crawl: canonical URLs, bounds, the crawler's name."""

    name = "fast"
    rules = (
        *SiteSpider.rules,
        Rule(FastLinkExtractor(tags="img", attrs="src"), callback="parse_picture"),  # type: ignore[arg-type]
    )

    def parse_picture(self, response: Response) -> Iterator[Any]:
        yield {"picture": response.url}


@deferred_f_from_coro_f
async def test_rules_may_be_added_to_the_default_ones(site: SiteFactory) -> None:
    body = "<a href='/a?x=1'>a</a><img src=/i.png>"
    server = site({"pages": {"/": {"body": body}, "/a?x=1": {}, "/a": {}, "/i.png": {}}})
    settings = {"ROBOTSTXT_OBEY": False, "URLS_TRACKING_PARAMS": ["x"]}
    crawled = await crawl_site(server.url(), settings, spider=Fast)
    assert crawled.pages[server.url()].links == [server.url("/a"), server.url("/i.png")]
    assert [item for item in crawled.items if isinstance(item, dict)] == [
        {"picture": server.url("/i.png")}
    ]


class InInit(SiteSpider):
    name = "in-init"

    def __init__(self, **kwargs: Any) -> None:
        self.rules = (Rule(LinkExtractor(allow="/list")),)
        super().__init__(**kwargs)


@deferred_f_from_coro_f
async def test_rules_may_be_set_before_the_base_class(site: SiteFactory) -> None:
    server = site(shop())
    await crawl_site(server.url(), spider=InInit)
    assert server.paths() == ["/", "/list", "/list?page=2"]


def test_the_default_rule_reads_as_a_crawl_spider() -> None:
    (rule,) = SiteSpider.rules
    assert isinstance(rule.link_extractor, FastLinkExtractor)
    assert rule.follow


class Both(Everything):
    name = "both"

    async def find_links(self, response: Response) -> dict[str, bool]:
        return {}


@deferred_f_from_coro_f
async def test_rules_beside_find_links_are_refused() -> None:
    with pytest.raises(BadArgument, match="find_links"):
        await crawl_site("http://127.0.0.1:9/", spider=Both)


class Unkept(SiteSpider):
    """What is in the meta of its requests can't be serialised."""

    name = "unkept"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True, process_request="marked"),)

    def marked(self, request: Request, response: Response) -> Request:
        request.meta["object"] = self
        return request

    def parse_item(self, response: Response) -> Iterator[Any]:
        yield {"got": response.url, "is": response.meta["object"] is self}


@pytest.mark.parametrize("arguments", [{}, {"max_pages": "6"}])
@deferred_f_from_coro_f
async def test_requests_that_cannot_be_serialised_are_made_in_this_run(
    site: SiteFactory, arguments: dict[str, Any]
) -> None:
    # The first answers last, so that with a budget the others wait for it.
    pages: dict[str, Any] = {"/": {"links": ["/a", "/b", "/c"]}, "/a": {"delay": 0.2}}
    pages |= {"/b": {"links": ["/d"]}, "/c": {"links": ["/e"]}, "/d": {}, "/e": {}}
    server = site({"pages": pages})
    crawled = await crawl_site(server.url(), spider=Unkept, **arguments)
    assert own(crawled.items) != []
    assert len(crawled.pages) == 6
    assert sorted(item["got"] for item in own(crawled.items) if item["is"]) == [
        server.url(f"/{letter}") for letter in "abcde"
    ]


class Following(SiteSpider):
    """The default rule, made by hand: another object, so CrawlSpider's way."""

    name = "following"
    rules = (Rule(LinkExtractor(), follow=True),)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arguments", [{}, {"depth": "2"}, {"max_pages": "25"}])
@deferred_f_from_coro_f
async def test_the_answer_is_that_of_the_default_spider(
    site: SiteFactory, arguments: dict[str, Any], seed: int
) -> None:
    size = 60
    pages: dict[str, Any] = {
        f"/{number}": {"links": [f"/{(number * 7 + step * 13) % size}" for step in range(5)]}
        for number in range(size)
    }
    pages["/7"] = {"redirect": "/31"}
    spec = {"pages": {"/": {"links": ["/1", "/2"]}, **pages}, "random_delay": [0, 0.01]}
    server = site({**spec, "seed": seed})
    found = []
    for spider in (SiteSpider, Following):
        crawled = await crawl_site(
            server.url(), {"ROBOTSTXT_OBEY": False}, spider=spider, **arguments
        )
        facts = {url: crawled.frontier.facts(url) for url in crawled.pages}
        links = {url: page.links for url, page in crawled.pages.items()}
        found.append((facts, links, crawled.skipped()))
    assert found[0] == found[1]
