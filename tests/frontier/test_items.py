"""The part of the contract that is about items. Every engine passes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier.base import UNLINKED, Candidate
from crawlproject.frontier.visits import Recrawl
from crawlproject.records import PAGE
from crawlproject.recrawl.visit import Visit
from tests.frontier.engines import take

if TYPE_CHECKING:
    from crawlproject.frontier.base import Frontier, Lease
    from tests.frontier.engines import Engine

RECRAWL = Recrawl()
KIND = "shop.Product"


def page(url: str, *links: str, **more: Any) -> dict[str, Any]:
    return {"url": url, "status_code": 200, "links": list(links), **more}


def brought(
    frontier: Frontier, lease: Lease, *names: str, links: tuple[str, ...] = (), now: float = 0
) -> None:
    """The page of a lease has come, and items with these names."""
    lease.found = [Candidate(link) for link in links]
    lease.records = [(PAGE, page(lease.url, *links))]
    lease.records += [(KIND, {"name": name}) for name in names]
    lease.visit = Visit(now)
    frontier.landed(lease, now)
    frontier.finish(lease)


def crawled(frontier: Frontier, **items: list[str]) -> None:
    """Crawl URLs of the host ``a``, each with items."""
    frontier.admit([Candidate(f"a/{path}") for path in items])
    for _ in items:
        lease = take(frontier)
        brought(frontier, lease, *items[lease.url.removeprefix("a/")])


def again(frontier: Frontier, now: float) -> Lease:
    """The only page is visited again."""
    assert frontier.revisit(now, before=now) == 1
    return take(frontier, now)


def names(frontier: Frontier) -> list[str]:
    return sorted(record["name"] for _, record in frontier.read().others())


def pages(frontier: Frontier) -> dict[str, Any]:
    return {record["url"]: record for _, record in frontier.read().pages()}


def test_a_visit_brings_its_items_in_place_of_those_of_the_last_one(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1", "x2"], y=["y1"])
    assert names(frontier) == ["x1", "x2", "y1"]
    for now, wanted in ((60.0, ["x1", "y1"]), (120.0, ["x3", "x4", "y1"]), (180.0, [])):
        frontier.revisit(now, before=now)
        for _ in range(2):
            lease = take(frontier, now)
            letter = lease.url[-1]
            brought(frontier, lease, *(one for one in wanted if one[0] == letter), now=now)
        assert names(frontier) == wanted
        assert frontier.read().count() == len(wanted) + 2


def test_what_a_visit_finds_unchanged_keeps_its_items(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    lease = again(frontier, 60.0)
    lease.is_unchanged, lease.visit = True, Visit(60.0)
    frontier.landed(lease, 60.0)
    frontier.finish(lease)
    assert names(frontier) == ["x1"]
    brought(frontier, again(frontier, 120.0), "x2", now=120.0)
    assert names(frontier) == ["x2"]


def test_items_stay_while_their_page_is_visited_again(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    lease = again(frontier, 60.0)
    assert names(frontier) == ["x1"]
    brought(frontier, lease, now=60.0)
    assert names(frontier) == []


def test_items_stay_when_a_page_is_not_visited_after_all(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    assert frontier.revisit(60.0, before=60.0) == 1
    frontier.end_visits()
    assert names(frontier) == ["x1"]
    brought(frontier, again(frontier, 120.0), "x2", now=120.0)
    assert names(frontier) == ["x2"]


@pytest.mark.parametrize("end", ["failed", "redirect", "denied"])
def test_what_is_no_page_any_more_has_no_items_either(engine: Engine, end: str) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    lease = again(frontier, 60.0)
    lease.visit = Visit(60.0)
    if end == "failed":
        lease.failed = True
        lease.records = [(PAGE, page("a/x", error="unexpected status 500"))]
    elif end == "redirect":
        lease.redirect = "a/y"
    else:
        lease.skip = "robots"
    frontier.landed(lease, 60.0)
    frontier.finish(lease)
    assert names(frontier) == []


def test_items_that_are_pages_of_other_urls_are_replaced_too(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/x")])
    for now, others in ((0.0, ("a/x?1", "a/x?2")), (60.0, ("a/x?2", "a/x?3"))):
        lease = take(frontier, now) if not now else again(frontier, now)
        lease.records = [(PAGE, page(url, title=str(now))) for url in (lease.url, *others)]
        lease.visit = Visit(now)
        frontier.landed(lease, now)
        frontier.finish(lease)
        found = pages(frontier)
        assert {*found} == {"a/x", *others}
        assert {record["title"] for record in found.values()} == {str(now)}
        assert frontier.read().count() == 3


def test_items_told_before_the_end_of_a_visit_are_of_this_visit(engine: Engine) -> None:
    """As when a callback asks for another try: what it has yielded before stays."""
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    lease = again(frontier, 60.0)
    frontier.keep_item(KIND, {"name": "x2"}, "a/x")
    frontier.keep_item(KIND, {"name": "x3"}, "a/x")
    assert names(frontier) == ["x2", "x3"]
    brought(frontier, lease, "x4", now=60.0)
    assert names(frontier) == ["x2", "x3", "x4"]
    brought(frontier, again(frontier, 120.0), "x5", now=120.0)
    assert names(frontier) == ["x5"]


def test_items_that_come_late_join_those_of_their_visit(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    frontier.keep_item(KIND, {"name": "late"}, "a/x")
    assert names(frontier) == ["late", "x1"]
    brought(frontier, again(frontier, 60.0), "x2", now=60.0)
    frontier.keep_item(KIND, {"name": "later"}, "a/x")
    assert names(frontier) == ["later", "x2"]


def test_items_of_a_first_try_stay_when_the_second_one_brings_more(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/x")])
    lease = take(frontier)
    frontier.keep_item(KIND, {"name": "x1"}, "a/x")
    frontier.landed(lease, 0)
    frontier.release(lease, until=5)
    brought(frontier, take(frontier, 5), "x2", now=5)
    assert names(frontier) == ["x1", "x2"]


def test_what_is_retried_has_only_the_items_of_the_last_try(engine: Engine) -> None:
    frontier = engine()
    frontier.admit([Candidate("a/x")])
    lease = take(frontier)
    lease.failed = True
    brought(frontier, lease, "error")
    assert names(frontier) == ["error"]
    assert frontier.retry(failed=True) in (0, 1)
    brought(frontier, take(frontier), "fine")
    assert names(frontier) == ["fine"]


def test_what_nothing_links_to_any_more_has_no_items(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    frontier.admit([Candidate("a/1")])
    brought(frontier, take(frontier), "one", links=("a/2",))
    brought(frontier, take(frontier), "two")
    frontier.revisit(60.0, before=60.0)
    for _ in range(2):
        lease = take(frontier, 60.0)
        brought(frontier, lease, {"a/1": "one", "a/2": "two"}[lease.url], now=60.0)
    frontier.settle(60.0)
    assert [skip.reason for skip in frontier.skips()] == [UNLINKED]
    assert names(frontier) == ["one"]


def test_a_redirect_that_may_be_followed_after_all_has_no_items_of_its_failure(
    engine: Engine,
) -> None:
    frontier = engine(max_redirects=1)
    frontier.admit([Candidate("a/1"), Candidate("a/start")])
    start = None
    lease = take(frontier)
    assert lease.url == "a/1"
    lease.redirect = "a/2"
    frontier.landed(lease, 0)
    frontier.finish(lease)
    while (lease_ := frontier.take(0)) is not None:
        if lease_.url == "a/start":
            start = lease_
        elif lease_.verdict is None and lease_.url == "a/2":
            lease_.redirect = "a/3"
            frontier.landed(lease_, 0)
            frontier.finish(lease_)
        else:
            lease_.failed = lease_.verdict is not None
            brought(frontier, lease_, *(["too many"] if lease_.failed else []))
    assert names(frontier) == ["too many"]
    # A link leads to the one in the middle: one redirect fewer.
    assert start is not None
    brought(frontier, start, links=("a/2",))
    brought(frontier, take(frontier), "fine")
    assert names(frontier) == ["fine"]


@pytest.mark.parametrize("options", [{"budget": 9}, {"capacity": 1}], ids=["budget", "capacity"])
def test_items_are_replaced_when_answers_have_to_wait(
    engine: Engine, options: dict[str, int]
) -> None:
    frontier = engine(recrawl=RECRAWL, **options)
    crawled(frontier, x=["x1"], y=["y1"], z=["z1"])
    for now in (60.0, 120.0):
        frontier.revisit(now, before=now)
        leases = [take(frontier, now), take(frontier, now)]
        # The first one comes last.
        for lease in reversed(leases):
            brought(frontier, lease, f"{lease.url[-1]}{now:g}", now=now)
        lease = take(frontier, now)
        brought(frontier, lease, f"{lease.url[-1]}{now:g}", now=now)
        assert names(frontier) == [f"{letter}{now:g}" for letter in "xyz"]


def test_items_that_belong_to_no_url_are_not_replaced(engine: Engine) -> None:
    frontier = engine(recrawl=RECRAWL)
    crawled(frontier, x=["x1"])
    lease = again(frontier, 60.0)
    frontier.keep_item(KIND, {"name": "start"})
    frontier.keep_item(KIND, {"name": "elsewhere"}, "a/unknown")
    assert names(frontier) == ["elsewhere", "start", "x1"]
    brought(frontier, lease, "x2", now=60.0)
    # The next run makes them anew, wherever it keeps them.
    assert names(frontier) in (["x2"], ["elsewhere", "start", "x2"])
