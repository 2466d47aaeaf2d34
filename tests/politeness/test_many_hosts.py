"""Fifty hosts at once, judged by the server: not one of them is asked too soon or too often."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import State
from crawlproject.frontier.rows import STATES
from tests.crawling import crawl_site
from tests.killing import CrawlProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HOSTS = [f"127.0.{4 + number // 10}.{1 + number % 10}" for number in range(50)]
PAGES = 3
DELAY = 0.1
CRAWL_DELAY = 0.2
# Of the hosts, those that ask for a longer delay.
SLOW = HOSTS[::5]


def start(site: SiteFactory, pages: int) -> Site:
    spec: dict[str, Any] = {
        "generated": {"kind": "wide", "pages": pages - 1},
        "random_delay": [0.0, 0.03],
    }
    slow = {**spec, "robots": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n"}
    return site({**spec, "hosts": dict.fromkeys(SLOW, slow)}, all_loopback=True)


def violations(server: Site, delay: float) -> list[tuple[str, float]]:
    """Each request that came too soon after the one before it."""
    found = []
    for host in HOSTS:
        least = CRAWL_DELAY if host in SLOW else delay
        found += [(host, gap) for gap in server.gaps(host) if gap < least]
    return found


def fetched(server: Site) -> Counter[tuple[str, str]]:
    return Counter((entry["host"], entry["path"]) for entry in server.log())


def ended_in(job: Path) -> set[tuple[str, str]]:
    """The hosts and paths of the URLs that a crawl directory says are fetched."""
    with closing(sqlite3.connect(job / "crawl.db")) as database:
        urls = [
            urlsplit(url)
            for url, state in database.execute("SELECT url, state FROM urls")
            if STATES[state] in {State.DONE, State.FAILED}
        ]
    return {(url.hostname or "", url.path) for url in urls}


@pytest.mark.parametrize("arguments", [{"concurrency": "1"}, {}])
@deferred_f_from_coro_f
async def test_no_host_of_many_is_asked_too_soon(
    site: SiteFactory, arguments: dict[str, Any]
) -> None:
    server = start(site, PAGES)
    seeds = " ".join(server.url("/", host=host) for host in HOSTS)
    await crawl_site(seeds, delay=str(DELAY), workers="64", **arguments)
    assert violations(server, DELAY) == []
    assert {server.max_in_flight(host) for host in HOSTS} == {1}
    assert server.max_in_flight() > 1
    # robots.txt and the pages, each once.
    assert len(fetched(server)) == len(HOSTS) * (1 + PAGES)
    assert set(fetched(server).values()) == {1}


@deferred_f_from_coro_f
async def test_without_a_delay_no_host_of_many_has_more_in_flight_than_it_may(
    site: SiteFactory,
) -> None:
    server = start(site, 5)
    seeds = " ".join(server.url("/", host=host) for host in HOSTS[:20])
    await crawl_site(seeds, concurrency="4", workers="64")
    assert violations(server, float("-inf")) == []
    assert 1 < max(server.max_in_flight(host) for host in HOSTS) <= 4
    assert {server.max_in_flight(host) for host in SLOW[:4]} == {1}
    assert set(fetched(server).values()) == {1}


def test_a_kill_in_the_middle_is_no_excuse(site: SiteFactory, tmp_path: Path) -> None:
    server = start(site, PAGES)
    (tmp_path / "seeds.txt").write_text("\n".join(server.url("/", host=host) for host in HOSTS))
    options = ["-a", "seeds_file=seeds.txt", "-a", f"delay={DELAY}", "-a", "workers=32"]
    options += ["-s", "FRONTIER_COMMIT_PAGES=10"]
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until(lambda: len(server.log()) > len(HOSTS) * 2)
        crawl.kill()
    before, ended = len(server.log()), ended_in(tmp_path / "job")
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0, crawl.errors()
    assert len(HOSTS) * 2 < before < len(server.log())
    # Also between the last request before the kill and the first after it.
    assert violations(server, DELAY) == []
    assert {server.max_in_flight(host) for host in HOSTS} == {1}
    requests = fetched(server)
    # robots.txt, where a sitemap may be, and the pages.
    assert len(requests) == len(HOSTS) * (2 + PAGES)
    # Only what was not committed is fetched again, once.
    assert max(requests.values()) <= 2
    again = {request for request, count in requests.items() if count > 1}
    assert ended
    assert not again & ended
