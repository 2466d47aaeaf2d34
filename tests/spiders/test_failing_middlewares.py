"""Downloader middlewares of a user's own that refuse a request, or have a bug."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.monitoring.tally import REFUSED, outcome_of
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PAGES = {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}}


class Refuses:
    def process_request(self, request: Request) -> None:
        if request.url.endswith("/a"):
            raise IgnoreRequest("not licensed")


class Breaks:
    def process_response(self, request: Request, response: Response) -> Response:
        if request.url.endswith("/a"):
            raise RuntimeError("a bug of the middleware's")
        return response


@pytest.mark.usefixtures("fastpath")
@deferred_f_from_coro_f
async def test_a_request_that_a_middleware_ignores_is_refused_with_its_message(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"pages": PAGES})
    settings = {"DOWNLOADER_MIDDLEWARES": {Refuses: 500}}
    crawled = await crawl_site(server.url(), settings)
    page = crawled.pages[server.url("/a")]
    assert page.error == "ignored: not licensed"
    assert outcome_of(page.status_code, page.error) == REFUSED
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


@pytest.mark.usefixtures("fastpath")
@deferred_f_from_coro_f
async def test_a_bug_in_a_middleware_is_logged_with_its_traceback(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"pages": PAGES})
    settings = {"DOWNLOADER_MIDDLEWARES": {Breaks: 500}}
    crawled = await crawl_site(server.url(), settings)
    assert crawled.pages[server.url("/a")].error == "unreadable: RuntimeError"
    (record,) = [record for record in caplog.records if record.levelno > logging.INFO]
    assert record.levelno == logging.ERROR
    assert record.getMessage() == f"Error downloading {server.url('/a')}"
    assert "in process_response" in caplog.text
    assert "RuntimeError: a bug of the middleware's" in caplog.text
