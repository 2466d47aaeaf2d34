"""A callback copies the meta of its response: what the project has set in it stays behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE: dict[str, Any] = {
    "pages": {
        "/": {"links": ["/item"]},
        "/item": {},
        "/old": {"redirect": "/new"},
        "/older": {"redirect": "/new?x"},
        "/lost": {"drop": True},
        "/moved": {"redirect": "/here"},
    },
    "default": {},
}
FOLLOWING = {"REDIRECT_ENABLED": True, "RETRY_TIMES": 0}


class Copying(SiteSpider):
    """Copies the meta of a seed, or of a rule's page, whole, and then that of a failure."""

    name = "copying"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield from self.copy(response)

    def copy(self, response: Response) -> Iterator[Any]:
        meta = {**response.meta, "mine": 1}
        yield Request(response.urljoin("/old"), self.got, meta=meta)
        yield Request(response.urljoin("/a b"), self.got, meta=meta)
        yield Request(response.urljoin("/lost"), self.got, errback=self.failed, meta=meta)
        meta |= {"dont_redirect": True, "download_timeout": 1.25}
        yield Request(response.urljoin("/older"), self.got, meta=meta)

    def got(self, response: Response) -> Iterator[Any]:
        meta = response.meta
        assert "set_by_frontier" not in meta
        path = urlsplit(response.url).path
        yield {"path": path, "mine": meta["mine"], "timeout": meta["download_timeout"]}

    def failed(self, failure: Any) -> Iterator[Any]:
        request = failure.request
        url = request.url.replace("/lost", "/old?again")
        yield Request(url, self.got, meta=request.meta)


class CopyingByRules(Copying):
    name = "copying-by-rules"
    rules = (Rule(LinkExtractor(allow="/item"), callback="copy"),)

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield from ()


@pytest.mark.usefixtures("fastpath")
@pytest.mark.parametrize("directory", [False, True])
@pytest.mark.parametrize("spider", [Copying, CopyingByRules])
@deferred_f_from_coro_f
async def test_copies_are_redirected_spelled_and_timed_like_other_requests(
    site: SiteFactory, tmp_path: Path, spider: type[SiteSpider], directory: bool
) -> None:
    server = site({**SITE, "pages": {**SITE["pages"], "/old?again": {"redirect": "/again"}}})
    settings = {**FOLLOWING, "JOBDIR": str(tmp_path / "job") if directory else None}
    crawled = await crawl_site(server.url(), settings, spider=spider)
    items = [item for item in crawled.items if isinstance(item, dict)]
    assert {item["path"] for item in items} == {"/new", "/a%20b", "/older", "/again"}
    assert {item["mine"] for item in items} == {1}
    # What a user has set is kept.
    timeouts = {item["path"]: item["timeout"] for item in items}
    assert timeouts.pop("/older") == 1.25
    assert set(timeouts.values()) == {2}


class Retrying(SiteSpider):
    name = "retrying"
    rules = (Rule(LinkExtractor(allow="/moved"), callback="again"),)

    def again(self, response: Response) -> Iterator[Any]:
        assert response.request is not None
        assert "dont_redirect" not in response.meta
        if "retry_times" not in response.meta:
            yield get_retry_request(response.request, spider=self)
        yield {"got": urlsplit(response.url).path}


@deferred_f_from_coro_f
async def test_a_retry_of_a_page_leaves_its_redirects_to_the_frontier_again(
    site: SiteFactory,
) -> None:
    pages = {"/": {"links": ["/moved"]}, "/moved": {"redirect": "/here"}, "/here": {}}
    server = site({"pages": pages})
    settings = {"REDIRECT_ENABLED": True}
    crawled = await crawl_site(server.url(), settings, spider=Retrying)
    # Scrapy's middleware would not have come here by itself: the redirect is accounted for.
    assert crawled.pages[server.url("/here")].redirected_from == [server.url("/moved")]
    assert "downloader/request_method_count/GET" not in crawled.stats
    assert crawled.items.count({"got": "/here"}) == 2
    assert server.paths() == ["/", "/moved", "/here", "/here"]


class Failing(SiteSpider):
    """Without a callback, a request is one for a page, whatever its meta says of a rule."""

    name = "failing"
    rules = (Rule(LinkExtractor(allow="/item"), callback="more", errback="failed"),)

    def more(self, response: Response) -> Iterator[Any]:
        yield Request(response.urljoin("/gone"), meta=response.meta)

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"failed": failure.request.url}


@deferred_f_from_coro_f
async def test_a_copy_without_a_callback_is_not_the_rules(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": ["/item"]}, "/item": {}}})
    crawled = await crawl_site(server.url(), spider=Failing)
    assert crawled.pages[server.url("/gone")].status_code == 404
    assert not [item for item in crawled.items if isinstance(item, dict)]
