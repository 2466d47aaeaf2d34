"""The scheduler with a spider that makes its own requests: nothing hangs, nothing is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import Crawled, crawl_site, project_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


class PlainSpider(Spider):
    """Knows nothing of leases."""

    name = "plain"
    with_errback = False

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths:  # type: ignore[attr-defined]
            errback = self.failed if self.with_errback else None
            yield Request(self.site + path, errback=errback)  # type: ignore[attr-defined]

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        if response.url.endswith("/raises"):
            raise ValueError("a bug of the spider's")
        if response.url.endswith("/form"):
            yield Request(response.url, method="POST", body=b"x", callback=self.parse_form)
        yield {"url": response.url}

    def parse_form(self, response: Response) -> Iterator[Any]:
        yield {"form": response.url}

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"failed": failure.request.url}


class WithErrback(PlainSpider):
    name = "with-errback"
    with_errback = True


async def crawl(spider: type[Spider], site: str, paths: list[str]) -> Crawled:
    runner = AsyncCrawlerRunner(project_settings({"ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0}))
    crawler = runner.create_crawler(spider)
    items: list[Any] = []

    def item_scraped(item: Any) -> None:
        items.append(item)

    crawler.signals.connect(item_scraped, signals.item_scraped)
    await runner.crawl(crawler, site=site, paths=paths)
    return Crawled(crawler, items)


@pytest.mark.parametrize("spider", [PlainSpider, WithErrback])
@deferred_f_from_coro_f
async def test_a_plain_spider_ends_whatever_its_requests_come_to(
    site: SiteFactory, spider: type[Spider]
) -> None:
    server = site(
        {
            "pages": {
                "/a": {},
                "/a?utm_source=x": {},
                "/raises": {},
                "/drop": {"drop": True},
                "/form": {},
                "/flaky": {"times": {"1": {"status": 503}, "2": {"status": 200}}},
                "/bomb": {"body": "not gzip", "headers": {"Content-Encoding": "gzip"}},
            }
        }
    )
    paths = ["/a", "/a?utm_source=x", "/raises", "/drop", "/form", "/flaky", "/bomb"]
    crawled = await crawl(spider, server.url(""), paths)
    assert crawled.frontier.exhausted()
    urls = {item["url"].rpartition("/")[2] for item in crawled.items if "url" in item}
    assert {"a", "form", "flaky"} <= urls
    assert {"form": server.url("/form")} in crawled.items
    assert server.paths().count("/a") == 1
    assert server.paths().count("/flaky") == 2
    assert crawled.stats["dupefilter/filtered"] == 1
    if spider is WithErrback:
        assert {"failed": server.url("/drop")} in crawled.items


@deferred_f_from_coro_f
async def test_a_timer_that_is_early_stops_nothing(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Scrapy's own heartbeat would hide it.
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", 3600)

    loop = asyncio.get_running_loop()
    on_time = loop.call_later

    def early(delay: float, *call: Any, **context: Any) -> Any:
        return on_time(max(0, delay - 0.002), *call, **context)

    monkeypatch.setattr(loop, "call_later", early)
    server = site({"generated": {"kind": "wide", "pages": 4}})
    await crawl_site(server.url(), delay="0.05", timeout="20")
    assert len(server.paths()) == 5
