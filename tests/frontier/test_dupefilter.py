"""Duplicates in a crawl: the dupe filter is asked about every request, and asks the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.request import RequestFingerprinter

from crawlproject.errors import BadArgument
from crawlproject.spiders.site import SiteSpider
from crawlproject.urls.dupefilter import CanonicalDupeFilter
from crawlproject.urls.fingerprint import CanonicalFingerprinter
from tests.crawling import crawl_site, project_settings

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


class FirstLetter:
    """A fingerprinter: URLs with the same first letter are the same."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.rpartition("/")[2][:1].encode()


class SubclassByLetter(CanonicalDupeFilter):
    def request_fingerprint(self, request: Request) -> str:
        return request.url.rpartition("/")[2][:1]


own_filters = pytest.mark.parametrize(
    "setting",
    [
        {"DUPEFILTER_CLASS": OnlyShort},
        {"DUPEFILTER_CLASS": SubclassByLetter},
        {"REQUEST_FINGERPRINTER_CLASS": FirstLetter},
    ],
)


@own_filters
@pytest.mark.parametrize("spider", [ByRules, SiteSpider])
@deferred_f_from_coro_f
async def test_what_a_filter_of_a_projects_own_takes_for_a_duplicate_is_not_fetched(
    site: SiteFactory, setting: dict[str, Any], spider: type[Spider]
) -> None:
    server = site({"pages": {"/": {"links": ["/apple", "/ant", "/bee", "/bee#x"]}}, "default": {}})
    settings = {**setting, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), settings, spider=spider, sitemaps="never")
    assert sorted(server.paths()) == ["/", "/apple", "/bee"]
    assert crawled.frontier.counts().skipped == {"duplicate": 1}
    # It is a link all the same.
    assert server.url("/ant") in crawled.pages[server.url()].links


@own_filters
@pytest.mark.parametrize("spider", [ByRules, SiteSpider])
@deferred_f_from_coro_f
async def test_a_filter_of_a_projects_own_knows_what_earlier_runs_have_asked_for(
    site: SiteFactory, tmp_path: Path, setting: dict[str, Any], spider: type[Spider]
) -> None:
    links = {"/": ["/apple"], "/apple": ["/bee"], "/bee": ["/cat"], "/cat": ["/ant", "/dog"]}
    server = site({"pages": {path: {"links": links[path]} for path in links}, "default": {}})
    settings = {**setting, "JOBDIR": str(tmp_path), "ROBOTSTXT_OBEY": False}
    await crawl_site(server.url(), {**settings, "CLOSESPIDER_PAGECOUNT": 1}, spider=spider)
    assert "/cat" not in server.paths()
    crawled = await crawl_site(server.url(), settings, spider=spider)
    assert server.paths() == ["/", "/apple", "/bee", "/cat", "/dog"]
    assert crawled.frontier.counts().skipped == {"duplicate": 1}


@pytest.mark.parametrize(
    "setting", [{"DUPEFILTER_CLASS": OnlyShort}, {"REQUEST_FINGERPRINTER_CLASS": FirstLetter}]
)
@deferred_f_from_coro_f
async def test_a_filter_of_a_projects_own_is_asked_about_what_a_sitemap_names(
    site: SiteFactory, setting: dict[str, Any]
) -> None:
    # /cat is linked to, too, and has the place of a page that is.
    pages: dict[str, Any] = {"/": {"links": ["/apple"]}, "/apple": {"links": ["/cat"]}}
    names = "".join(f"<url><loc>http://127.0.0.1:{{port}}/{name}</loc></url>" for name in NAMED)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<urlset xmlns="{space}">{names}</urlset>'
    pages["/map.xml"] = {"body": body, "content_type": "text/xml"}
    server = site({"robots": "Sitemap: /map.xml", "pages": pages, "default": {}})
    crawled = await crawl_site(server.url(), {**setting, "SITEMAPS_MODE": "always"})
    assert sorted(map(server.url, ["/", "/apple", "/bee", "/cat"])) == sorted(crawled.pages)
    assert crawled.skipped() == {server.url("/bat"): "duplicate", server.url("/cow"): "duplicate"}
    assert crawled.depths()[server.url("/cat")] == 2


NAMED = ("bee", "bat", "cat", "cow")


class OnScrapys(RFPDupeFilter):
    """A project's own, which writes down what it was asked about."""


@pytest.mark.parametrize("spider", [ByRules, SiteSpider])
@deferred_f_from_coro_f
async def test_what_a_filter_has_written_down_and_the_frontier_has_not_is_fetched(
    site: SiteFactory, tmp_path: Path, spider: type[Spider]
) -> None:
    server = site({"pages": {"/": {"links": ["/a", "/b"]}}, "default": {}})
    # A run that was killed before its first page was committed.
    killed = OnScrapys(str(tmp_path), fingerprinter=CanonicalFingerprinter())
    for path in ("/a", "/b"):
        assert not killed.request_seen(Request(server.url(path)))
    killed.close("")
    settings = {"DUPEFILTER_CLASS": OnScrapys, "JOBDIR": str(tmp_path)}
    await crawl_site(server.url(), settings, spider=spider)
    assert sorted(server.paths()) == ["/", "/a", "/b"]


class Finding(SiteSpider):
    name = "finding"

    async def find_links(self, response: Response) -> dict[str, bool]:
        return {}


def test_find_links_and_a_filter_that_is_not_asked_about_them_are_refused() -> None:
    crawler = Crawler(Finding, project_settings({"DUPEFILTER_CLASS": OnlyShort}))
    with pytest.raises(BadArgument, match="DUPEFILTER_CLASS: it would not be asked"):
        Finding.from_crawler(crawler, seed="http://127.0.0.1/")


class Forgetful(CanonicalDupeFilter):
    def request_seen(self, request: Request) -> bool:
        return False


@deferred_f_from_coro_f
async def test_a_url_that_the_frontier_has_is_a_duplicate_whatever_a_subclass_says(
    site: SiteFactory,
) -> None:
    server = site(SITE)
    settings = {"DUPEFILTER_CLASS": Forgetful, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), settings, spider=Plain)
    assert server.paths().count("/a?x=1&y=2") == 1
    assert crawled.stats["dupefilter/filtered"] == 3


class Ways(Spider):
    """Finds /x at a depth of 3 first, and at a depth of 1 afterwards."""

    name = "ways"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed, self.on_page)

    def on_page(self, response: Response) -> Iterator[Any]:
        links = {"/": ["/a"], "/a": ["/b"], "/b": ["/x", "/start"], "/start": ["/x"]}
        for path in links.get(urlsplit(response.url).path, []):
            meta = {"depth_reset": True} if path == "/start" else {}
            yield response.follow(path, self.on_page, meta=meta)


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@pytest.mark.parametrize("settings", [{}, {"REQUEST_FINGERPRINTER_CLASS": RequestFingerprinter}])
@deferred_f_from_coro_f
async def test_a_request_that_was_too_deep_is_no_duplicate_of_one_that_is_not(
    site: SiteFactory, redis_url: str, engine: str, settings: dict[str, Any]
) -> None:
    server = site({"default": {}})
    settings = {"DEPTH_LIMIT": 2, "ROBOTSTXT_OBEY": False, **settings}
    if engine == "redis":
        settings |= {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": "ways"}
    await crawl_site(server.url(), settings, spider=Ways)
    assert server.paths() == ["/", "/a", "/b", "/start", "/x"]


class Asking(SiteSpider):
    """Asks for pages that are not in scope."""

    name = "asking"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Any:
        if response.url.endswith("/last"):
            yield Request(response.urljoin("/left-out"), self.own)
            yield Request(response.urljoin("/left-out-and-not-linked"), self.own)

    def own(self, response: Response) -> Iterator[Any]:
        yield {"got": urlsplit(response.url).path}


@deferred_f_from_coro_f
async def test_a_request_of_a_callback_is_made_though_a_link_to_the_same_url_was_left_out(
    site: SiteFactory,
) -> None:
    server = site({"pages": {"/": {"links": ["/left-out", "/last"]}}, "default": {}})
    crawled = await crawl_site(server.url(), spider=Asking, exclude="left-out")
    got = sorted(item["got"] for item in crawled.items if isinstance(item, dict))
    assert got == ["/left-out", "/left-out-and-not-linked"]
    assert "dupefilter/filtered" not in crawled.stats
