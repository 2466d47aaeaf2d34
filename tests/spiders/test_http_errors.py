"""``HTTPERROR_*`` and ``handle_httpstatus_*`` for requests of a SiteSpider's subclass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE = {"pages": {"/": {"links": ["/broken"]}, "/own": {"status": 404}, "/odd": {"status": 418}}}
STRICT = {"HTTPERROR_ALLOW_ALL": False}


class Asking(SiteSpider):
    name = "asking"
    meta: dict[str, Any] = {}  # noqa: RUF012

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield {"started": response.status}
        if response.status == 200:
            for path in ("/own", "/odd"):
                url = response.urljoin(path)
                yield Request(url, self.on_own, errback=self.own_failed, meta=self.meta)
            yield Request(response.urljoin("/own?without"), self.on_own, meta=self.meta)

    def on_own(self, response: Response) -> Iterator[Any]:
        yield {"called": response.status}

    def own_failed(self, failure: Failure) -> Iterator[Any]:
        assert isinstance(failure.value, HttpError)
        yield {"failed": failure.value.response.status}


@pytest.mark.usefixtures("fastpath")
@pytest.mark.parametrize(
    ("settings", "meta", "called", "failed"),
    [
        ({}, {}, [404, 404, 418], []),
        (STRICT, {}, [], [404, 418]),
        ({**STRICT, "HTTPERROR_ALLOWED_CODES": [418]}, {}, [418], [404]),
        (STRICT, {"handle_httpstatus_all": True}, [404, 404, 418], []),
        (STRICT, {"handle_httpstatus_list": [404]}, [404, 404], [418]),
        ({}, {"handle_httpstatus_list": [404]}, [404, 404], [418]),
    ],
)
@deferred_f_from_coro_f
async def test_they_decide_which_responses_its_callbacks_get(
    site: SiteFactory,
    settings: dict[str, Any],
    meta: dict[str, Any],
    called: list[int],
    failed: list[int],
) -> None:
    class Spider(Asking):
        pass

    Spider.meta = meta
    server = site({**SITE, "default": {"status": 404}})
    crawled = await crawl_site(server.url(), settings, spider=Spider)
    items = [item for item in crawled.items if isinstance(item, dict)]
    assert sorted(item["called"] for item in items if "called" in item) == called
    assert sorted(item["failed"] for item in items if "failed" in item) == failed
    # Nobody is told of it where there is no errback, and it is counted.
    ignored = 3 - len(called) - len(failed)
    assert crawled.stats.get("httperror/response_ignored_count", 0) == ignored
    assert "spider_exceptions/count" not in crawled.stats
    # Pages are made whatever the status.
    assert {page.status_code for page in crawled.pages.values()} == {200, 404}
    started = [item["started"] for item in items if "started" in item]
    assert sorted(started) == ([200] if settings else [200, 404])


@pytest.mark.parametrize("order", [None, 50])
@deferred_f_from_coro_f
async def test_scrapys_middleware_is_used_or_off_where_it_is_named(
    site: SiteFactory, order: int | None
) -> None:
    name = "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware"
    settings = {**STRICT, "SPIDER_MIDDLEWARES": {name: order}}
    crawled = await crawl_site(site(SITE).url(), settings, spider=Asking)
    items = [item for item in crawled.items if isinstance(item, dict)]
    is_off = order is None
    assert ({"called": 418} in items) is is_off
    assert ({"failed": 418} in items) is not is_off
