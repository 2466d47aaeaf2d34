"""``MEDIA_ALLOW_REDIRECTS``, with redirects of pages left to the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.fetching.media_redirects import MediaRedirects
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.05
PAGES: dict[str, Any] = {
    "/": {"links": ["/old"]},
    "/old": {"redirect": "/new"},
    "/new": {},
    "/file": {"redirect": "/file/moved"},
    "/file/moved": {"redirect": "/file/here", "status": 302},
    "/file/here": {"body": "the file"},
    "/denied": {"redirect": "/private"},
    "/loop": {"redirect": "/loop"},
}


class Files(FilesPipeline):
    pass


class Collector(SiteSpider):
    name = "collector"

    async def parse_start_url(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        if response.url.endswith("/"):
            # It is nobody's file: its redirect is not followed.
            request = Request(response.urljoin("/old?x"), NO_CALLBACK)
            got = await self.crawler.engine.download_async(request)
            assert got.status == 301
            paths = ("/file", "/denied", "/loop")
            yield {"file_urls": [response.urljoin(path) for path in paths]}


@pytest.mark.usefixtures("fastpath")
@pytest.mark.parametrize("name", ["MEDIA_ALLOW_REDIRECTS", "FILES_MEDIA_ALLOW_REDIRECTS"])
@deferred_f_from_coro_f
async def test_redirects_of_files_are_followed_in_turn_and_those_of_pages_are_the_frontiers(
    site: SiteFactory, tmp_path: Path, name: str
) -> None:
    robots = "User-agent: *\nDisallow: /private"
    server = site({"pages": {**PAGES, "/old?x": {"redirect": "/new"}}, "robots": robots})
    settings = {
        "ITEM_PIPELINES": {Files: 1},
        "FILES_STORE": str(tmp_path / "files"),
        "REDIRECT_MAX_TIMES": 3,
        name: True,
    }
    crawled = await crawl_site(server.url(), settings, spider=Collector, delay=str(DELAY))
    (item,) = [item for item in crawled.items if isinstance(item, dict)]
    (file,) = item["files"]
    assert file["url"] == server.url("/file")
    assert (tmp_path / "files" / file["path"]).read_text() == "the file"
    # A redirect is limited, asked about in robots.txt, and waits for its turn.
    assert server.paths().count("/loop") == 1 + 3
    assert "/private" not in server.paths()
    assert min(server.gaps()) >= DELAY
    page = crawled.pages[server.url("/new")]
    assert page.redirected_from == [server.url("/old")]


@pytest.mark.parametrize(
    "settings", [{}, {"REDIRECT_ENABLED": True, "MEDIA_ALLOW_REDIRECTS": True}]
)
def test_it_is_off_unless_it_is_needed(settings: dict[str, Any]) -> None:
    crawler = get_crawler(settings_dict={"REDIRECT_ENABLED": False, **settings})
    with pytest.raises(NotConfigured):
        build_from_crawler(MediaRedirects, crawler)
