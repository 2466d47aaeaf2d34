"""What a user is told about a crawl as a whole."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from crawlproject.commands.sheet import Sheet
from crawlproject.frontier.base import NOFOLLOW, Candidate, Robots
from crawlproject.frontier.clock import now
from crawlproject.frontier.database import DATABASE, Claim, connect
from crawlproject.frontier.notes import ROUND
from crawlproject.frontier.visits import Recrawl
from crawlproject.recrawl.interval import DAY
from crawlproject.scope.traps import Budget
from tests.commands.inquiring import SITE, Crawl, ask, url
from tests.crawling import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.frontier.base import Frontier

    CapFd = pytest.CaptureFixture[str]

CALENDAR = Budget(
    "prefix site.example/cal", 1, "prefix budget: SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal"
)


def overview(capfd: CapFd, folder: Path, *options: str) -> dict[str, Any]:
    answer = ask(capfd, "frontier", folder, "--json", *options)
    assert (answer.status, answer.err) == (0, "")
    values: dict[str, Any] = json.loads(answer.out)
    return values


def a_crawl(folder: Path) -> Crawl:
    crawl = Crawl(folder, budgets=lambda url: (CALENDAR,) if "/cal" in url else ())
    crawl.fetch("/", "/old", "/a", "/cal/1", "/cal/2", Candidate(url("/no"), NOFOLLOW))
    crawl.redirect("/old", "/new")
    crawl.fetch("/a", error="timeout")
    # The last page beside the calendar: now its budget is spent.
    crawl.fetch("/new", "/more")
    crawl.frontier.admit([Candidate("https://other.example/")], depth=1)
    crawl.frontier.keep_robots(SITE, Robots(b"", 1, 2))
    crawl.frontier.keep_robots("https://other.example", Robots(None, 1, 2, "timeout", 1))
    crawl.frontier.set_min_delay("other.example", 5)
    crawl.frontier.hold("other.example", now() + 7200.5)
    crawl.frontier.overloaded("site.example", again=True)
    return crawl


def test_everything_is_counted(capfd: CapFd, tmp_path: Path) -> None:
    a_crawl(tmp_path).close()
    values = overview(capfd, tmp_path)
    host = values["hosts"].pop("longest_queues")[1]
    busiest = values["hosts"].pop("busiest")[0]
    text = (PROJECT / "docs/usage.md").read_text()
    table = text.partition("| key of `frontier --json` |")[2].partition("\n\n")[0]
    first_column = " ".join(row.split("|")[1] for row in table.splitlines()[2:])
    assert set(re.findall(r"`(\w+)`", first_column)) == set(values)
    assert values.pop("bytes") > 0
    assert values == {
        "directory": str(tmp_path),
        "running": None,
        "urls": {"queued": 3, "leased": 0, "done": 3, "failed": 1, "skipped": 2, "total": 9},
        "redirects": 1,
        "waiting": {"retry": 0, "level": 0, "max_pages": 0},
        "skipped": {NOFOLLOW: 1, "prefix budget": 1},
        "hosts": {"total": 2, "not_ready": 1},
        "visits": {"due": 0, "next_at": None, "last_round": None},
        "robots": {"origins": 2, "unreachable": 1, "awaited": 0},
        "full_budgets": [
            {
                "rule": "SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal",
                "spent": 1,
                "turned_away": 1,
            }
        ],
        "seeds": {"total": 1, "first": [{"url": f"{SITE}/", "state": "done"}]},
        "fleet": None,
    }
    assert host.pop("ready_at")
    assert host == {
        "name": "other.example",
        "queued": 1,
        "retries": 0,
        "requests": 0,
        "failures": 0,
        "set_delay_seconds": 0.0,
        "crawl_delay_seconds": 5.0,
        "autothrottle_delay_seconds": 0.0,
    }
    assert (busiest["name"], busiest["requests"], busiest["failures"]) == ("site.example", 4, 1)


def test_the_same_is_told_in_words(capfd: CapFd, tmp_path: Path) -> None:
    a_crawl(tmp_path).close()
    answer = ask(capfd, "frontier", tmp_path)
    assert (answer.status, answer.err) == (0, "")
    headline, *rest = answer.out.splitlines()
    assert headline.startswith(f"9 URLs in {tmp_path} (")
    assert rest == [
        "No crawl runs here now.",
        "robots.txt was asked of 2 origins; 1 could not be had, so nothing is fetched there.",
        "",
        "URLs",
        "  queued   3",
        "  leased   0",
        "  done     3  1 of them redirects",
        "  failed   1",
        "  skipped  2",
        "",
        "Skipped URLs, and what lets them in",
        "  1  marked nofollow                                      -a respect_nofollow=no",
        "  1  beyond the budget of a calendar, facets or the like  -s SCOPE_MAX_PAGES_PER_PREFIX=N",
        "",
        "Hosts by queue, of 2 (1 not ready)",
        "  host           queued  retries  ready         delay",
        "  site.example        2        0  now           -",
        "  other.example       1        0  in 2 h 0 min  5 s (Crawl-delay)",
        "",
        "Hosts by requests",
        "  host          requests  overloaded  ready  delay",
        "  site.example         4           1  now    -",
        "",
        "Full budgets",
        "  spent  turned away",
        "      1            1  SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal",
        "",
        "Seeds",
        f"  done  {SITE}/",
    ]


def test_an_empty_block_is_left_out(capfd: CapFd, tmp_path: Path) -> None:
    Crawl(tmp_path).close()
    out = ask(capfd, "frontier", tmp_path).out
    for title in ("Skipped", "Hosts by requests", "Full budgets", "robots.txt"):
        assert title not in out


def test_the_number_of_rows_is_a_choice_and_what_is_left_out_is_counted(
    capfd: CapFd, tmp_path: Path
) -> None:
    Crawl(tmp_path, *(f"https://h{number}.example/" for number in range(12))).close()
    out = ask(capfd, "frontier", tmp_path).out
    assert out.count("https://h") == 10
    assert out.endswith("  and 2 more\n")
    values = overview(capfd, tmp_path, "--hosts", "3")
    assert len(values["hosts"]["longest_queues"]) == len(values["seeds"]["first"]) == 3
    values = overview(capfd, tmp_path, "--hosts", "0")
    assert (values["hosts"]["longest_queues"], len(values["seeds"]["first"])) == ([], 10)
    text = ask(capfd, "frontier", tmp_path, "--hosts", "0").out
    assert "Hosts" not in text
    assert "\nSeeds\n" in text


def test_it_is_known_whether_a_crawl_runs(capfd: CapFd, tmp_path: Path) -> None:
    claim = Claim(tmp_path)
    crawl = Crawl(tmp_path, "/1", "/2")
    crawl.frontier.take(0)
    crawl.frontier.commit()
    assert overview(capfd, tmp_path)["running"] == os.getpid()
    out = ask(capfd, "frontier", tmp_path).out
    assert f"\nProcess {os.getpid()} crawls here now.\n" in out
    assert "killed" not in out
    claim.release()
    assert "by a run that was killed" in ask(capfd, "frontier", tmp_path).out
    crawl.close()


def test_those_that_wait_are_explained(capfd: CapFd, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", "/3", budget=1)
    lease = crawl.frontier.take(0)
    assert lease is not None
    crawl.frontier.release(lease, now() + 60)
    crawl.close()
    out = ask(capfd, "frontier", tmp_path).out
    assert "  queued   3  1 to be tried again later, 2 beyond max_pages\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "CRAWLDIR: missing: give CRAWLDIR [options]"),
        (["@", "--hosts", "many"], "--hosts: 'many' is not a number of rows, such as 20"),
        (["@", "--hosts=-1"], "--hosts: '-1' is not a number of rows, such as 20"),
        (["@", "--hosts"], "argument --hosts: expected one argument"),
        (["@", "--hsots=3"], "unknown option '--hsots=3'; did you mean --hosts?"),
        (["@/no"], "there is no crawl in '@/no'"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    capfd: CapFd, tmp_path: Path, arguments: list[str], message: str
) -> None:
    Crawl(tmp_path).close()
    answer = ask(capfd, "frontier", *(part.replace("@", str(tmp_path)) for part in arguments))
    assert (answer.status, answer.out) == (2, "")
    expected = f"scrapy frontier: error: {message.replace('@', str(tmp_path))}"
    assert answer.err.startswith(expected)
    assert answer.err.count("\n") == 1


def test_a_terminal_gets_colours_and_folded_lines() -> None:
    sheet = Sheet(Console(width=30, force_terminal=True, color_system="standard"))
    sheet.say("Headline")
    sheet.pairs("Title", [("label", "long " * 10), ("url", "x" * 1000)])
    text = str(sheet)
    assert "\x1b[1mHeadline" in text
    assert "x" * 40 not in text
    # A site may have links of any length, and a reader has one screen.
    assert text.count("x") == 400
    assert "…" in text


@pytest.mark.parametrize("command", [("why", SITE), ("frontier",), ("skipped",)])
def test_who_looks_into_a_crawl_leaves_nothing_behind(
    capfd: CapFd, tmp_path: Path, command: tuple[str, ...]
) -> None:
    connect(tmp_path).close()
    assert ask(capfd, *command, tmp_path).err == ""
    assert [path.name for path in tmp_path.iterdir()] == [DATABASE]


def test_what_is_due_is_told(capfd: CapFd, tmp_path: Path) -> None:
    moment = now()
    crawl = Crawl(tmp_path, recrawl=Recrawl())
    crawl.fetch("/", "/a", now=moment)
    crawl.fetch("/a", "/", now=moment)
    crawl.close()
    visits = overview(capfd, tmp_path)["visits"]
    assert (visits["due"], visits["last_round"]) == (0, None)
    said = ask(capfd, "frontier", tmp_path).out
    assert "No page is due: the next one is, in 4 days." in said
    crawl = Crawl(tmp_path, recrawl=Recrawl())
    remember_round(crawl.frontier, moment + 1)
    assert crawl.frontier.revisit(moment + 40 * DAY) == 2
    crawl.fetch("/", "/a", "/b", now=moment + 40 * DAY, title="Another")
    crawl.close()
    visits = overview(capfd, tmp_path)["visits"]
    assert visits["due"] == 0
    assert visits["last_round"]["visited"] == 1
    assert visits["last_round"]["changes"] == {"changed": 1}


def remember_round(frontier: Frontier, began_at: float) -> None:
    note = {"number": 2, "began_at": began_at, "mode": "all", "is_open": False}
    frontier.remember(ROUND, json.dumps(note))
