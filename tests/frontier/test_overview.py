from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier import overview
from crawlproject.frontier.base import DEPTH, NOFOLLOW, Candidate, Counts, Robots, State
from crawlproject.frontier.overview import FullBudget, HostFacts, RobotsCounts, Seed, Waiting
from crawlproject.scope.traps import Budget
from tests.commands.inquiring import Crawl, url

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


def database(crawl: Crawl) -> sqlite3.Connection:
    return crawl.frontier.read().database


def test_states_and_reasons_are_counted(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, depth_limit=1)
    crawl.fetch("/", "/a", "/b", "/c", Candidate(url("/no"), NOFOLLOW))
    crawl.fetch("/a", "/deep")
    crawl.fetch("/b", error="timeout")
    assert overview.count(database(crawl)) == Counts(1, 0, 2, 1, {NOFOLLOW: 1, DEPTH: 1})
    assert overview.open_urls(database(crawl))
    crawl.fetch("/c")
    assert not overview.open_urls(database(crawl))
    crawl.close()


def test_an_empty_crawl_counts_nothing(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.frontier.take(0)
    db = database(crawl)
    db.execute("DELETE FROM urls")
    assert overview.count(db) == Counts()
    assert overview.waiting(db) == Waiting(0, 0, 0)
    assert overview.seeds(db, 5) == (0, [])
    crawl.close()


def test_those_that_wait_are_counted_by_what_they_wait_for(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/", "/later", budget=2)
    lease = crawl.frontier.take(0)
    assert lease is not None
    crawl.frontier.release(lease, until=50)
    crawl.frontier.admit([Candidate(url("/beyond"))])
    assert overview.waiting(database(crawl)) == Waiting(1, 0, 1)
    assert overview.open_urls(database(crawl))
    crawl.close()


def test_redirects_are_counted(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.redirect("/", "/new")
    assert overview.redirects(database(crawl)) == 1
    crawl.close()


def test_hosts_come_by_queue_and_by_requests(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", "/3", "https://other.example/", "https://third.example/")
    crawl.fetch("/1")
    crawl.fetch("/2")
    lease = crawl.frontier.take(0)
    assert lease is not None
    crawl.frontier.release(lease, until=50)
    crawl.frontier.admit([Candidate("https://other.example/2")])
    crawl.frontier.hold("other.example", until=100)
    crawl.frontier.set_min_delay("other.example", 5)
    crawl.frontier.overloaded("other.example", again=True)
    queues = overview.longest_queues(database(crawl), 2)
    assert queues == [
        HostFacts("other.example", 2, 0, 0, 1, 100, 0, 5, 0),
        HostFacts("site.example", 0, 1, 2, 0, None, 0, 0, 0),
    ]
    busiest = overview.busiest_hosts(database(crawl), 5)
    assert [(host.name, host.requests) for host in busiest] == [("site.example", 2)]
    assert overview.hosts_in_all(database(crawl), 99) == (3, 1)
    assert overview.hosts_in_all(database(crawl), 100) == (3, 0)
    crawl.close()


def test_robots_that_could_not_be_had_are_counted(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.frontier.keep_robots("https://a.example", Robots(b"", 1, 2))
    crawl.frontier.keep_robots("https://b.example", Robots(None, 1, 2, "timeout", 1))
    crawl.frontier.keep_robots("https://c.example", Robots(b"", 1, 1, "timeout", 1))
    assert overview.robots(database(crawl)) == RobotsCounts(3, 2, 1)
    crawl.close()


def test_a_budget_is_full_when_it_turned_a_url_away(tmp_path: Path) -> None:
    budget = Budget(
        "prefix site.example/cal",
        1,
        "prefix budget: SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal",
    )
    crawl = Crawl(tmp_path, budgets=lambda url: (budget,) if "/cal" in url else ())
    crawl.fetch("/", "/cal/1", "/cal/2", "/cal/3")
    crawl.fetch("/cal/1")
    assert overview.full_budgets(database(crawl), 5) == [
        FullBudget("SCOPE_MAX_PAGES_PER_PREFIX=1 for site.example/cal", 1, 2)
    ]
    crawl.close()


def test_seeds_are_where_the_crawl_began_and_not_where_they_redirect(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path, "/1", "/2", "/3")
    crawl.redirect("/1", "/new")
    assert overview.seeds(database(crawl), 2) == (
        3,
        [Seed(url("/1"), State.DONE), Seed(url("/2"), State.QUEUED)],
    )
    crawl.close()


def test_the_size_counts_what_is_not_in_the_main_file_yet(tmp_path: Path) -> None:
    assert overview.size(tmp_path) == 0
    crawl = Crawl(tmp_path)
    crawl.frontier.commit()
    assert overview.size(tmp_path) > (tmp_path / "crawl.db").stat().st_size
    crawl.close()
