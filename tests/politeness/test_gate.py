"""Politeness, judged by the server: its log says who was asked when."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject import settings as defaults
from tests.crawling import crawl_site
from tests.frontier.test_own_requests import also

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.07


def paired(pages: int) -> dict[str, Any]:
    """A site whose pages respond only when two of them are in flight, one later than the other."""
    several = {f"/{n}": {"together": 2, "delay": 0.05 * (n % 2)} for n in range(pages)}
    return {"pages": {"/": {"links": list(several)}, **several}}


@pytest.mark.parametrize("cap", [1, 3])
@deferred_f_from_coro_f
async def test_in_flight_per_host_never_exceeds_the_cap_and_reaches_it(
    site: SiteFactory, cap: int
) -> None:
    server = site({"generated": {"kind": "wide", "pages": 15}, "random_delay": [0.01, 0.03]})
    crawled = await crawl_site(server.url(), concurrency=str(cap), workers="16")
    assert len(crawled.pages) == 16
    assert server.max_in_flight() == cap


@pytest.mark.parametrize("concurrency", ["1", None])
@deferred_f_from_coro_f
async def test_the_delay_counts_from_completion_for_robots_redirects_and_retries_too(
    site: SiteFactory, concurrency: str | None
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
    more: dict[str, Any] = {} if concurrency is None else {"concurrency": concurrency}
    crawled = await crawl_site(server.url(), delay=str(DELAY), **more)
    assert len(crawled.pages) == 7
    # Three for the page that is dropped: Twisted must not send it again by itself.
    assert len(server.gaps()) == 10
    assert min(server.gaps()) >= DELAY


@pytest.mark.parametrize("is_throttled", [True, False])
@deferred_f_from_coro_f
async def test_a_delay_counts_from_the_last_completion_with_two_in_flight(
    site: SiteFactory, is_throttled: bool
) -> None:
    delay = 0.3
    server = site(paired(6))
    settings = {"AUTOTHROTTLE_ENABLED": is_throttled}
    crawled = await crawl_site(
        server.url(), settings, delay=str(delay), concurrency="2", sitemaps="never"
    )
    assert len(crawled.pages) == 7
    assert server.max_in_flight() == 2
    assert min(server.pauses()) >= delay


@deferred_f_from_coro_f
async def test_rate_is_requests_started_a_second(site: SiteFactory) -> None:
    rate = 8
    # No response comes before four requests are in flight, so no delay can be at work.
    pages: dict[str, Any] = {f"/{number}": {"together": 4} for number in range(12)}
    server = site({"pages": {"/": {"links": list(pages)}, **pages}})
    crawled = await crawl_site(
        server.url(), rate=str(rate), concurrency="4", sitemaps="never", workers="16"
    )
    assert len(crawled.pages) == 13
    assert server.max_in_flight() == 4
    starts = [entry["start"] for entry in server.log()]
    # What a busy machine delays on its way comes later, which makes a single interval shorter.
    assert starts[-1] - starts[0] >= 0.5 * (len(starts) - 1) / rate


class HoldsUp:
    """A downloader middleware that keeps every other request for a while."""

    def __init__(self) -> None:
        self.requests = 0

    async def process_request(self, request: Request) -> None:
        self.requests += 1
        if self.requests % 2:
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("limits", [{"delay": "0.3"}, {"rate": "4"}])
@deferred_f_from_coro_f
async def test_a_request_that_a_middleware_holds_up_does_not_start_too_soon(
    site: SiteFactory, limits: dict[str, str]
) -> None:
    server = site({"generated": {"kind": "wide", "pages": 10}, "random_delay": [0.02, 0.08]})
    settings = {
        "DOWNLOADER_MIDDLEWARES": also(defaults.DOWNLOADER_MIDDLEWARES, HoldsUp),
        "AUTOTHROTTLE_ENABLED": False,
    }
    crawled = await crawl_site(server.url(), settings, concurrency="2", sitemaps="never", **limits)
    assert len(crawled.pages) == 11
    if "delay" in limits:
        assert min(server.pauses()) >= 0.3
    else:
        starts = [entry["start"] for entry in server.log()]
        # What a busy machine delays on its way comes later, which makes a single interval shorter.
        assert starts[-1] - starts[0] >= 0.95 * (len(starts) - 1) / 4


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
async def test_autothrottle_starts_a_request_of_a_slow_host_in_the_time_of_a_response(
    site: SiteFactory,
) -> None:
    latency = 0.3
    spec = {"generated": {"kind": "wide", "pages": 5}, "random_delay": [latency, latency]}
    server = site(spec)
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0}
    crawled = await crawl_site(server.url(), settings, concurrency="16", sitemaps="never")
    # The user has asked for more: all at once.
    assert crawled.frontier.throttle_delay("127.0.0.1") < latency
    server.set(spec)
    seen = len(server.log())
    settings["AUTOTHROTTLE_TARGET_CONCURRENCY"] = 1
    crawled = await crawl_site(server.url(), settings, concurrency="16", sitemaps="never")
    assert crawled.frontier.throttle_delay("127.0.0.1") >= latency
    starts = [entry["start"] for entry in server.log()[seen + 2 :]]
    assert len(starts) == 5
    assert starts[-1] - starts[0] >= 0.5 * (len(starts) - 1) * latency


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
