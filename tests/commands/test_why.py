"""What a user is told about a URL."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.commands.times import clock, distance, iso, moment_of
from crawlproject.commands.wording import steps
from crawlproject.frontier.base import NOFOLLOW, Candidate, Robots
from crawlproject.frontier.clock import now
from crawlproject.frontier.database import Claim
from crawlproject.frontier.entry import SITEMAP
from crawlproject.frontier.notes import SEEDS
from crawlproject.frontier.visits import Recrawl
from crawlproject.items import Page
from crawlproject.records import PAGE, record_of
from crawlproject.recrawl.interval import DAY, Intervals
from crawlproject.scope.traps import Budget
from tests.commands.inquiring import FETCHED_AT, SITE, Crawl, ask, url
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    CapFd = pytest.CaptureFixture[str]

KEYS = [
    "asked",
    "summary",
    "url",
    "state",
    "depth",
    "way",
    "redirects_to",
    "redirected_from",
    "page",
    "attempts",
    "error",
    "reason",
    "rule",
    "remedy",
    "waits_for",
    "ahead",
    "due_at",
    "visits",
    "sitemap",
    "names",
    "host",
    "robots",
    "near",
    "is_over",
    "running",
]


def why(capfd: CapFd, path: str, folder: Path) -> dict[str, Any]:
    answer = ask(capfd, "why", url(path), folder, "--json")
    assert answer.err == ""
    account: dict[str, Any] = json.loads(answer.out)
    assert list(account) == KEYS
    assert answer.status == (1 if account["state"] is None else 0)
    return account


def said(capfd: CapFd, path: str, folder: Path) -> str:
    answer = ask(capfd, "why", url(path), folder)
    assert answer.err == ""
    return answer.out


def seeded(folder: Path, *seeds: str) -> Crawl:
    """A crawl that remembers its seeds."""
    crawl = Crawl(folder, *seeds)
    crawl.frontier.remember(SEEDS, json.dumps([url(seed) for seed in seeds]))
    return crawl


# --- states


def test_a_fetched_page_is_told_with_its_answer_and_its_way(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", "/old")
    crawl.redirect("/old", "/new")
    crawl.fetch("/new", title="New\x1b[31m\npage", fetched_at=None)
    crawl.close()
    assert said(capfd, "/new", tmp_path) == (
        f"{SITE}/new\n"
        "It was fetched.\n"
        "\n"
        "  status  200 OK\n"
        "  title   New\ufffd[31m page\n"
        "  type    text/html\n"
        "  size    7.9 kB\n"
        "  time    12 ms\n"
        "  depth   1\n"
        "\n"
        "The way to it\n"
        f"  seed      {SITE}/\n"
        f"  link      {SITE}/old\n"
        f"  redirect  {SITE}/new\n"
        "\n"
        "Redirected from\n"
        f"  {SITE}/old\n"
    )
    account = why(capfd, "/", tmp_path)
    assert account["page"] == {
        "status_code": 200,
        "error": None,
        "content_type": "text/html",
        "bytes": 7936,
        "title": "Page /",
        "fetch_ms": 12,
        "fetched_at": FETCHED_AT,
    }
    assert account["way"] == [{"url": f"{SITE}/", "lead": "seed"}]
    assert "2026-11-16 02:23:31 UTC" in said(capfd, "/", tmp_path)
    assert why(capfd, "/old", tmp_path)["summary"] == f"It redirects to {SITE}/new."


def test_a_redirect_is_told_with_its_answer(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/old")
    crawl.redirect("/old", "/new", status=301)
    crawl.fetch("/new")
    assert crawl.frontier.read().count_pages() == 1
    crawl.close()
    text = said(capfd, "/old", tmp_path)
    assert f"It redirects to {SITE}/new.\n" in text
    assert "  fetched  2026-11-16 02:23:31 UTC" in text
    assert "  status   301 Moved Permanently\n" in text
    page = why(capfd, "/old", tmp_path)["page"]
    assert (page["status_code"], page["error"], page["fetched_at"]) == (301, None, FETCHED_AT)


def test_a_redirect_of_a_crawl_that_kept_no_answer_is_told_without_one(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path, "/old")
    crawl.redirect("/old", "/new")
    crawl.close()
    account = why(capfd, "/old", tmp_path)
    assert (account["summary"], account["page"]) == (f"It redirects to {SITE}/new.", None)


def test_a_page_that_a_pipeline_has_changed_beyond_recognition_is_told(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch(
        "/", status_code="odd", bytes="many", fetch_ms=[1], title={"a": 1}, fetched_at="today"
    )
    crawl.close()
    text = said(capfd, "/", tmp_path)
    assert "status  odd\n" in text
    assert "title   {'a': 1}\n" in text


def test_a_failure_is_told_with_error_and_attempts(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    lease = crawl.frontier.take(0)
    assert lease is not None
    lease.attempts = 2
    crawl.frontier.release(lease, until=0)
    crawl.fetch("/", error="timeout", status_code=None)
    crawl.close()
    account = why(capfd, "/", tmp_path)
    assert (account["state"], account["error"], account["attempts"]) == ("failed", "timeout", 3)
    assert account["summary"] == (
        "It failed: timeout (no complete answer in time), after 3 attempts."
    )


def test_a_page_that_says_that_nothing_was_asked_for_has_no_time(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path)
    lease = crawl.frontier.take(0)
    assert lease is not None
    page = Page(lease.url, error="robots", fetched_at=FETCHED_AT)
    lease.skip, lease.records = "robots", [(PAGE, record_of(page))]
    crawl.frontier.finish(lease)
    crawl.close()
    text = said(capfd, "/", tmp_path)
    assert "that robots.txt forbids" in text
    assert "2026" not in text


def test_a_queued_url_is_told_with_its_place_and_its_host(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", "/3")
    crawl.frontier.set_min_delay("site.example", 5)
    crawl.frontier.hold("site.example", until=now() + 3600)
    crawl.frontier.overloaded("site.example", again=True)
    crawl.frontier.keep_robots(SITE, Robots(b"x", now() - 60, now() + 60))
    crawl.close()
    account = why(capfd, "/3", tmp_path)
    assert (account["waits_for"], account["ahead"]) == ("host", 2)
    assert account["host"]["name"] == "site.example"
    assert account["host"]["crawl_delay_seconds"] == 5
    assert account["robots"]["state"] == "rules"
    assert account["summary"].startswith(
        "It is queued: 2 URLs of site.example come before it. No crawl runs here now"
    )
    text = said(capfd, "/3", tmp_path)
    assert "site.example, ready in " in text
    assert "delay 5 s (Crawl-delay), overloaded 1 time in a row, 0 requests" in text
    assert "robots.txt  has rules, asked 1 min 0 s ago" in text
    assert "it is the next of site.example." in why(capfd, "/1", tmp_path)["summary"]


def test_a_url_that_waits_for_a_retry_is_told_when(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    lease = crawl.frontier.take(0)
    assert lease is not None
    lease.attempts = 1
    crawl.frontier.release(lease, until=now() + 7200)
    crawl.close()
    account = why(capfd, "/", tmp_path)
    assert (account["waits_for"], account["attempts"], account["ahead"]) == ("retry", 1, None)
    assert moment_of(account["due_at"])
    assert "1 attempt failed, it is tried again in " in account["summary"]


def test_what_waits_for_its_level_or_beyond_max_pages_is_told(capfd: CapFd, tmp_path: Path) -> None:
    group = (Budget("prefix g", 5, "prefix budget"),)
    crawl = Crawl(tmp_path / "level", budgets=lambda url: group if "/cal" in url else ())
    crawl.fetch("/", "/a", "/b")
    crawl.fetch("/a", "/cal/1")
    crawl.close()
    account = why(capfd, "/cal/1", tmp_path / "level")
    assert (account["waits_for"], account["ahead"]) == ("level", 1)
    assert "until the 1 URL nearer to the seeds is done" in account["summary"]
    crawl = Crawl(tmp_path / "pages", budget=1)
    crawl.fetch("/", "/a", "/b")
    crawl.close()
    account = why(capfd, "/b", tmp_path / "pages")
    assert (account["waits_for"], account["ahead"]) == ("max_pages", 1)
    assert "beyond max_pages, with 1 URL before it" in account["summary"]


def test_a_lease_is_being_fetched_or_was_when_the_crawl_was_killed(
    capfd: CapFd, tmp_path: Path
) -> None:
    running, killed = tmp_path / "running", tmp_path / "killed"
    claim = Claim(running)
    crawl = Crawl(running)
    crawl.frontier.take(0)
    crawl.frontier.commit()
    shutil.copytree(running, killed)
    account = why(capfd, "/", running)
    assert (account["state"], account["summary"]) == ("leased", "It is being fetched.")
    assert account["host"]["in_flight"] == 1
    assert account["running"] is not None
    account = why(capfd, "/", killed)
    assert account["running"] is None
    assert "when the crawl was killed: the next run fetches it again" in account["summary"]
    crawl.close()
    claim.release()


def test_an_answer_whose_links_wait_is_no_lease_any_more(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", budget=9)
    first, second = crawl.frontier.take(0), crawl.frontier.take(0)
    assert first is not None
    assert second is not None
    crawl.frontier.finish(second)
    crawl.frontier.commit()
    account = why(capfd, "/2", tmp_path)
    assert account["waits_for"] == "links"
    assert account["summary"].startswith("It was fetched; its links wait")
    crawl.close()


@pytest.mark.parametrize(
    ("reason", "summary", "rule", "remedy"),
    [
        (NOFOLLOW, "all URLs marked nofollow", None, "-a respect_nofollow=no"),
        ("excluded: /no", "all URLs excluded by a pattern", "/no", "a narrower -a exclude="),
        (
            "url too long: URLLENGTH_LIMIT=10",
            "all URLs longer than 2,083 characters",
            "URLLENGTH_LIMIT=10",
            "-s URLLENGTH_LIMIT=N",
        ),
        ("robots", "all URLs that robots.txt forbids", None, None),
        (
            "robots unreachable: timeout",
            "all URLs whose robots.txt could not be had",
            "timeout",
            None,
        ),
        ("house rule: 7", "It was skipped: house rule.", "7", None),
    ],
)
def test_a_skipped_url_is_told_with_reason_rule_and_remedy(
    capfd: CapFd, tmp_path: Path, reason: str, summary: str, rule: str | None, remedy: str | None
) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", Candidate(url("/no"), reason))
    crawl.close()
    account = why(capfd, "/no", tmp_path)
    assert (account["state"], account["rule"], account["remedy"]) == ("skipped", rule, remedy)
    assert account["reason"] == reason.partition(":")[0]
    assert summary in account["summary"]
    assert account["way"][0] == {"url": f"{SITE}/", "lead": "seed"}


def test_the_depth_limit_is_the_crawls_and_not_that_of_the_settings(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path, depth_limit=3)
    crawl.frontier.remember("scope", json.dumps({"DEPTH_LIMIT": 3}))
    crawl.frontier.admit([Candidate(url("/deep"))], depth=4)
    crawl.close()
    assert "all URLs deeper than 3 links (depth=3)." in said(capfd, "/deep", tmp_path)


def test_notes_that_make_no_sense_are_passed_over(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, depth_limit=3)
    crawl.frontier.remember("scope", "[1")
    crawl.frontier.admit([Candidate(url("/deep"))], depth=4)
    crawl.close()
    assert "all URLs deeper than 16 links" in said(capfd, "/deep", tmp_path)


def test_a_url_never_seen_gives_1_and_those_that_come_near(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", Candidate(url("/about"), NOFOLLOW), "/news/")
    crawl.frontier.keep_robots(SITE, Robots(None, 0, 1, "timeout", 1))
    crawl.frontier.commit()
    account = why(capfd, "/about/", tmp_path)
    assert (account["state"], account["is_over"]) == (None, False)
    assert account["near"] == [
        {
            "url": f"{SITE}/about",
            "state": "skipped",
            "reason": NOFOLLOW,
            "how": "no slash at its end",
        },
        {"url": f"{SITE}/", "state": "done", "reason": None, "how": "the nearest above"},
    ]
    assert "it may yet be found" in account["summary"]
    crawl.fetch("/news/")
    crawl.close()
    text = said(capfd, "/about/", tmp_path)
    assert "It was never seen: no page that was fetched links to it.\n" in text
    assert "robots.txt  could not be had: timeout" in text
    assert f"  skipped: nofollow  {SITE}/about  no slash at its end\n" in text


# --- how it is asked


@pytest.mark.parametrize(
    "asked",
    [
        "site.example/a",
        "SITE.example/a",
        "https://site.example/a#top",
        "https://site.example:443/x/../a?utm_source=mail",
    ],
)
def test_every_spelling_of_a_url_is_understood(capfd: CapFd, tmp_path: Path, asked: str) -> None:
    Crawl(tmp_path, "/a").close()
    answer = ask(capfd, "why", asked, tmp_path, "--json")
    assert (answer.status, json.loads(answer.out)["url"]) == (0, f"{SITE}/a")


def test_without_a_scheme_the_one_that_is_known_is_meant(capfd: CapFd, tmp_path: Path) -> None:
    Crawl(tmp_path, "http://site.example/a").close()
    answer = ask(capfd, "why", "site.example/a", tmp_path, "--json")
    assert json.loads(answer.out)["url"] == "http://site.example/a"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("/a?b=1#c", "/a?b=1"), ("/", "/"), ("/tmp/", "/tmp/"), ("/no/../a?b=1", "/a?b=1")],  # noqa: S108
)
def test_a_path_alone_is_of_the_seeds_host(
    capfd: CapFd, tmp_path: Path, asked: str, expected: str
) -> None:
    # Directories of this machine among them.
    seeded(tmp_path, "/", "/a?b=1", "/tmp/").close()  # noqa: S108
    answer = ask(capfd, "why", asked, tmp_path, "--json")
    assert (answer.status, json.loads(answer.out)["url"]) == (0, url(expected))


def test_a_path_alone_is_of_the_host_that_the_seed_leads_to(capfd: CapFd, tmp_path: Path) -> None:
    crawl = seeded(tmp_path, "http://site.example/", "/")
    crawl.redirect("http://site.example/", "/")
    crawl.redirect("/", "https://www.site.example/")
    crawl.fetch("https://www.site.example/", "https://www.site.example/a")
    crawl.close()
    for asked, expected in {
        "/a": "https://www.site.example/a",
        "/b": "https://www.site.example/b",
    }.items():
        answer = ask(capfd, "why", asked, tmp_path, "--json")
        assert json.loads(answer.out)["url"] == expected


def test_a_path_alone_that_may_be_on_several_hosts_is_refused_with_the_choices(
    capfd: CapFd, tmp_path: Path
) -> None:
    seeded(tmp_path / "two", "/", "http://other.example:8080/x").close()
    answer = ask(capfd, "why", "/a", tmp_path / "two")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == (
        "scrapy why: error: URL: '/a' may be on any of 2 hosts: give one of "
        f"{SITE}/a, http://other.example:8080/a\n"
    )
    seeded(tmp_path / "many", *(f"https://{number}.example/" for number in range(9))).close()
    answer = ask(capfd, "why", "/a", tmp_path / "many")
    assert answer.err.endswith("https://3.example/a, https://4.example/a …\n")
    Crawl(tmp_path / "none").close()
    answer = ask(capfd, "why", "/a", tmp_path / "none")
    assert answer.err == (
        "scrapy why: error: URL: '/a' has no host, and the crawl no seed: give a whole URL\n"
    )


def test_the_directory_may_be_the_setting(capfd: CapFd, tmp_path: Path) -> None:
    Crawl(tmp_path).close()
    assert ask(capfd, "why", f"{SITE}/", "-s", f"JOBDIR={tmp_path}").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "URL: missing: give URL CRAWLDIR [options]"),
        (["https://x"], "CRAWLDIR: missing: give URL CRAWLDIR [options]"),
        (["https://x", "@", "more"], "unknown argument 'more'; give URL CRAWLDIR [options]"),
        (["https://x", "@", "--jsno"], "unknown option '--jsno'; did you mean --json?"),
        (["https://x", "@", "-z"], "unknown option '-z'; --help lists the options"),
        (["ftp://x", "@"], "URL: not a crawlable URL: 'ftp://x'"),
        (["mailto:a@b", "@"], "URL: not a crawlable URL: 'mailto:a@b'"),
        (["@", "https://x"], "URL: '@' is a directory: give URL CRAWLDIR [options]"),
        (["https://x", "@/no"], "there is no crawl in '@/no'"),
        (["https://x", "@/foreign"], "'@/foreign/crawl.db' is damaged, or no crawl database"),
        (["https://x", "@", "-s", "JOBDIR"], "Invalid -s value, use -s NAME=VALUE"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    capfd: CapFd, tmp_path: Path, arguments: list[str], message: str
) -> None:
    Crawl(tmp_path).close()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/crawl.db").write_text("something else")
    given = [argument.replace("@", str(tmp_path)) for argument in arguments]
    given = [given_ if given_ != f"JOB{tmp_path}" else "JOBDIR" for given_ in given]
    answer = ask(capfd, "why", *given)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"scrapy why: error: {message.replace('@', str(tmp_path))}")
    assert answer.err.count("\n") == 1


def test_a_damaged_database_gets_one_line(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", *(f"/page-{number}" for number in range(500)))
    crawl.close()
    path = tmp_path / "crawl.db"
    content = path.read_bytes()
    # The first pages of the file, with the schema, stay readable.
    path.write_bytes(content[: 8 * 8192] + b"\xff" * (len(content) - 8 * 8192))
    answer = ask(capfd, "why", f"{SITE}/page-1", tmp_path)
    assert answer.status == 2
    assert answer.err.startswith(f"scrapy why: error: can't read '{tmp_path}")
    assert answer.err.count("\n") == 1


def test_help_says_what_the_exit_status_means(capfd: CapFd) -> None:
    answer = ask(capfd, "why", "--help")
    assert answer.status == 0
    assert "scrapy why URL CRAWLDIR [options]" in answer.out
    assert "1 never seen" in " ".join(answer.out.split())


def test_every_key_is_documented() -> None:
    text = (PROJECT / "docs/usage.md").read_text()
    table = text.partition("| key of `why --json` |")[2].partition("\n\n")[0]
    first_column = " ".join(row.split("|")[1] for row in table.splitlines()[2:])
    assert set(re.findall(r"`(\w+)`", first_column)) == set(KEYS)


# --- words


def test_the_middle_of_a_long_way_is_left_out() -> None:
    way = [{"lead": "link", "url": str(number)} for number in range(25)]
    rows = steps(way)
    assert len(rows) == 21
    assert rows[10] == ("…", "5 more")
    assert (rows[0][1], rows[-1][1]) == ("0", "24")
    assert len(steps(way[:20])) == 20


@pytest.mark.parametrize("moment", [1e300, float("nan"), float("inf"), -1e15])
def test_impossible_moments_are_told_somehow(moment: float) -> None:
    assert iso(moment) is None
    assert clock(moment, 0)


def test_moments_are_told_with_their_distance() -> None:
    assert clock(1_794_796_000, 1_794_796_090) == "2026-11-16 02:26:40 UTC (1 min 30 s ago)"
    assert distance(100, 88) == "in 12.0 s"
    assert distance(0, 86_400 * 3) == "3 days ago"
    assert moment_of(iso(1_794_796_000.25)) == 1_794_796_000.25
    assert moment_of("soon") is None


# --- visits and sitemaps


def test_it_is_told_when_somebody_comes_back(capfd: CapFd, tmp_path: Path) -> None:
    moment = now()
    crawl = Crawl(tmp_path, recrawl=Recrawl())
    crawl.fetch("/", "/gone", now=moment - 40 * DAY)
    crawl.fetch("/gone", "/", now=moment - 40 * DAY)
    assert crawl.frontier.revisit(moment - DAY) == 2
    crawl.fetch("/", "/gone", now=moment - DAY, title="Another")
    crawl.fetch("/gone", now=moment - DAY, status_code=404, error="unexpected status 404")
    crawl.close()
    visits = why(capfd, "/", tmp_path)["visits"]
    assert (visits["visits"], visits["change"]) == (2, "changed")
    assert 0 < visits["changes_a_day"] < 1
    assert "  last change  changed, 24 h 0 min ago\n" in said(capfd, "/", tmp_path)
    assert "  visited      2 times, last 24 h 0 min ago\n" in said(capfd, "/", tmp_path)
    assert why(capfd, "/gone", tmp_path)["visits"]["change"] == "gone"
    assert "  next visit   now\n" in said(capfd, "/gone", tmp_path)


def test_nobody_comes_back_to_a_page_that_was_looked_for_often_enough(
    capfd: CapFd, tmp_path: Path
) -> None:
    moment = now()
    crawl = Crawl(tmp_path, recrawl=Recrawl(Intervals(gone_visits=1)))
    crawl.fetch("/", now=moment, status_code=404, error="unexpected status 404")
    crawl.close()
    assert why(capfd, "/", tmp_path)["visits"]["next_at"] is None
    assert "  next visit  not any more\n" in said(capfd, "/", tmp_path)


def test_a_page_that_a_sitemap_names_is_told_with_what_it_says(
    capfd: CapFd, tmp_path: Path
) -> None:
    crawl = seeded(tmp_path, "/")
    crawl.frontier.admit([Candidate(f"{url('/sitemap.xml')}{SITEMAP}")], 1)
    crawl.fetch("/")
    crawl.read_sitemap("/sitemap.xml", "/orphan", hint={"lastmod": "2026-01-02", "priority": 0.8})
    crawl.fetch("/orphan")
    crawl.close()
    account = why(capfd, "/orphan", tmp_path)
    assert account["depth"] == 1
    assert account["way"] == [
        {"url": url("/sitemap.xml"), "lead": "site"},
        {"url": url("/orphan"), "lead": "sitemap"},
    ]
    assert account["sitemap"] == {
        "url": url("/sitemap.xml"),
        "lastmod": "2026-01-02",
        "priority": 0.8,
    }
    line = f"  in sitemap  {url('/sitemap.xml')}, lastmod 2026-01-02, priority 0.8\n"
    assert line in said(capfd, "/orphan", tmp_path)
    assert why(capfd, "/sitemap.xml", tmp_path)["names"] == 1
    assert "It is a sitemap, and names 1 URL." in said(capfd, "/sitemap.xml", tmp_path)


def test_a_page_that_nobody_links_to_any_more_is_told(capfd: CapFd, tmp_path: Path) -> None:
    moment = now()
    crawl = Crawl(tmp_path, recrawl=Recrawl())
    crawl.fetch("/", "/a", now=moment - 40 * DAY)
    crawl.fetch("/a", "/", now=moment - 40 * DAY)
    assert crawl.frontier.revisit(moment) == 2
    crawl.fetch("/", now=moment)
    crawl.fetch("/a", now=moment)
    assert crawl.frontier.settle(moment) == 1
    crawl.close()
    account = why(capfd, "/a", tmp_path)
    assert (account["state"], account["reason"]) == ("skipped", "unlinked")
    assert "as are all URLs that no page links to any more" in account["summary"]
