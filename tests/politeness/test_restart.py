"""Politeness outlives the process: judged by the server, across stops and kills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site
from tests.killing import CrawlProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def requests_of(server: Site) -> list[str]:
    return [entry["path"] for entry in server.log()]


def test_a_killed_crawl_still_leaves_a_host_alone_and_knows_its_robots_txt(
    site: SiteFactory, tmp_path: Path
) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "2"}}
    pages = {"/": {"links": ["/a", "/b", "/no"]}, "/a": {"times": {"1": busy}}, "/b": {}}
    server = site({"robots": "User-agent: *\nDisallow: /no\n", "pages": pages})
    options = ["-a", f"seed={server.url()}", "-a", "concurrency=1"]
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until_said("answered 429: it is left alone")
        crawl.kill()
    before = server.log()
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0, crawl.errors()
    after = server.log()[len(before) :]
    assert after[0]["start"] - before[-1]["end"] >= 2
    assert sorted(entry["path"] for entry in after) == ["/a", "/b"]


@deferred_f_from_coro_f
async def test_a_host_without_robots_txt_is_left_alone_by_the_next_run_too(
    site: SiteFactory, tmp_path: Path
) -> None:
    robots = {"times": {"1": {"status": 503, "headers": {"Retry-After": "1"}}}, "body": ""}
    server = site({"robots": robots, "pages": {"/": {}}})
    settings = {"JOBDIR": str(tmp_path), "CLOSESPIDER_TIMEOUT": 0.3}
    first = await crawl_site(server.url(), settings)
    assert requests_of(server) == ["/robots.txt"]
    assert first.frontier.counts().queued == 1
    await crawl_site(server.url(), {"JOBDIR": str(tmp_path)})
    assert requests_of(server) == ["/robots.txt", "/robots.txt", "/"]
    assert server.gaps()[0] >= 1


@deferred_f_from_coro_f
async def test_failures_in_a_row_are_counted_over_runs(site: SiteFactory, tmp_path: Path) -> None:
    # The third attempt is cut short by the end of the crawl: it is nobody's failure.
    robots = {"drop": True, "times": {"3": {"hang": True}}}
    server = site({"robots": robots, "pages": {"/": {}}})
    settings = {"JOBDIR": str(tmp_path)}
    short = {"CLOSESPIDER_TIMEOUT": 1.5, "FRONTIER_RETRY_BACKOFF_SECONDS": 0.02}
    first = await crawl_site(server.url(), {**settings, **short})
    assert first.skipped() == {}
    assert len(requests_of(server)) == 3
    crawled = await crawl_site(server.url(), settings)
    assert len(requests_of(server)) == 4
    assert crawled.skipped() == {server.url(): "robots unreachable"}


@deferred_f_from_coro_f
async def test_the_next_run_tries_again_what_was_given_up(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"robots": {"status": 500}, "pages": {"/": {}, "/a": {}}})
    settings = {"JOBDIR": str(tmp_path)}
    await crawl_site(server.url("/"), {**settings, "POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0})
    assert len(requests_of(server)) == 1
    server.set({"robots": "", "pages": {"/": {}, "/a": {}}})
    crawled = await crawl_site(f"{server.url('/')} {server.url('/a')}", settings)
    assert crawled.pages[server.url("/a")].error is None
    assert "/a" in server.paths()


@deferred_f_from_coro_f
async def test_the_next_run_knows_what_a_host_asked_for_and_how_fast_it_was(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages = {"/": {"links": ["/a"], "delay": 0.3}, "/a": {"delay": 0.3}}
    server = site({"robots": "User-agent: *\nCrawl-delay: 0.2\n", "pages": pages})
    settings = {
        "JOBDIR": str(tmp_path),
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0,
    }
    # The end comes with the answer of the first page: robots.txt is one, too.
    first = await crawl_site(server.url(), {**settings, "CLOSESPIDER_PAGECOUNT": 2})
    assert first.frontier.counts().queued
    assert requests_of(server) == ["/robots.txt", "/"]
    await crawl_site(server.url(), settings)
    assert requests_of(server) == ["/robots.txt", "/", "/a"]
    # What the page of the first run took counts from the start of the next.
    for gap, least in zip(server.gaps(), (0.2, 0.29), strict=True):
        assert gap >= least
