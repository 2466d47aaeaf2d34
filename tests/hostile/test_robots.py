"""What a site can do to a crawl with its robots.txt."""

from __future__ import annotations

import os
import re
import signal
import tracemalloc
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject import settings as project
from crawlproject.frontier.base import Robots
from crawlproject.politeness.rules import RulesReader
from tests.counting import counted
from tests.crawling import crawl_site, scrapy
from tests.fleet import Fleet
from tests.killing import CrawlProcess, kill, start_crawl
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlproject.politeness.rules import Rules
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

TOKEN = "acmebot"
PARSER = project.ROBOTSTXT_PARSER
PROTEGO = "scrapy.robotstxt.ProtegoRobotParser"
LARGEST = project.POLITENESS_ROBOTS_MAX_BYTES


def rules_of(lines: list[str]) -> Rules:
    crawler = get_crawler(settings_dict={"ROBOTSTXT_PARSER": PARSER})
    body = "\n".join(["User-agent: *", *lines]).encode()
    assert len(body) <= LARGEST
    rules = RulesReader(crawler, TOKEN).read("http://a.com", Robots(body, 0, 9), 9)
    assert rules.error is None
    return rules


# A number of rules -> rules.
ATTACKS: dict[str, Callable[[int], list[str]]] = {
    "literals behind a wildcard": lambda n: [f"Disallow: /*x{i:05}y" for i in range(n)],
    "before and behind": lambda n: [f"Disallow: /p{i:05}*?print=" for i in range(n)],
    "endings": lambda n: [f"Disallow: /*.{i:05}$" for i in range(n)],
    "folders": lambda n: [f"Disallow: /{i:05}/" for i in range(n)],
    "one literal for all": lambda n: [f"Disallow: /*a*b*c{'*' * i}" for i in range(n // 100)],
    "many wildcards": lambda n: [f"Disallow: /{'*a' * (i % 50)}*{i:05}" for i in range(n // 4)],
    "two literals of few": lambda n: [
        f"Disallow: /*{i % 240:03}*{i // 240 % 240:03}" for i in range(n)
    ],
}
URLS = [
    "http://a.com/some/page.html",
    "http://a.com/" + "ab/cab" * 300 + "?q=x00001",
    "http://a.com/" + "a" * 2000,
    "http://a.com/" + "".join(f"{number:03}" for number in range(240)),
]


# Steps, of which a path may need so many, and instructions for each.
MOST_WORK = 20_000 * 20


@pytest.mark.parametrize("attack", ATTACKS)
def test_more_rules_cost_a_url_no_more_work(attack: str) -> None:
    few, more, most = (rules_of(ATTACKS[attack](number)) for number in (4_000, 8_000, 16_000))
    for url in URLS:
        work = [counted(partial(rules.allow, url)) for rules in (few, more, most)]
        # No more than for few rules, or what one URL may cost at most.
        assert work[2] < max(1.5 * work[0], MOST_WORK), (url, work)


def test_sixty_thousand_wildcard_rules_cost_as_much_as_the_url_is_long() -> None:
    rules = rules_of([f"Disallow:/*{number:05x}" for number in range(60_000)])
    assert not rules.allow(f"http://a.com/x/{59_999:05x}/y")
    assert rules.allow(f"http://a.com/x/{60_000:05x}/y")
    for url in URLS:
        assert counted(partial(rules.allow, url)) < 100 * len(url)


def test_what_can_not_be_decided_in_time_is_denied(caplog: pytest.LogCaptureFixture) -> None:
    """All patterns have all of their literals in the path, and none of them matches."""
    names = [f"x{number:03}y" for number in range(170)]
    lines = [f"Allow: /*{late}*{soon}" for soon in names for late in names if late > soon]
    rules = rules_of(lines)
    assert not rules.allow("http://a.com/" + "".join(names))
    assert not rules.allow("http://a.com/x" + "".join(names))
    assert caplog.text.count("too complex") == 1
    assert rules.allow("http://a.com/another/path")


def test_a_verdict_is_not_worked_out_twice() -> None:
    rules = rules_of([f"Disallow: /*a{number}" for number in range(1000)])
    first, again = (counted(partial(rules.allow, URLS[1])) for _ in range(2))
    assert again < first / 20


@pytest.mark.parametrize(
    "lines",
    [
        [f"Disallow: /*a{number}" for number in range(9_000)],
        [f"Allow:*{number:x}" for number in range(9_000)],
        [f"Disallow: /{number}" for number in range(9_000)],
        ["Disallow: /" + "*ab" * 100_000],
        ["Disallow: /" + "*a" * 200_000],
        ["Disallow: /" + "é" * 500_000],
        ["User-agent: x", "Disallow: /"] * 9_000,
    ],
    ids=range(7),
)
def test_rules_take_no_more_memory_than_is_counted(lines: list[str]) -> None:
    tracemalloc.start()
    try:
        rules = rules_of(lines)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Beside them: a crawler.
    assert taken < rules.size + 1_000_000
    # A byte of text takes so many at most.
    assert rules.size < 50 * sum(len(line) + 1 for line in lines)


# Control characters of C0 and C1, and what turns the direction of writing.
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
ACTS_ON_A_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def test_nothing_in_a_robots_txt_reaches_the_log_as_it_is(
    site: SiteFactory, tmp_path: Path
) -> None:
    lines = [
        f"{field}: {ESCAPES}" for field in ("Crawl-delay", "Request-rate", "Visit-time", "Sitemap")
    ]
    robots = "\n".join(["User-agent: *", *lines, f"Disallow: /{ESCAPES}"])
    server = site({"robots": robots, "pages": {"/": {}}})
    # It logs what it does not understand.
    options = ("-s", "LOG_LEVEL=DEBUG", "-s", f"ROBOTSTXT_PARSER={PROTEGO}")
    done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cannot set crawl delay" in done.stderr
    assert not ACTS_ON_A_TERMINAL.search(done.stderr)


# --- patience

AWAY = {"status": 503}
PAGES = {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}}
BACKOFF = 0.02


def away(times: int, **answer: Any) -> dict[str, Any]:
    """A robots.txt that can't be had so many times."""
    return {"times": {str(n + 1): answer or AWAY for n in range(times)}, "body": ""}


def requests_of(server: Site, host: str | None = None) -> list[str]:
    return [
        entry["path"]
        for entry in server.log()
        if host is None or str(entry["host"]).startswith(host)
    ]


@deferred_f_from_coro_f
async def test_a_deployment_does_not_end_the_crawl(site: SiteFactory) -> None:
    server = site({"robots": away(6), "pages": PAGES})
    crawled = await crawl_site(server.url(), {"FRONTIER_RETRY_BACKOFF_SECONDS": BACKOFF})
    # No page was asked for before its robots.txt was there.
    assert requests_of(server)[:7] == 7 * ["/robots.txt"]
    assert sorted(requests_of(server)[7:]) == ["/", "/a", "/b"]
    for number, gap in enumerate(server.gaps()[:6]):
        assert gap >= BACKOFF * 2**number
    assert crawled.skipped() == {}
    assert [page.error for page in crawled.pages.values()] == 3 * [None]


@pytest.mark.parametrize("answer", [{"status": 429}, {"drop": True}, {"hang": True}], ids=range(3))
@deferred_f_from_coro_f
async def test_a_host_that_has_answered_is_waited_for_whatever_happens_next(
    site: SiteFactory, answer: dict[str, Any]
) -> None:
    robots = away(6, **answer)
    robots["times"]["1"] = AWAY
    server = site({"robots": robots, "pages": PAGES})
    crawled = await crawl_site(server.url(), {"DOWNLOAD_TIMEOUT": 0.5})
    assert requests_of(server)[:7] == 7 * ["/robots.txt"]
    assert sorted(server.paths()) == ["/", "/a", "/b"]
    assert crawled.skipped() == {}


@deferred_f_from_coro_f
async def test_other_hosts_are_crawled_meanwhile(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    good, bad = "127.0.1.1", "127.0.1.2"
    hosts = {good: {"pages": PAGES}, bad: {"robots": away(4), "pages": PAGES}}
    server.set({"hosts": hosts})
    seeds = " ".join(server.url("/", host=host) for host in hosts)
    # Links wait for all seeds, because these decide about the scope; but not for this one.
    await crawl_site(seeds, {"FRONTIER_RETRY_BACKOFF_SECONDS": 0.2})
    assert sorted(requests_of(server, bad)) == ["/", "/a", "/b", *5 * ["/robots.txt"]]
    ends = [entry["end"] for entry in server.log() if str(entry["host"]).startswith(good)]
    tries = [e["start"] for e in server.log() if str(e["host"]).startswith(bad)][:5]
    assert max(ends) < tries[-1]


@deferred_f_from_coro_f
async def test_what_retry_after_asks_for_is_waited_for(site: SiteFactory) -> None:
    asked = {"status": 503, "headers": {"Retry-After": "1"}}
    server = site({"robots": away(1, **asked), "pages": {"/": {}}})
    # Longer than the crawl would wait by itself.
    await crawl_site(server.url(), {"POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0.1})
    assert requests_of(server) == ["/robots.txt", "/robots.txt", "/"]
    assert server.gaps()[0] >= 1


@deferred_f_from_coro_f
async def test_a_host_is_given_up_when_its_time_is_over(site: SiteFactory) -> None:
    server = site({"robots": AWAY, "pages": PAGES})
    settings = {
        "FRONTIER_RETRY_BACKOFF_SECONDS": BACKOFF,
        "POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0.5,
    }
    crawled = await crawl_site(server.url(), settings)
    tries = server.log()
    assert {entry["path"] for entry in tries} == {"/robots.txt"}
    assert tries[-1]["start"] - tries[0]["start"] >= 0.5
    (skip,) = crawled.frontier.skips()
    assert (skip.reason, skip.rule) == ("robots unreachable", "robots.txt answered 503")
    assert crawled.pages[server.url()].error == "robots: robots.txt answered 503"
    assert crawled.stats["robotstxt/unreachable"] == 1


def test_ctrl_c_ends_the_waiting_and_the_next_run_waits_again(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"robots": away(3), "pages": PAGES})
    options = ["-a", f"seed={server.url()}", "-a", "sitemaps=never"]
    options += ["-s", f"FRONTIER_RETRY_BACKOFF_SECONDS={BACKOFF}"]
    server.set({"robots": {**AWAY, "headers": {"Retry-After": "500"}}, "pages": PAGES})
    with CrawlProcess(tmp_path, *options, "-s", "POLITENESS_MAX_HOLD_SECONDS=1") as crawl:
        crawl.until_said("its URLs wait, for 300 s at most (POLITENESS_ROBOTS_UNREACHABLE_SECONDS)")
        crawl.interrupt()
        assert crawl.finish() == 0, crawl.errors()
    assert set(requests_of(server)) == {"/robots.txt"}
    before = len(server.log())
    server.set({"robots": away(2), "pages": PAGES})
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0, crawl.errors()
    after = server.log()[before:]
    assert [entry["path"] for entry in after[:3]] == 3 * ["/robots.txt"]
    assert sorted(entry["path"] for entry in after[3:]) == ["/", "/a", "/b"]
    # It is still left alone for as long as it asked for.
    assert after[0]["start"] - server.log()[before - 1]["end"] >= 1


def test_the_progress_line_says_whom_the_crawl_waits_for(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    server = site({"robots": {**AWAY, "headers": {"Retry-After": "500"}}, "pages": PAGES})
    master, slave = os.openpty()
    os.set_blocking(master, False)
    process = start_crawl(tmp_path, ["-a", f"seed={server.url()}"], slave)
    shown = b""

    def says_so() -> bool:
        nonlocal shown
        with suppress(BlockingIOError):
            shown += os.read(master, 65_536)
        words = rb"waiting for 127\.0\.0\.1 \(robots\.txt answered 503\): "
        return bool(re.search(words + rb"next try in 8 min, until \d\d:\d\d:\d\d", shown))

    try:
        wait_for(says_so)
        # It ends at once, and not when the host is to be tried again.
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        kill(process)
        os.close(slave)
        os.close(master)
    assert requests_of(server) == ["/robots.txt"]


def test_two_workers_wait_for_one_host_together(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site({"robots": away(5), "pages": PAGES})
    options = ("-a", f"seed={server.url()}", "-a", "sitemaps=never")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(2)
        assert fleet.finish() == [0, 0]
    assert requests_of(server)[:6] == 6 * ["/robots.txt"]
    assert sorted(requests_of(server)[6:]) == ["/", "/a", "/b"]
    # The back-off of one is the back-off of both.
    for number, gap in enumerate(server.gaps()[:5]):
        assert gap >= 0.01 * 2**number


@deferred_f_from_coro_f
async def test_a_sitemap_line_that_is_no_url_costs_nothing_else(
    site: SiteFactory, tmp_path: Path
) -> None:
    """At the first run, and at the next one, which has the robots.txt from the crawl directory."""
    robots = "User-agent: *\nCrawl-delay: 0.3\nSitemap: http://[x\nSitemap: http://\u2100/\n"
    server = site({"robots": robots, "pages": {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}}})
    settings = {"JOBDIR": str(tmp_path / "job"), "SITEMAPS_MODE": "always"}
    await crawl_site(server.url(), settings, max_pages="1")
    crawled = await crawl_site(server.url(), settings)
    assert {page.error for page in crawled.pages.values()} == {None}
    assert set(server.paths()) == {"/", "/a", "/b"}
    log = server.log()
    gaps = [later["start"] - before["end"] for before, later in pairwise(log)]
    assert min(gaps) >= 0.3
