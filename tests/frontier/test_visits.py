"""The part of the contract that is about visits. Every engine passes it."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier import clock
from crawlproject.frontier.base import UNLINKED, Candidate
from crawlproject.frontier.entry import SITEMAP
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.notes import ROUND
from crawlproject.frontier.overview import last_round
from crawlproject.frontier.rounds import DUE, Round
from crawlproject.frontier.visits import Recrawl
from crawlproject.items import Content
from crawlproject.records import PAGE
from crawlproject.recrawl.interval import DAY, Intervals
from crawlproject.recrawl.visit import Visit
from tests.frontier.engines import take

if TYPE_CHECKING:
    from crawlproject.frontier.base import Frontier, Lease
    from tests.frontier.engines import Engine

RECRAWL = Recrawl()


def visited(
    frontier: Frontier,
    url: str,
    *links: str,
    now: float = 0,
    text: str = "",
    lease: Lease | None = None,
    **visit: Any,
) -> None:
    """The next URL is this one; its page has come, and says when."""
    lease = lease or take(frontier, now)
    assert lease.url == url
    lease.found = [Candidate(link) for link in links]
    lease.records = [(PAGE, {"url": url, "status_code": 200, "links": list(links)})]
    lease.content = Content(sha256(f"{text} {links}".encode()).digest())
    lease.visit = Visit(now, **visit)
    frontier.landed(lease, now)
    frontier.finish(lease)


def revisit(frontier: Frontier, now: float, *, everything: bool = False) -> int:
    return frontier.revisit(now, before=now if everything else None)


def pages(frontier: Frontier) -> dict[str, list[str]]:
    return {page["url"]: page["links"] for _, page in frontier.read().pages()}


def changes(frontier: Frontier) -> dict[str, str]:
    return dict(
        frontier.read().database.execute("SELECT url, kind FROM changes JOIN urls USING (id)")
    )


def test_what_is_not_due_is_not_visited(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1")
    assert frontier.exhausted()
    assert revisit(frontier, DAY) == 0
    assert frontier.take(DAY) is None
    assert revisit(frontier, 30 * DAY) == 1
    counts = frontier.counts()
    assert (counts.done, counts.queued + counts.leased) in ((0, 1), (1, 0))


def test_all_can_be_visited_whether_they_are_due_or_not(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", etag='"1"', last_modified="yesterday")
    assert revisit(frontier, 60.0, everything=True) == 1
    lease = take(frontier, 60.0)
    assert lease.is_again
    assert (lease.etag, lease.last_modified) == ('"1"', "yesterday")
    visited(frontier, "a/1", now=60, lease=lease)
    assert frontier.exhausted()
    # It said no more the second time.
    assert revisit(frontier, 90.0, everything=True) == 1
    assert take(frontier, 90.0).etag is None


def test_without_a_wish_to_come_back_nothing_is_kept_for_it(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1")
    assert revisit(frontier, 1e9) == 0


def test_a_page_that_has_not_changed_stays_as_it_is(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2", etag='"1"')
    visited(frontier, "a/2")
    revisit(frontier, 60.0, everything=True)
    for lease in (take(frontier, 60.0), take(frontier, 60.0)):
        lease.is_unchanged, lease.visit = True, Visit(60.0, etag='"1"')
        frontier.landed(lease, 60.0)
        frontier.finish(lease)
    assert frontier.exhausted()
    assert pages(frontier) == {"a/1": ["a/2"], "a/2": []}
    assert changes(frontier) == {}
    assert frontier.counts().done == 2


def test_while_it_is_visited_a_page_is_what_it_was(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2")
    visited(frontier, "a/2")
    revisit(frontier, 60.0, everything=True)
    take(frontier, 60.0)
    assert pages(frontier) == {"a/1": ["a/2"], "a/2": []}


def test_what_deserves_it_most_comes_first(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2", "a/3")
    visited(frontier, "a/2", "a/3")
    # One that many link to, and one that was visited much later.
    visited(frontier, "a/3", "a/1", now=50 * DAY)
    assert revisit(frontier, 60 * DAY) == 3
    order = []
    for _ in range(3):
        lease = take(frontier, 60 * DAY)
        order.append(lease.url)
        visited(frontier, lease.url, now=60 * DAY, lease=lease)
    assert order == ["a/1", "a/2", "a/3"]


@pytest.mark.parametrize(("share", "expected"), [(0.0, "nnvv"), (0.5, "nvnv"), (1.0, "vvnn")])
def test_visits_get_their_share_and_new_urls_theirs(
    engine: Engine, share: float, expected: str
) -> None:
    frontier = engine(recrawl=RECRAWL, share=share, limits={"a": HostLimits(0, 9)})
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    visited(frontier, "a/1")
    visited(frontier, "a/2")
    frontier.admit([Candidate("a/3"), Candidate("a/4")])
    assert revisit(frontier, 60.0, everything=True) == 2
    leases = [take(frontier, 60.0) for _ in range(4)]
    assert "".join("nv"[lease.is_again] for lease in leases) == expected
    for lease in leases:
        visited(frontier, lease.url, now=60, lease=lease)
    assert frontier.exhausted()


def test_a_link_that_has_gone_takes_what_is_behind_it_along(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2")
    visited(frontier, "a/2", "a/3")
    visited(frontier, "a/3")
    revisit(frontier, 60.0, everything=True)
    links = {"a/1": [], "a/2": ["a/3"], "a/3": []}
    for _ in links:
        lease = take(frontier, 60.0)
        visited(frontier, lease.url, *links[lease.url], now=60, lease=lease)
    assert frontier.settle(60.0) == 2
    assert {*pages(frontier)} == {"a/1"}
    assert {skip.url: skip.reason for skip in frontier.skips()} == {
        "a/2": UNLINKED,
        "a/3": UNLINKED,
    }
    assert changes(frontier)["a/2"] == "unlinked"
    assert frontier.settle(60.0) == 0
    # It is linked to again: then it is new.
    revisit(frontier, 90.0, everything=True)
    visited(frontier, "a/1", "a/2", now=90)
    visited(frontier, "a/2", now=90)
    assert {*pages(frontier)} == {"a/1", "a/2"}
    assert frontier.exhausted()


@pytest.mark.parametrize("is_found", [True, False])
def test_what_another_page_may_link_to_stays_until_that_is_visited(
    engine: Engine, is_found: bool
) -> None:
    """A blog: an entry moves on to the next page of the list."""
    frontier = engine(recrawl=RECRAWL)
    today = clock.now()
    before, later = today - 100 * DAY, today - 80 * DAY
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    visited(frontier, "a/1", "a/entry", now=before)
    visited(frontier, "a/2", "a/more", now=later)
    visited(frontier, "a/entry", now=later)
    visited(frontier, "a/more", now=later)
    # The first page of the list is due, and the second is not.
    assert revisit(frontier, later + DAY) == 1
    visited(frontier, "a/1", "a/new", now=later + DAY)
    visited(frontier, "a/new", now=later + DAY)
    assert frontier.settle(later + DAY) == 0
    assert {*pages(frontier)} == {"a/1", "a/2", "a/entry", "a/more", "a/new"}
    frontier.end_visits()
    assert frontier.begin_round(DUE, today, today) == 5
    links = {"a/1": ["a/new"], "a/2": ["a/entry"] if is_found else ["a/more"]}
    links |= {"a/entry": [], "a/more": [], "a/new": []}
    for _ in links:
        lease = take(frontier, today)
        visited(frontier, lease.url, *links[lease.url], now=today, lease=lease)
    assert frontier.settle(today) == 1
    assert ("a/entry" in pages(frontier)) is is_found
    assert ("a/more" in pages(frontier)) is not is_found


def test_a_longer_way_takes_the_place_of_one_that_has_gone(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2", "a/3")
    visited(frontier, "a/2", "a/3")
    visited(frontier, "a/3")
    links = {"a/1": ["a/2"], "a/2": ["a/3"], "a/3": []}
    revisit(frontier, 60.0, everything=True)
    for _ in links:
        lease = take(frontier, 60.0)
        visited(frontier, lease.url, *links[lease.url], now=60, lease=lease)
    assert frontier.settle(60.0) == 0
    facts = frontier.read().facts("a/3")
    assert facts is not None
    assert (facts.depth, facts.referrer) == (2, "a/2")


def test_what_a_round_has_found(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2", "a/3")
    visited(frontier, "a/2")
    visited(frontier, "a/3")
    frontier.remember(ROUND, Round(2, 60.0, "all", is_open=True).text())
    revisit(frontier, 60.0, everything=True)
    links = {"a/1": ["a/2", "a/4"], "a/2": [], "a/3": []}
    for _ in links:
        lease = take(frontier, 60.0)
        visited(frontier, lease.url, *links[lease.url], now=60, lease=lease)
    visited(frontier, "a/4", now=60)
    frontier.settle(60.0)
    facts = last_round(frontier.read().database)
    assert facts is not None
    # What is out was visited, too, and is told of once.
    assert (facts.visited, facts.unchanged) == (2, 1)
    assert facts.changes == {"changed": 1, "new": 1, "unlinked": 1}


def test_what_is_not_visited_any_more_is_what_it_was(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1"), Candidate("a/2")])
    visited(frontier, "a/1")
    lease = take(frontier)
    lease.failed, lease.visit = True, Visit(0.0)
    frontier.landed(lease, 0)
    frontier.finish(lease)
    assert revisit(frontier, 60.0, everything=True) == 2
    frontier.end_visits()
    counts = frontier.counts()
    assert (counts.queued, counts.done, counts.failed) == (0, 1, 1)
    assert frontier.exhausted()


def test_a_gone_page_is_looked_for_so_often_and_no_more(engine: Engine) -> None:
    frontier = engine(recrawl=Recrawl(Intervals(gone_visits=2)))
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1")
    for now in (30 * DAY, 60 * DAY):
        assert revisit(frontier, now) == 1
        lease = take(frontier, now)
        lease.failed = lease.is_gone = True
        lease.records = [(PAGE, {"url": "a/1", "status_code": 404, "links": [], "error": "x"})]
        lease.visit = Visit(now)
        frontier.landed(lease, now)
        frontier.finish(lease)
    assert revisit(frontier, 1e9) == 0
    assert changes(frontier) == {"a/1": "gone"}


def test_a_page_that_can_not_be_had_keeps_what_it_links_to(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    visited(frontier, "a/1", "a/2")
    visited(frontier, "a/2")
    revisit(frontier, 60.0, everything=True)
    for _ in range(2):
        lease = take(frontier, 60.0)
        if lease.url == "a/2":
            visited(frontier, "a/2", now=60, lease=lease)
            continue
        lease.failed, lease.visit = True, Visit(60.0)
        error = {"url": "a/1", "status_code": 500, "links": [], "error": "unexpected status 500"}
        lease.records = [(PAGE, error)]
        frontier.landed(lease, 60)
        frontier.finish(lease)
    assert frontier.settle(60.0) == 0
    assert pages(frontier) == {"a/1": [], "a/2": []}
    assert frontier.counts().failed == 1


@pytest.mark.parametrize("budget", [None, 2])
def test_a_sitemap_is_no_page_and_what_it_names_comes_behind_links(
    engine: Engine, budget: int | None
) -> None:
    frontier = engine(recrawl=RECRAWL, budget=budget)
    frontier.admit([Candidate("a/1")])
    frontier.admit([Candidate(f"a/s{SITEMAP}")], depth=1)
    visited(frontier, "a/1", "a/3")
    lease = take(frontier)
    assert lease.url == f"a/s{SITEMAP}"
    lease.found = [Candidate("a/2"), Candidate("a/3")]
    lease.hints = {"a/2": {"priority": 0.9}}
    lease.visit = Visit(0.0)
    frontier.landed(lease, 0)
    frontier.finish(lease)
    order = []
    while (lease_ := frontier.take(0)) is not None:
        order.append(lease_.url)
        visited(frontier, lease_.url, lease=lease_)
    assert order == (["a/3", "a/2"] if budget is None else ["a/3"])
    read = {page["url"]: page for _, page in frontier.read().pages()}
    assert read["a/3"]["depth"] == 1
    assert not read["a/3"]["orphan"]
    if budget is None:
        assert read["a/2"]["orphan"]
        assert read["a/2"]["referrer"] == "a/s"
        assert read["a/2"]["sitemap"] == {"url": "a/s", "priority": 0.9}
    assert len(read) == (3 if budget is None else 2)


def read_sitemap(frontier: Frontier, lastmod: str, *urls: str, now: float) -> None:
    lease = take(frontier, now)
    assert lease.url == f"a/s{SITEMAP}"
    lease.found = [Candidate(url) for url in urls]
    lease.hints = {url: {"lastmod": lastmod} for url in urls}
    lease.content = Content(sha256(lastmod.encode()).digest())
    lease.visit = Visit(now)
    frontier.landed(lease, now)
    frontier.finish(lease)


def test_a_newer_date_in_a_sitemap_makes_a_page_due(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate(f"a/s{SITEMAP}")], depth=1)
    read_sitemap(frontier, "1970-01-01", "a/1", now=10 * DAY)
    visited(frontier, "a/1", now=10 * DAY)
    # The sitemap is due first, and says that the page has changed since.
    assert revisit(frontier, 14 * DAY) >= 1
    read_sitemap(frontier, "1970-01-12", "a/1", now=14 * DAY)
    assert revisit(frontier, 14 * DAY) == 1
    assert take(frontier, 14 * DAY).url == "a/1"


@pytest.mark.parametrize("count", [3, 50])
def test_what_a_sitemap_says_has_changed_is_visited_in_the_same_round(
    engine: Engine, count: int
) -> None:
    """Unless it says so of all pages: then it tells the time of day."""
    frontier = engine(recrawl=RECRAWL)
    today = clock.now()
    urls = [f"a/{number:02}" for number in range(count)]
    frontier.admit([Candidate(f"a/s{SITEMAP}")], depth=1)
    read_sitemap(frontier, "1970-01-01", *urls, now=today - 10 * DAY)
    for url in urls:
        visited(frontier, url, now=today - DAY)
    assert frontier.begin_round(DUE, today, today) == 1
    read_sitemap(frontier, moment(today - 1), *urls, now=today)
    found = []
    while (lease := frontier.take(today)) is not None:
        found.append(lease.url)
        visited(frontier, lease.url, now=today, lease=lease)
    assert found == (urls if count == 3 else [])


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def test_what_is_no_page_takes_no_place_in_a_budget_however_often_it_is_visited(
    engine: Engine,
) -> None:
    frontier = engine(recrawl=RECRAWL, budget=4)
    frontier.admit([Candidate("a/1")])
    frontier.admit([Candidate(f"a/s{SITEMAP}")], depth=1)
    links = {"a/1": ["a/moved"], "a/2": []}

    def go_round(now: float) -> set[str]:
        found = set()
        while (lease := frontier.take(now)) is not None:
            found.add(lease.url)
            lease.visit = Visit(now)
            if lease.is_again and lease.url != "a/1":
                lease.is_unchanged = True
            elif lease.url == "a/moved":
                lease.redirect = "a/2"
            elif not lease.url.endswith(SITEMAP):
                visited(frontier, lease.url, *links.get(lease.url, ()), now=now, lease=lease)
                continue
            frontier.landed(lease, now)
            frontier.finish(lease)
        return found

    whole = {"a/1", "a/2", "a/moved", f"a/s{SITEMAP}"}
    assert go_round(0) == whole
    for now in (60.0, 120.0):
        assert revisit(frontier, now, everything=True) == 4
        assert go_round(now) == whole
    links["a/1"] = ["a/moved", "a/3", "a/4", "a/5"]
    revisit(frontier, 180.0, everything=True)
    assert go_round(180.0) == whole | {"a/3", "a/4"}
    assert {*pages(frontier)} == {"a/1", "a/2", "a/3", "a/4"}


def test_a_redirect_may_become_a_page_and_its_target_goes(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/moved")])
    lease = take(frontier)
    lease.redirect, lease.visit = "a/2", Visit(0.0)
    frontier.landed(lease, 0)
    frontier.finish(lease)
    visited(frontier, "a/2")
    for now in (60.0, 120.0):
        revisit(frontier, now, everything=True)
        while (again := frontier.take(now)) is not None:
            visited(frontier, again.url, now=now, lease=again)
        frontier.settle(now)
        assert frontier.failure is None
        assert {*pages(frontier)} == {"a/moved"}
