"""The contract of ``frontier/base.py``. Every engine passes it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier.base import (
    DEPTH,
    DUPLICATE,
    NOFOLLOW,
    UNLINKED,
    Candidate,
    Facts,
    Skip,
)
from crawlproject.frontier.database import DATABASE
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.questions import Questions
from crawlproject.records import PAGE
from crawlproject.scope.traps import Budget
from tests.frontier.engines import drain, failed, fetched, moved, opened, take

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.engines import Engine


def test_a_url_has_one_entry_however_often_it_is_admitted(engine: Engine) -> None:
    frontier = engine()
    assert frontier.admit([Candidate("a/1"), Candidate("a/1")]) == 1
    assert frontier.admit([Candidate("a/1")]) == 0
    assert frontier.unknown(["a/2"]) == ["a/2"]
    assert drain(frontier) == ["a/1"]
    assert frontier.exhausted()


def test_a_page_may_link_to_a_new_url_twice(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1")])
    lease = take(frontier)
    lease.found = [Candidate("a/2", NOFOLLOW), Candidate("a/3"), Candidate("a/2")]
    frontier.landed(lease, 0)
    frontier.finish(lease)
    assert sorted(drain(frontier)) == ["a/2", "a/3"]
    assert list(frontier.skips()) == []


def test_shallow_urls_come_first_and_among_them_the_ones_found_first(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/x", "a/b")
    fetched(frontier, take(frontier), "a/deep")
    frontier.admit([Candidate("a/late")], depth=1)
    assert drain(frontier) == ["a/b", "a/late", "a/deep"]


def test_a_lease_ends_in_a_state(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1"), Candidate("a/2"), Candidate("a/3")])
    first, second = take(frontier), take(frontier)
    assert (frontier.counts().queued, frontier.counts().leased) == (1, 2)
    assert not frontier.exhausted()
    fetched(frontier, first)
    second.failed = True
    fetched(frontier, second)
    counts = frontier.counts()
    assert (counts.queued, counts.leased, counts.done, counts.failed) == (1, 0, 1, 1)
    assert counts.open == 1


def test_hosts_are_counted_by_what_may_be_done_with_them(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(2, 1)})
    assert frontier.hosts(0).total == 0
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    lease = take(frontier)
    hosts = frontier.hosts(0)
    assert (hosts.total, hosts.ready, hosts.held) == (1, 1, 0)
    assert (hosts.mean_delay, hosts.longest_delay, list(hosts.requests)) == (2, 2, [1])
    frontier.hold("a", 60)
    assert frontier.hosts(0).held == 1
    assert frontier.hosts(60).held == 0
    fetched(frontier, lease)


def test_a_released_url_is_queued_again_not_before_its_time(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    lease = take(frontier)
    lease.attempts = 1
    frontier.landed(lease, 0)
    frontier.release(lease, until=5)
    assert drain(frontier) == ["a/2"]
    assert frontier.take(4.9) is None
    assert frontier.next_ready(4.9) == 5
    assert not frontier.exhausted()
    again = take(frontier, 5)
    assert (again.url, again.attempts) == ("a/1", 1)


def test_a_released_url_can_be_fetched_under_another_spelling(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1")])
    lease = take(frontier)
    lease.bounces = 1
    frontier.release(lease, until=0, fetch_url="a/1?sid=7")
    again = take(frontier)
    assert (again.url, again.fetch_url, again.bounces) == ("a/1", "a/1?sid=7", 1)


def test_skipped_urls_are_kept_with_reason_depth_and_referrer(engine: Engine) -> None:
    frontier = engine(depth_limit=1)
    frontier.admit([Candidate("a/seed")])
    lease = take(frontier)
    lease.found = [Candidate("b/x", "offsite"), Candidate("a/quiet", NOFOLLOW), Candidate("a/1")]
    frontier.finish(lease)
    fetched(frontier, take(frontier), "a/deep")
    assert sorted(frontier.skips(), key=lambda skip: skip.url) == [
        Skip("a/deep", DEPTH, 2, "a/1", "DEPTH_LIMIT=1"),
        Skip("a/quiet", NOFOLLOW, 1, "a/seed"),
        Skip("b/x", "offsite", 1, "a/seed"),
    ]
    assert frontier.counts().skipped == {DEPTH: 1, NOFOLLOW: 1, "offsite": 1}
    assert frontier.exhausted()


def test_a_followable_link_lets_in_what_was_only_marked_nofollow(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/seed")])
    lease = take(frontier)
    lease.found = [Candidate("a/quiet", NOFOLLOW), Candidate("a/1")]
    frontier.finish(lease)
    fetched(frontier, take(frontier), "a/quiet")
    quiet = take(frontier)
    assert (quiet.url, quiet.depth, quiet.referrer) == ("a/quiet", 2, "a/1")
    assert frontier.counts().skipped == {}


def test_a_nofollow_link_is_no_shorter_way(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/1", "a/2")
    first, second = take(frontier), take(frontier)
    fetched(frontier, second, "a/3")
    fetched(frontier, take(frontier), "a/far")
    first.found = [Candidate("a/far", NOFOLLOW)]
    frontier.finish(first)
    assert take(frontier).depth == 3


def test_a_nofollow_link_opens_nothing_that_is_too_deep(engine: Engine) -> None:
    frontier = engine(depth_limit=1, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed"), Candidate("a/other")])
    seed, other = take(frontier), take(frontier)
    fetched(frontier, seed, "a/1")
    fetched(frontier, take(frontier), "a/deep")
    other.found = [Candidate("a/deep", NOFOLLOW)]
    frontier.finish(other)
    assert frontier.exhausted()
    assert frontier.counts().skipped == {DEPTH: 1}


def test_with_seeds_first_links_wait_for_all_seeds(engine: Engine) -> None:
    frontier = engine(seeds_first=True, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    first, second = take(frontier), take(frontier)
    fetched(frontier, first, "a/link")
    assert frontier.take(0) is None
    assert not frontier.exhausted()
    fetched(frontier, second)
    assert drain(frontier) == ["a/link"]


def test_links_can_be_freed_from_waiting_for_seeds(engine: Engine) -> None:
    frontier = engine(seeds_first=True, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    first, second = take(frontier), take(frontier)
    fetched(frontier, first, "a/link")
    assert frontier.take(0) is None
    frontier.free_links()
    frontier.commit()
    link = take(frontier)
    assert link.url == "a/link"
    fetched(frontier, link, "a/deep")
    assert take(frontier).url == "a/deep"
    frontier.free_links()
    fetched(frontier, second, "a/late")
    assert take(frontier).url == "a/late"


def test_a_turn_at_a_host_can_be_taken_for_something_else(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(2.0, 1)})
    frontier.admit([Candidate("a/1")])
    assert frontier.acquire_turn("a", 0) == 0
    assert frontier.take(0) is None
    assert frontier.acquire_turn("a", 0) > 0
    frontier.release_turn("a", 5)
    assert frontier.take(6.9) is None
    assert frontier.acquire_turn("a", 6) == 1
    # Who was told to wait does not come back.
    assert take(frontier, 7.1).url == "a/1"


def test_reconsidered_urls_come_in_and_so_do_those_judged_before_but_finished_later(
    engine: Engine,
) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    first, second = take(frontier), take(frontier)
    first.found = [Candidate("b/x", "offsite"), Candidate("c/x", "offsite")]
    second.found = [Candidate("b/y", "offsite")]
    frontier.finish(first)

    def judge(url: str) -> str | None:
        return None if url.startswith("b/") else "offsite"

    assert frontier.reconsider("offsite", judge) == 1
    frontier.finish(second)
    assert sorted(drain(frontier)) == ["b/x", "b/y"]
    assert frontier.counts().skipped == {"offsite": 1}


def test_the_referrer_is_the_first_by_url_of_the_pages_one_level_above(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/b", "a/a", "a/target")
    leases = {lease.url: lease for lease in (take(frontier), take(frontier))}
    fetched(frontier, leases["a/b"], "a/child")
    fetched(frontier, leases["a/a"], "a/child", "a/target")
    assert frontier.facts("a/child") == Facts(2, "a/a", ())
    assert frontier.facts("a/target") == Facts(1, "a/seed", ())
    assert frontier.facts("a/unknown") is None


def test_a_redirect_hands_depth_and_referrer_on(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/old")
    for target in ("a/older", "a/new"):
        lease = take(frontier)
        lease.redirect = target
        frontier.finish(lease)
    new = take(frontier)
    assert (new.depth, new.hops, new.referrer) == (1, 2, "a/seed")
    assert new.redirected_from == ("a/old", "a/older")
    fetched(frontier, new)
    assert frontier.facts("a/new") == Facts(1, "a/seed", ("a/old", "a/older"))
    assert frontier.depths() == {0: 1, 1: 1}


def test_a_redirect_loop_is_reported_once_by_its_first_url(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/z")])
    for target in ("a/y", "a/x", "a/z"):
        lease = take(frontier)
        lease.redirect = target
        frontier.finish(lease)
    report = take(frontier)
    assert (report.url, report.verdict) == ("a/x", "redirect loop")
    report.failed = True
    frontier.finish(report)
    assert frontier.exhausted()
    assert frontier.depths() == {0: 1}


def test_one_redirect_too_many_is_reported_until_a_way_with_fewer_is_found(engine: Engine) -> None:
    frontier = engine(max_redirects=1, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed"), Candidate("a/old")])
    seed, old = take(frontier), take(frontier)
    old.redirect = "a/older"
    frontier.finish(old)
    older = take(frontier)
    older.redirect = "a/new"
    frontier.finish(older)
    report = take(frontier)
    assert (report.url, report.verdict) == ("a/older", "too many redirects")
    report.failed = True
    frontier.finish(report)
    assert frontier.facts("a/older") == Facts(0, None, ("a/old",))
    # A link leads to it, without the redirect before.
    fetched(frontier, seed, "a/older")
    assert drain(frontier) == ["a/new"]
    facts = frontier.facts("a/older")
    assert facts is not None
    assert not facts.is_page
    assert frontier.exhausted()


@pytest.mark.parametrize("budget", [None, 9])
def test_what_a_redirect_answered_is_kept_but_is_no_page(
    engine: Engine, budget: int | None
) -> None:
    frontier = engine(budget=budget, max_redirects=3, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed"), Candidate("a/old"), Candidate("a/1")])
    seed, old, chain = take(frontier), take(frontier), take(frontier)
    # With a budget it waits for its turn.
    moved(frontier, old, "a/new")
    moved(frontier, chain, "a/2")
    assert frontier.read().count_pages() == 0
    fetched(frontier, seed)
    fetched(frontier, take(frontier))
    # A loop, and then one redirect too many, of whose reports no page is kept.
    moved(frontier, take(frontier), "a/1")
    failed(frontier, take(frontier))
    frontier.admit([Candidate("a/way0")])
    for number in range(1, 5):
        moved(frontier, take(frontier), f"a/way{number}")
    failed(frontier, take(frontier))
    assert frontier.exhausted()
    assert list(frontier.read().pages()) == []
    questions = Questions(frontier.read().database)
    kept = {}
    for url in ("a/old", "a/new", "a/1", "a/2", "a/way2", "a/way3"):
        known = questions.find(url)
        assert known is not None
        page = questions.page(known)
        kept[url] = page and page["status_code"]
    assert kept == {
        "a/old": 301,
        "a/new": None,
        "a/1": None,
        "a/2": 301,
        "a/way2": 301,
        "a/way3": None,
    }


def test_in_flight_per_host_stays_within_its_cap(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 2), "b": HostLimits(0, 1)})
    frontier.admit(Candidate(f"{host}/{n}") for host in "ab" for n in range(3))
    leases = [take(frontier) for _ in range(3)]
    assert sorted(lease.host for lease in leases) == ["a", "a", "b"]
    assert frontier.take(0) is None
    frontier.landed(leases[0], 0)
    assert take(frontier).host == leases[0].host


def test_a_delay_counts_from_the_last_completion_and_leaves_room_for_several_requests(
    engine: Engine,
) -> None:
    frontier = engine(limits={"a": HostLimits(2.0, 2)})
    frontier.admit(Candidate(f"a/{number}") for number in range(1, 6))
    first, second = take(frontier, now=10), take(frontier, now=11)
    assert frontier.take(49) is None
    frontier.landed(first, 50)
    # The completion of one of two delays the next start, though there is room for it.
    assert frontier.take(51.9) is None
    assert frontier.next_ready(51.9) == 52
    frontier.landed(second, 51.95)
    assert frontier.next_ready(52) == 53.95
    assert frontier.take(53.9) is None
    assert [take(frontier, 53.95).url, take(frontier, 54).url] == ["a/3", "a/4"]
    assert frontier.take(99) is None


def test_with_a_crawl_delay_a_host_gets_one_request_at_a_time(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 4)})
    frontier.admit(Candidate(f"a/{number}") for number in range(1, 5))
    frontier.set_min_delay("a", 3)
    lease = take(frontier, now=10)
    assert frontier.take(50) is None
    frontier.landed(lease, 50)
    assert frontier.take(52.9) is None
    assert frontier.next_ready(52.9) == 53
    take(frontier, 53)
    assert frontier.take(99) is None


def test_a_rate_counts_from_start_to_start(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 3, rate=2.0)})
    frontier.admit(Candidate(f"a/{number}") for number in range(1, 8))
    first = take(frontier, now=10)
    assert frontier.take(10.4) is None
    assert frontier.next_ready(10.4) == 10.5
    second = take(frontier, now=10.5)
    # A completion changes nothing.
    frontier.landed(first, 10.6)
    assert frontier.take(10.9) is None
    take(frontier, now=11)
    take(frontier, now=11.5)
    # Three are in flight: one more would be too many.
    assert frontier.take(20) is None
    frontier.landed(second, 20)
    take(frontier, now=20)
    assert frontier.take(20.4) is None


def test_a_rate_holds_for_requests_without_a_lease_too(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 9, rate=0.5)})
    frontier.admit([Candidate("a/1")])
    assert frontier.acquire_turn("a", 10) == 0
    assert frontier.acquire_turn("a", 10.5) == 1.5
    assert frontier.take(11.9) is None
    take(frontier, now=12.1)


def test_what_never_reached_the_host_costs_neither_delay_nor_rate(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(2.0, 2, rate=0.1)})
    frontier.admit([Candidate("a/denied"), Candidate("a/2"), Candidate("a/3")])
    denied = take(frontier, now=1)
    frontier.finish(denied)
    lease = take(frontier, now=1)
    assert lease.url == "a/2"
    # The other one has started, so this one waits.
    assert frontier.take(10.9) is None
    frontier.landed(lease, 5)
    assert take(frontier, now=11).url == "a/3"


def test_autothrottle_spaces_starts_within_the_concurrency(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(0, 2, start_delay=1.0, max_throttle=4.0)})
    frontier.admit(Candidate(f"a/{number}") for number in range(1, 8))
    first = take(frontier, now=10)
    assert frontier.take(10.9) is None
    assert frontier.next_ready(10.9) == 11
    second = take(frontier, now=11)
    frontier.set_throttle("a", 3)
    frontier.landed(first, 12)
    assert frontier.take(12) is None
    assert frontier.next_ready(12) == 14
    third = take(frontier, now=14)
    # Never more than the maximum.
    frontier.set_throttle("a", 30)
    frontier.landed(second, 15)
    frontier.landed(third, 15)
    assert frontier.take(15) is None
    assert frontier.next_ready(15) == 18


def test_a_held_host_is_passed_over_until_its_time(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1"), Candidate("b/1")])
    frontier.hold("a", 7)
    assert take(frontier, 0).url == "b/1"
    assert frontier.take(6) is None
    assert take(frontier, 7).url == "a/1"


def test_a_throttled_host_never_gets_less_than_it_insists_on(engine: Engine) -> None:
    frontier = engine(limits={"a": HostLimits(1.0, 1)})
    frontier.admit(Candidate(f"a/{n}") for n in range(4))

    def next_start(end: float) -> float | None:
        lease = take(frontier, end)
        frontier.landed(lease, end)
        return frontier.next_ready(end)

    assert next_start(0) == 1
    frontier.set_throttle("a", 3)
    assert next_start(10) == 13
    frontier.set_min_delay("a", 2)
    frontier.set_throttle("a", 0.1)
    assert next_start(20) == 22


def test_at_the_bound_discovery_waits_and_nothing_is_dropped(engine: Engine) -> None:
    frontier = engine(capacity=2, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/1", "a/2", "a/3")
    first = take(frontier)
    fetched(frontier, first, "a/1/1", "a/1/2")
    # Two are queued: the links of the page wait, and it is not done.
    assert frontier.facts("a/1/1") is None
    assert frontier.counts().leased == 1
    assert drain(frontier) == ["a/2", "a/3", "a/1/1", "a/1/2"]
    assert frontier.exhausted()


def test_a_held_host_that_fills_the_queue_does_not_keep_the_links_of_others(
    engine: Engine,
) -> None:
    frontier = engine(capacity=2)
    frontier.admit([Candidate("a/seed"), Candidate("b/seed")])
    seeds = [take(frontier), take(frontier)]
    fetched(frontier, seeds[0], "a/1", "a/2", "a/3")
    frontier.hold("a", 600)
    fetched(frontier, seeds[1], "a/4", "b/1")
    fetched(frontier, take(frontier, 1), "b/2", now=1)
    assert drain(frontier, 2) == ["b/2"]
    assert frontier.next_ready(3) == 600
    assert drain(frontier, 600) == ["a/1", "a/2", "a/3", "a/4"]
    assert frontier.exhausted()


def test_at_the_bound_a_delay_is_no_reason_to_let_more_in(engine: Engine) -> None:
    frontier = engine(capacity=1, limits={"a": HostLimits(60, 1)})
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    fetched(frontier, take(frontier), "b/1")
    assert frontier.take(1) is None
    assert frontier.facts("b/1") is None
    assert take(frontier, 60).url == "a/2"
    assert take(frontier, 60).url == "b/1"


def test_a_budget_is_never_exceeded_and_what_is_beyond_stays_queued(engine: Engine) -> None:
    frontier = engine(budget=3, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/1", "a/2", "a/3", "a/4")
    first, second = take(frontier), take(frontier)
    assert frontier.take(0) is None
    fetched(frontier, second, "a/5")
    fetched(frontier, first)
    assert frontier.exhausted()
    assert frontier.counts().queued == 3


def test_a_redirect_to_a_known_page_gives_its_place_in_the_budget_back(engine: Engine) -> None:
    frontier = engine(budget=3, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/seed")])
    fetched(frontier, take(frontier), "a/1", "a/to-seed", "a/2")
    fetched(frontier, take(frontier))
    lease = take(frontier)
    lease.redirect = "a/seed"
    frontier.finish(lease)
    assert drain(frontier) == ["a/2"]


def test_a_request_of_a_spiders_own_comes_back_as_it_was(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/form#1", None, "POST")], depth=2)
    lease = take(frontier)
    assert (lease.request, lease.depth) == ("POST", 2)


@pytest.mark.parametrize("reason", ["offsite: SCOPE=host", NOFOLLOW, DUPLICATE, UNLINKED])
def test_a_request_of_a_spiders_own_lets_in_what_was_skipped(engine: Engine, reason: str) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1", reason)], depth=1)
    assert not frontier.is_duplicate("a/1", 3)
    frontier.admit([Candidate("a/1", None, "GET")], depth=3)
    lease = take(frontier)
    assert (lease.url, lease.request, lease.depth) == ("a/1", "GET", 3)
    assert list(frontier.skips()) == []
    # The link that was not followed does not change it any more.
    frontier.admit([Candidate("a/1", reason)], depth=1)
    fetched(frontier, lease)
    assert frontier.facts("a/1") == Facts(3, None, ())


def test_a_request_that_is_too_deep_is_none_that_was_made(engine: Engine) -> None:
    frontier = engine(depth_limit=2)
    frontier.admit([Candidate("a/1", None, "deep")], depth=4)
    frontier.admit([Candidate("a/1", None, "less deep")], depth=3)
    assert frontier.exhausted()
    assert not frontier.is_duplicate("a/1", 2)
    frontier.admit([Candidate("a/1", None, "GET")], depth=2)
    lease = take(frontier)
    assert (lease.request, lease.depth) == ("GET", 2)
    assert drain(frontier) == []


def test_what_robots_txt_denies_is_not_let_in_by_another_request(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1")])
    lease = take(frontier)
    lease.skip = "robots: Disallow: /"
    frontier.finish(lease)
    frontier.admit([Candidate("a/1", None, "GET")])
    assert frontier.exhausted()
    assert [skip.reason for skip in frontier.skips()] == ["robots"]


def test_what_was_just_admitted_is_known(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.admit([Candidate("a/1"), Candidate("b/1", "offsite")])
    assert frontier.unknown(["a/1", "c/1", "b/1"]) == ["c/1"]


def test_where_nobody_goes_on_it_is_committed_when_there_is_enough(tmp_path: Path) -> None:
    frontier = opened(tmp_path, batch=2, is_lasting=False)

    def committed() -> int:
        with closing(sqlite3.connect(tmp_path / "crawl.db")) as database:
            count: int = database.execute("SELECT count(*) FROM urls").fetchone()[0]
        return count

    frontier.admit([Candidate("a/1")])
    frontier.commit()
    fetched(frontier, take(frontier), "a/2", "b/1")
    frontier.hold("b", 10)
    frontier.commit()
    assert committed() == 0
    fetched(frontier, take(frontier), "a/3")
    assert committed() == 4
    fetched(frontier, take(frontier), "a/4")
    assert committed() == 4
    # Who reads it, reads all of it.
    assert frontier.depths() == {0: 1, 1: 1, 2: 1}
    assert committed() == 5
    frontier.close()


def test_pages_do_not_gather_in_memory(tmp_path: Path) -> None:
    frontier = opened(tmp_path, batch=1_000)
    frontier.admit(Candidate(f"a/{number}") for number in range(20))
    most = 0
    for _ in range(20):
        lease = take(frontier)
        lease.records = [(PAGE, {"url": lease.url, "links": [], "title": "x" * 1_000_000})]
        frontier.landed(lease, 0)
        frontier.finish(lease)
        most = max(most, frontier._store._harvest.length)
    assert 1_000_000 < most < 6_000_000
    assert frontier.read().count_pages() == 20


def test_nor_do_items(tmp_path: Path) -> None:
    frontier = opened(tmp_path, batch=1_000)
    for _ in range(20):
        frontier.keep_item("thing", {"text": "x" * 1_000_000})
        assert frontier._store._harvest.length < 6_000_000
    assert frontier.read().count_others() == 20


def test_after_a_restart_no_host_is_asked_sooner_than_its_delay(tmp_path: Path) -> None:
    limits = {"a": HostLimits(2.0, 1), "b": HostLimits(0, 1), "e": HostLimits(1, 4, rate=0.25)}
    first = opened(tmp_path, limits, now=0)
    first.admit(Candidate(f"{host}/{number}") for host in "abcde" for number in range(2))
    take(first, 0)
    first.set_min_delay("b", 3)
    first.hold("c", 30)
    first.commit()
    again = opened(tmp_path, limits, now=10)
    ready: dict[str, int] = {}
    for now in range(10, 40):
        while (lease := again.take(now)) is not None:
            ready.setdefault(lease.host, now)
            again.finish(lease)
    # Its delay, its Crawl-delay, its hold; nothing; its rate.
    assert ready == {"a": 12, "b": 13, "c": 30, "d": 10, "e": 14}


def test_a_hold_is_not_for_ever_when_the_clock_was_put_back(tmp_path: Path) -> None:
    first = opened(tmp_path, now=1_000_000)
    first.admit([Candidate("a/1")])
    first.hold("a", 1_000_060)
    first.commit()
    again = opened(tmp_path, now=0)
    assert again.take(86_399) is None
    assert again.take(86_401) is not None


def test_other_hosts_can_be_made_of_the_same_urls(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.admit([Candidate("a/1"), Candidate("b/1")])
    first.commit()
    again = opened(tmp_path, host_of=lambda url: "both", hosts_by="domain")
    assert [take(again).host, take(again).host] == ["both", "both"]


def test_more_links_than_the_cache_holds_are_met_once(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/one"), Candidate("a/two")])
    leases = [take(frontier), take(frontier)]
    for lease in leases:
        fetched(frontier, lease, *(f"a/{number}" for number in range(40_000)))
    assert frontier.counts().queued == 40_000
    assert frontier.read().database.execute(
        "SELECT count(DISTINCT url), count(*) FROM urls"
    ).fetchone() == (40_002, 40_002)


def test_what_waits_for_its_turn_is_in_turn_after_a_restart(tmp_path: Path) -> None:
    options: dict[str, Any] = {"budget": 900, "limits": {"a": HostLimits(0, 2_000)}}
    first = opened(tmp_path, **options)
    first.admit(Candidate(f"a/{number}") for number in range(800))
    slow = take(first)
    while (lease := first.take(0)) is not None:
        fetched(first, lease, f"{lease.url}/link")
    first.commit()
    again = opened(tmp_path, **options)
    # The slow one is next, and all the others have answered.
    lease = take(again)
    assert lease.url == slow.url
    fetched(again, lease, "a/its-link")
    assert take(again).url == "a/its-link"


def test_a_retry_is_not_for_ever_when_the_clock_was_put_back(tmp_path: Path) -> None:
    first = opened(tmp_path, now=1_000_000)
    first.admit([Candidate("a/1")])
    first.release(take(first, 1_000_000), until=1_000_060)
    first.commit()
    again = opened(tmp_path, now=0)
    assert again.take(86_401) is not None


def test_another_idea_of_a_host_forgets_no_hold(tmp_path: Path) -> None:
    first = opened(tmp_path, now=0)
    first.admit([Candidate("a/1"), Candidate("b/1")])
    first.hold("a", 60)
    first.commit()
    again = opened(tmp_path, now=1, host_of=lambda url: "both", hosts_by="domain")
    assert again.take(59) is None
    assert again.take(61) is not None


def test_a_place_in_a_budget_is_given_back_by_what_leaves_the_scope(tmp_path: Path) -> None:
    frontier = opened(tmp_path, budgets=lambda url: (Budget("g", 2, "budget"),))
    frontier.admit([Candidate("a/1"), Candidate("a/2")], depth=1)
    assert frontier.rejudge(lambda url: "excluded") == (2, 0)
    assert frontier.rejudge(lambda url: None) == (0, 2)
    assert sorted(drain(frontier)) == ["a/1", "a/2"]


def test_answers_that_wait_are_judged_by_the_scope_of_now(tmp_path: Path) -> None:
    options: dict[str, Any] = {"capacity": 1, "limits": {"a": HostLimits(0, 9)}}
    first = opened(tmp_path, **options)
    first.admit([Candidate("a/1"), Candidate("a/2"), Candidate("a/3")])
    lease = take(first)
    lease.found = [Candidate("a/new"), Candidate("a/old", "excluded")]
    first.finish(lease)
    assert first.counts().leased == 1
    first.commit()
    again = opened(tmp_path, **options, judge=lambda url: "excluded" if "new" in url else None)
    assert drain(again) == ["a/2", "a/3", "a/old"]
    assert again.counts().skipped == {"excluded": 1}


def test_a_shorter_way_is_passed_on_though_a_pipeline_changed_the_links(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/slow"), Candidate("a/quick")])
    slow, quick = take(frontier), take(frontier)
    fetched(frontier, quick, "a/between")
    fetched(frontier, take(frontier), "a/page")
    page = take(frontier)
    record = {"url": page.url, "status_code": 200, "links": ["a/shown"]}
    page.records = [("page", record)]
    fetched(frontier, page, "a/behind")
    fetched(frontier, slow, "a/page")
    facts = frontier.facts("a/behind")
    assert facts is not None
    assert facts.depth == 2
    ((_, shown),) = frontier.read().pages()
    assert shown["links"] == ["a/shown"]
    ((_, counted),) = frontier.read().pages(with_links=False)
    assert counted["outlinks"] == 1


def test_a_file_that_is_gone_ends_the_crawl(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.watch(tmp_path / DATABASE)
    frontier.admit([Candidate("a/1")])
    frontier.commit()
    assert frontier.failure is None
    (tmp_path / DATABASE).unlink()
    frontier.commit()
    assert frontier.failure is not None
    assert "is gone" in frontier.failure
    assert frontier.exhausted()


def test_a_scope_that_changes_makes_room_in_a_page_budget(engine: Engine) -> None:
    frontier = engine(budget=4)
    frontier.admit([Candidate("a/")])
    fetched(frontier, take(frontier), "a/1", "a/2", "a/3", "a/4", "a/5")
    assert frontier.rejudge(lambda url: "excluded" if url in {"a/1", "a/3"} else None) == (2, 0)
    asked = []
    while not frontier.exhausted():
        asked.append(take(frontier))
        fetched(frontier, asked[-1])
    assert [lease.url for lease in asked] == ["a/2", "a/4", "a/5"]


def test_what_failed_may_be_tried_again_within_a_page_budget(engine: Engine) -> None:
    frontier = engine(budget=1)
    frontier.admit([Candidate("a/")])
    lease = take(frontier)
    frontier.landed(lease, 0)
    failed(frontier, lease)
    assert frontier.exhausted()
    assert frontier.retry(failed=True) == 1
    fetched(frontier, take(frontier), "a/1")
    assert frontier.exhausted()


def test_a_smaller_page_budget_takes_back_what_was_let_in(tmp_path: Path) -> None:
    frontier = opened(tmp_path, budget=4)
    frontier.admit([Candidate("a/")])
    fetched(frontier, take(frontier), "a/1", "a/2", "a/3", "a/4")
    frontier.close()
    frontier = opened(tmp_path, budget=2)
    assert take(frontier).url == "a/1"
    assert frontier.take(0) is None
    frontier.close()
