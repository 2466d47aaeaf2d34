"""Hosts that have too much to do, judged by the server: it was left alone, all of it."""

from __future__ import annotations

import time
from email.utils import formatdate
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

BACKOFF = {"FRONTIER_RETRY_BACKOFF_SECONDS": 0.1}


def busy(times: int, status: int = 429, retry_after: str | None = None) -> dict[str, Any]:
    """A page that can be had after ``times`` requests for it."""
    no = {"status": status, "headers": {"Retry-After": retry_after} if retry_after else {}}
    return {"links": [], "times": {str(number): no for number in range(1, times + 1)}}


def garden(pages: dict[str, Any]) -> dict[str, Any]:
    return {"pages": {"/": {"links": [*pages]}, **pages}}


def pause_after(server: Site, path: str, host: str = "127.0.0.1") -> float:
    """Seconds from the end of the first request for a path to the next start at its host."""
    log = [entry for entry in server.log() if entry["host"].startswith(f"{host}:")]
    end: float = next(entry["end"] for entry in log if entry["path"] == path)
    later: list[float] = [entry["start"] for entry in log if entry["start"] >= end]
    return min(later) - end


@pytest.mark.parametrize(("status", "concurrency", "seconds"), [(429, "1", "1"), (503, "4", "0.4")])
@deferred_f_from_coro_f
async def test_the_whole_host_is_left_alone_for_as_long_as_it_asks_for(
    site: SiteFactory, status: int, concurrency: str, seconds: str
) -> None:
    # Others are in flight when the answer comes, and nobody is about to start.
    slow = {f"/{number}": {"delay": 0.2} for number in range(int(concurrency))}
    answer = {**busy(1, status, retry_after=seconds), "delay": 0.1}
    server = site(garden({"/a": answer, **slow}))
    crawled = await crawl_site(server.url(), concurrency=concurrency)
    assert pause_after(server, "/a") >= float(seconds)
    assert all(page.error is None for page in crawled.pages.values())
    assert crawled.stats[f"politeness/held/{status}"] == 1


@deferred_f_from_coro_f
async def test_a_date_says_the_same(site: SiteFactory) -> None:
    until = int(time.time()) + 2
    server = site(garden({"/a": busy(1, retry_after=formatdate(until, usegmt=True))}))
    await crawl_site(server.url(), concurrency="1")
    began = time.time() - time.monotonic()
    assert began + server.log()[-1]["start"] >= until - 0.01
    assert server.paths() == ["/", "/a", "/a"]


@deferred_f_from_coro_f
async def test_without_it_the_pause_doubles_and_a_good_answer_ends_the_row(
    site: SiteFactory,
) -> None:
    pages = {"/a": busy(2), "/b": {}, "/c": busy(1, 503)}
    server = site(garden(pages))
    crawled = await crawl_site(server.url(), BACKOFF, concurrency="1")
    log = server.log()
    pauses = {}
    for one, next_one in pairwise(log):
        if one["status"] in {429, 503}:
            pauses[one["path"], one["id"]] = next_one["start"] - one["end"]
    # /b gets its answer between the two of /a, or after them: the row may begin anew.
    assert min(pauses.values()) >= 0.1
    assert crawled.stats["politeness/held/429"] == 2
    assert crawled.frontier.overloaded("127.0.0.1", again=True) == 1


@deferred_f_from_coro_f
async def test_the_pause_doubles_as_long_as_it_goes_on(site: SiteFactory) -> None:
    server = site({"pages": {"/": busy(3)}})
    crawled = await crawl_site(server.url(), {**BACKOFF, "RETRY_TIMES": 3})
    for gap, least in zip(server.gaps()[1:], (0.1, 0.2, 0.4), strict=True):
        assert gap >= least
    assert crawled.pages[server.url()].error is None


@deferred_f_from_coro_f
async def test_a_burst_of_such_answers_counts_once(site: SiteFactory) -> None:
    pages = {f"/{number}": {**busy(1, 503), "delay": 0.2} for number in range(6)}
    server = site(garden(pages))
    crawled = await crawl_site(server.url(), BACKOFF, concurrency="6")
    assert server.max_in_flight() == 6
    assert crawled.stats["politeness/held/503"] == 1
    assert all(page.error is None for page in crawled.pages.values())


@deferred_f_from_coro_f
async def test_a_late_answer_of_a_burst_may_ask_for_more_time(site: SiteFactory) -> None:
    late = {**busy(1, 503, retry_after="0.3"), "delay": 0.1}
    server = site(garden({"/a": busy(1, 503), "/b": late}))
    crawled = await crawl_site(server.url(), concurrency="2")
    assert pause_after(server, "/b") >= 0.3
    assert crawled.stats["politeness/held/503"] == 1


@deferred_f_from_coro_f
async def test_a_url_that_stays_busy_ends_as_failed(site: SiteFactory) -> None:
    server = site(garden({"/a": {"status": 503}, "/b": {}}))
    crawled = await crawl_site(server.url(), concurrency="1")
    assert server.paths().count("/a") == 3
    assert crawled.pages[server.url("/a")].error == "unexpected status 503"
    assert crawled.pages[server.url("/b")].error is None
    assert crawled.frontier.counts().failed == 1


@deferred_f_from_coro_f
async def test_a_pause_beyond_reason_is_cut_with_a_warning(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"pages": {"/": busy(1, retry_after="86400")}})
    await crawl_site(server.url(), {"POLITENESS_MAX_HOLD_SECONDS": 0.3})
    assert server.gaps()[-1] >= 0.3
    assert "127.0.0.1 asks to be left alone for 86400 s; 0.3 s is used" in caplog.text


@deferred_f_from_coro_f
async def test_a_retry_after_that_comes_with_anything_else_means_nothing(
    site: SiteFactory,
) -> None:
    header = {"headers": {"Retry-After": "86400"}}
    pages = {"/a": {"redirect": "/b", **header}, "/b": header, "/c": {"status": 404, **header}}
    server = site(garden(pages))
    crawled = await crawl_site(server.url())
    assert sorted(server.paths()) == ["/", "/a", "/b", "/c"]
    assert not any(key.startswith("politeness/held") for key in crawled.stats)


@deferred_f_from_coro_f
async def test_other_failures_leave_the_host_alone_only_for_their_url(site: SiteFactory) -> None:
    pages: dict[str, Any] = {f"/{number}": {} for number in range(5)}
    server = site(garden({"/a": {"times": {"1": {"status": 500}}, "links": []}, **pages}))
    await crawl_site(server.url(), {"FRONTIER_RETRY_BACKOFF_SECONDS": 0.3}, concurrency="1")
    log = server.log()
    first, second = (entry for entry in log if entry["path"] == "/a")
    assert second["start"] - first["end"] >= 0.3
    assert [entry["path"] for entry in log][-1] == "/a"
    assert len(log) == 9


@deferred_f_from_coro_f
async def test_a_host_that_is_left_alone_keeps_no_other_waiting(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    others = [server.url(f"/{number}", host="127.0.1.2") for number in range(10)]
    held = {"/": {"links": ["/a", *others]}, "/a": busy(1, retry_after="0.6")}
    free: dict[str, Any] = {f"/{number}": {} for number in range(10)}
    server.set({"hosts": {"127.0.1.1": {"pages": held}, "127.0.1.2": {"pages": free}}})
    seed = server.url("/", host="127.0.1.1")
    crawled = await crawl_site(seed, scope="any", workers="2")
    assert len(crawled.pages) == 12
    assert pause_after(server, "/a", "127.0.1.1") >= 0.6
    assert server.paths()[-1] == "/a"


@deferred_f_from_coro_f
async def test_a_robots_txt_that_is_asked_too_often_holds_its_host_where_it_is(
    site: SiteFactory,
) -> None:
    """One host's robots.txt is another's, which has too much to do."""
    server = site({"pages": {}}, all_loopback=True)
    there = server.url("/robots.txt", host="127.0.1.2")
    here = server.url("/", host="127.0.1.1")
    busy_robots = {"times": {"1": {"status": 429, "headers": {"Retry-After": "0.3"}}}, "body": ""}
    pages = {"/": {"links": [server.url("/", host="127.0.1.2")]}}
    server.set(
        {
            "hosts": {
                "127.0.1.1": {"robots": {"redirect": there}, "pages": pages},
                "127.0.1.2": {"robots": busy_robots, "pages": {"/": {}}},
            }
        }
    )
    crawled = await crawl_site(here, scope="any")
    assert len(crawled.pages) == 2
    assert pause_after(server, "/robots.txt", "127.0.1.2") >= 0.3
    assert server.gaps("127.0.1.1")[0] >= 0.3
