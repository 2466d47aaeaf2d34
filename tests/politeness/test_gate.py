"""Politeness, judged by the server: its log says who was asked when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.07


@pytest.mark.parametrize("cap", [1, 3])
@deferred_f_from_coro_f
async def test_in_flight_per_host_never_exceeds_the_cap_and_reaches_it(
    site: SiteFactory, cap: int
) -> None:
    server = site({"generated": {"kind": "wide", "pages": 15}, "random_delay": [0.01, 0.03]})
    crawled = await crawl_site(server.url(), concurrency=str(cap), workers="16")
    assert len(crawled.pages) == 16
    assert server.max_in_flight() == cap


@pytest.mark.parametrize("concurrency", ["1", "4"])
@deferred_f_from_coro_f
async def test_the_delay_counts_from_completion_for_robots_redirects_and_retries_too(
    site: SiteFactory, concurrency: str
) -> None:
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /no\n",
            "pages": {
                "/": {"links": ["/a", "/b", "/no", "/moved", "/flaky", "/drop"], "delay": 0.05},
                "/a": {"links": []},
                "/b": {"links": [], "delay": 0.1},
                "/moved": {"redirect": "/target"},
                "/target": {"links": []},
                "/flaky": {"times": {"1": {"status": 500}, "2": {"links": []}}},
                "/drop": {"drop": True},
            },
        }
    )
    crawled = await crawl_site(server.url(), delay=str(DELAY), concurrency=concurrency)
    assert len(crawled.pages) == 7
    # Three for the page that is dropped: Twisted must not send it again by itself.
    assert len(server.gaps()) == 10
    assert min(server.gaps()) >= DELAY


@deferred_f_from_coro_f
async def test_rate_is_the_other_way_to_say_delay(site: SiteFactory) -> None:
    server = site({"generated": {"kind": "wide", "pages": 4}})
    await crawl_site(server.url(), rate="10")
    assert min(server.gaps()) >= 0.1


@deferred_f_from_coro_f
async def test_crawl_delay_is_obeyed(site: SiteFactory) -> None:
    server = site(
        {
            "robots": f"User-agent: *\nCrawl-delay: {DELAY}\n",
            "pages": {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}},
        }
    )
    await crawl_site(server.url())
    # The first page follows the robots.txt that asks for it.
    assert min(server.gaps()) >= DELAY


@deferred_f_from_coro_f
async def test_hosts_are_crawled_side_by_side_each_with_its_own_delay(site: SiteFactory) -> None:
    spec = {"generated": {"kind": "wide", "pages": 3}, "random_delay": [0.05, 0.05]}
    server = site(spec, all_loopback=True)
    hosts = [f"127.0.1.{number}" for number in range(1, 9)]
    seeds = " ".join(server.url("/", host=host) for host in hosts)
    crawled = await crawl_site(seeds, delay=str(DELAY), workers="64")
    assert len(crawled.pages) == 4 * len(hosts)
    for host in hosts:
        assert min(server.gaps(host)) >= DELAY
    assert server.max_in_flight() > 1


@deferred_f_from_coro_f
async def test_a_slow_host_is_asked_more_slowly(site: SiteFactory) -> None:
    server = site({"generated": {"kind": "wide", "pages": 3}, "random_delay": [0.15, 0.15]})
    await crawl_site(server.url(), {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0})
    # After the first answer the host gets a pause as long as its answers take.
    assert min(server.gaps()[2:]) >= 0.14


@deferred_f_from_coro_f
async def test_workers_bound_the_requests_to_all_hosts_robots_txt_too(site: SiteFactory) -> None:
    spec = {
        "generated": {"kind": "wide", "pages": 3},
        "random_delay": [0.06, 0.08],
        "robots": {"body": "", "delay": 0.05},
    }
    server = site(spec, all_loopback=True)
    seeds = " ".join(server.url("/", host=f"127.0.2.{number}") for number in range(1, 13))
    crawled = await crawl_site(seeds, workers="4")
    assert len(crawled.pages) == 12 * 4
    assert server.max_in_flight() == 4
