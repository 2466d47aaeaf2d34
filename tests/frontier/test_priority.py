"""``Request.priority`` orders the URLs of one host and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.entry import rank_of
from crawlproject.frontier.redis.keys import score_of
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# In page order; the number is the priority.
PATHS = ["/p/0/a", "/p/3", "/p/-2", "/p/0/b", "/p/900", "/p/5000"]
ORDERED = ["/p/5000", "/p/900", "/p/3", "/p/0/a", "/p/0/b", "/p/-2"]
ONE_AT_A_TIME = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "CONCURRENT_REQUESTS": 1}


def priority_in(url: str) -> int:
    return int(url.partition("/p/")[2].partition("/")[0])


class ByRules(SiteSpider):
    name = "by-rules"
    rules = (Rule(LinkExtractor(allow="/p/"), process_request="ranked", follow=True),)

    def ranked(self, request: Request, response: Response) -> Request:
        return request.replace(priority=priority_in(request.url))


class Plain(Spider):
    name = "plain"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed, callback=self.ask)

    def ask(self, response: Response) -> Any:
        for path in PATHS:
            yield response.follow(path, self.done, priority=priority_in(path))

    def done(self, response: Response) -> None: ...


@pytest.mark.parametrize("engine", ["sqlite", "redis"])
@pytest.mark.parametrize("spider", [ByRules, Plain])
@deferred_f_from_coro_f
async def test_higher_priorities_are_fetched_first(
    site: SiteFactory, redis_url: str, engine: str, spider: type[Spider]
) -> None:
    server = site({"pages": {"/": {"links": PATHS}}, "default": {"links": ["/p/1"]}})
    settings: dict[str, Any] = {**ONE_AT_A_TIME, "ROBOTSTXT_OBEY": False}
    if engine == "redis":
        settings |= {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": spider.name}
    await crawl_site(server.url(), settings, spider=spider)
    # What is deeper comes later, whatever its priority.
    assert server.paths() == ["/", *ORDERED, *(["/p/1"] if spider is ByRules else [])]


@deferred_f_from_coro_f
async def test_a_budget_of_pages_goes_to_the_highest_priorities(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": PATHS}}, "default": {}})
    settings = {"ROBOTSTXT_OBEY": False}
    await crawl_site(server.url(), settings, spider=ByRules, max_pages="4")
    assert sorted(server.paths()) == sorted(["/", *ORDERED[:3]])


def test_priorities_have_the_same_order_in_both_engines() -> None:
    keys = [
        (level, rank_of(number, priority), number)
        for level in (0, 1, 16)
        for priority in (-(10**9), -1000, -1, 0, 1, 1000, 10**9)
        for number in (1, 2, 10**9)
    ]
    by_score = sorted(keys, key=lambda key: (score_of(*key[:2]), key[2]))
    assert by_score == sorted(keys)
    assert all(0 <= score_of(*key[:2]) < 2**53 for key in keys)
