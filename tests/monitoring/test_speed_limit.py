"""What limited the speed of a crawl: in words, and in real crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.bottleneck import Bottleneck, Limit
from crawlproject.monitoring.speed_limit import Run, speed_limit
from tests.crawling import crawl_site, project_settings, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

RUN = Run(seconds=20.0, cpu_seconds=2.0, most_in_flight=4)
PAGES = 12
WIDE = {"generated": {"kind": "wide", "pages": PAGES}}


def found(limit: Limit, value: float, **changes: Any) -> Bottleneck:
    return Bottleneck("a.com", limit, 12.0, 18.0, 100, value)._replace(**changes)


@pytest.mark.parametrize(
    ("limit", "value", "name", "words"),
    [
        (Limit.DELAY, 0.25, "delay", "the delay of 0.25 s on a.com: -a delay=…"),
        (
            Limit.DELAY,
            2,
            "delay",
            "the delay of 2 s on a.com: POLITENESS_HOSTS or DOWNLOAD_SLOTS",
        ),
        (Limit.CRAWL_DELAY, 10, "crawl_delay", "the Crawl-delay of 10 s in robots.txt of a.com."),
        (Limit.RATE, 3, "rate", "the rate of 3 requests a second on a.com: -a rate=…"),
        (
            Limit.AUTOTHROTTLE,
            0.2051,
            "autothrottle",
            "AutoThrottle on a.com (0.21 s from one request to the next): -a concurrency=…",
        ),
        (
            Limit.CONCURRENCY,
            2,
            "concurrency",
            "the concurrency of 2 on a.com: -a concurrency=…",
        ),
        (
            Limit.HOLD,
            0,
            "hold",
            "the pauses that a.com has asked for (429, 503, robots.txt unavailable).",
        ),
    ],
)
def test_a_limit_of_a_host_is_named_with_what_to_change(
    limit: Limit, value: float, name: str, words: str
) -> None:
    settings = project_settings({"POLITENESS_RATE": 3})
    assert speed_limit(found(limit, value), RUN, settings) == (
        name,
        "a.com",
        f"Speed limited by {words}",
    )


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run(20.0, 17.0, 4), "this machine's CPU: ./scripts/cluster shares a crawl among"),
        (Run(20.0, 2.0, 32), "the 32 requests in flight in all: -a workers=…"),
        # Nobody knows.
        (Run(20.0, 2.0, 31), None),
    ],
)
def test_the_crawler_itself_may_be_the_limit(run: Run, words: str | None) -> None:
    limit = speed_limit(found(Limit.CRAWLER, 0), run, project_settings())
    if words is None:
        assert limit is None
    else:
        assert limit is not None
        assert limit.host is None
        assert limit.sentence.startswith(f"Speed limited by {words}")


@pytest.mark.parametrize(
    "bottleneck",
    [
        None,
        found(Limit.DELAY, 0.25, requests=9),
        found(Limit.DELAY, 0.25, waited=0.9),
        # Most of the time it waited for links to follow.
        found(Limit.DELAY, 0.25, waited=9.0),
    ],
)
def test_nothing_is_said_where_nothing_can_be_known(bottleneck: Bottleneck | None) -> None:
    assert speed_limit(bottleneck, RUN, project_settings()) is None


@pytest.mark.parametrize(
    ("robots", "arguments", "limit"),
    [
        ("", {"delay": "0.3"}, "delay"),
        ("User-agent: *\nCrawl-delay: 0.3\n", {"delay": "0.1"}, "crawl_delay"),
        ("", {"rate": "4", "concurrency": "4"}, "rate"),
    ],
)
@deferred_f_from_coro_f
async def test_the_stats_of_a_crawl_say_what_limited_its_speed(
    site: SiteFactory, robots: str, arguments: dict[str, Any], limit: str
) -> None:
    server = site({**WIDE, "robots": robots})
    crawled = await crawl_site(server.url(), {"AUTOTHROTTLE_ENABLED": False}, **arguments)
    assert len(crawled.pages) == PAGES + 1
    assert crawled.stats["politeness/limited_by"] == limit
    assert crawled.stats["politeness/limited_by_host"] == "127.0.0.1"


@deferred_f_from_coro_f
async def test_a_short_crawl_says_nothing_of_its_speed(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    crawled = await crawl_site(server.url(), delay="0.1")
    assert "politeness/limited_by" not in crawled.stats


def test_the_summary_says_what_limited_the_speed(site: SiteFactory, tmp_path: Path) -> None:
    server = site(WIDE)
    options = ("-a", f"seed={server.url()}", "-a", "delay=0.3", "-a", "concurrency=1")
    result = scrapy("crawl", "site", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Speed limited by the delay of 0.3 s on 127.0.0.1: -a delay=…" in result.stderr
