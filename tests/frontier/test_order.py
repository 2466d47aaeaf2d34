"""Same site, same answer: what the frontier says must not depend on who answers first."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import NOFOLLOW, Candidate
from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.items import Page
from crawlproject.records import PAGE, record_of
from crawlproject.scope.traps import GROWING_PATH, Budget
from tests.chance import times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.reading import Reader


Graph = dict[str, list[str]]


@dataclass
class Web:
    links: Graph
    redirects: dict[str, str]
    # Links that ask not to be followed.
    nofollow: frozenset[tuple[str, str]] = frozenset()


@st.composite
def webs(draw: st.DrawFn, *, with_nofollow: bool = False) -> Web:
    names = [f"p{number}" for number in range(draw(st.integers(1, 14)))]
    some = st.lists(st.sampled_from(names), max_size=4, unique=True)
    links = {name: draw(some) for name in names}
    redirects = draw(st.dictionaries(st.sampled_from(names), st.sampled_from(names), max_size=5))
    redirects.pop("p0", None)
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names))
    nofollow = draw(st.frozensets(pairs, max_size=8)) if with_nofollow else frozenset()
    redirects = {source: to for source, to in redirects.items() if source != to}
    return Web(links, redirects, nofollow)


def groups_of(pages: int | None) -> Callable[[str], tuple[Budget, ...]] | None:
    """Pages with an odd number share a budget, but for the seeds; some only beside others."""
    if pages is None:
        return None
    odd = Budget("odd", pages, "odd budget")
    beside = odd._replace(alone=("p4", "p6"))

    def budgets(url: str) -> tuple[Budget, ...]:
        number = int(url[1:])
        if number % 2 == 0 or number < 3:
            return ()
        return (odd if number % 3 else beside,) if number < 10 else (odd._replace(steps=2),)

    return budgets


# Depth, referrer and redirects of a page, and the error it ended with.
Known = dict[str, tuple[int, str | None, tuple[str, ...], str | None]]


def crawl(
    web: Web,
    luck: random.Random,
    *,
    in_flight: int = 4,
    seeds: Sequence[str] = ("p0",),
    killed: float = 0.0,
    **options: Any,
) -> tuple[Known, list[str]]:
    """Play a crawl in which answers come in a random order; the pages, and their order.

    ``killed`` is how likely it is, at each answer, that the process is killed before it: what
    was not committed is gone, and another process goes on.
    """
    database = connect_to_memory()

    def start() -> SqliteFrontier:
        frontier = SqliteFrontier(
            database,
            host_of=lambda url: "host",
            limits=lambda host: HostLimits(0, in_flight),
            depth_limit=options.get("depth_limit"),
            budget=options.get("budget"),
            capacity=options.get("capacity"),
            max_redirects=options.get("max_redirects") or 20,
            seeds_first=len(seeds) > 1,
            budgets=groups_of(options.get("group_budget")),
            batch=3 if killed else 1,
        )
        frontier.admit(Candidate(seed) for seed in seeds)
        return frontier

    frontier = start()
    asked: list[str] = []
    reported: list[str] = []
    provisional: set[str] = set()
    flying: list[Lease] = []
    now = 0.0
    while not frontier.exhausted():
        now += 1
        while (lease := frontier.take(now)) is not None:
            if lease.verdict is None:
                asked.append(lease.url)
            flying.append(lease)
        assert flying, "the frontier has something to do but gives nothing out"
        assert len(flying) <= in_flight
        if luck.random() < killed:
            database.rollback()
            flying.clear()
            frontier = start()
            continue
        lease = flying.pop(luck.randrange(len(flying)))
        if lease.verdict == "too many redirects":
            provisional.add(lease.url)
        frontier.landed(lease, now)
        answer(web, lease)
        if lease.redirect is None:
            reported.append(lease.url)
        frontier.finish(lease)
    if not killed:
        assert len(asked) == len(set(asked)), "each URL is fetched once"
        # But one redirect too many may turn out to be a loop, when a way with fewer is found.
        twice = {url for url in reported if reported.count(url) > 1}
        assert twice <= provisional, "each page is reported once"
    return known_to(frontier.read()), list(dict.fromkeys(reported))


def known_to(reader: Reader) -> Known:
    known: Known = {
        page["url"]: (
            page["depth"],
            page["referrer"],
            tuple(page["redirected_from"]),
            page["error"],
        )
        for _, page in reader.pages()
    }
    for skip in reader.skips():
        known[f"{skip.url} skipped: {skip.reason}"] = (skip.depth, skip.referrer, (), None)
    return known


def reason_of(page: str) -> str:
    """Why the links of a page that are not to be followed are not."""
    return f"{GROWING_PATH}: some rule" if int(page[1:]) % 2 else NOFOLLOW


def answer(web: Web, lease: Lease) -> None:
    """What the web says."""
    if lease.verdict is None and lease.url in web.redirects:
        lease.redirect = web.redirects[lease.url]
        lease.redirect_answer = {"status_code": 301}
        return
    links = web.links[lease.url] if lease.verdict is None else []
    lease.found = [
        Candidate(link, reason_of(lease.url) if (lease.url, link) in web.nofollow else None)
        for link in links
    ]
    lease.failed = lease.verdict is not None
    page = Page(lease.url, 200, lease.depth, list(links), error=lease.verdict)
    lease.records = [(PAGE, record_of(page))]


def distances(web: Web) -> dict[str, int]:
    """Smallest number of links from the seed; a redirect counts for nothing."""
    found = {"p0": 0}
    queue = deque(["p0"])
    while queue:
        url = queue.popleft()
        if url in web.redirects:
            target = web.redirects[url]
            if found.get(target, 99) > found[url]:
                found[target] = found[url]
                queue.appendleft(target)
            continue
        for link in web.links[url]:
            if found.get(link, 99) > found[url] + 1:
                found[link] = found[url] + 1
                queue.append(link)
    return found


@times(3)
@given(web=webs(), seed=st.integers(0, 10**6), depth_limit=st.sampled_from([None, 0, 1, 2, 3]))
def test_depths_are_shortest_whatever_the_order_of_answers(
    web: Web, seed: int, depth_limit: int | None
) -> None:
    luck = random.Random(seed)
    pages, _ = crawl(web, luck, in_flight=luck.choice([1, 3, 16]), depth_limit=depth_limit)
    expected = {
        url: depth
        for url, depth in distances(web).items()
        if depth_limit is None or depth <= depth_limit
    }
    assert {
        url: depth
        for url, (depth, _, _, _) in pages.items()
        if url not in web.redirects and "skipped" not in url
    } == {url: depth for url, depth in expected.items() if url not in web.redirects}


# The way to p4 gets shorter when it has answered: so does the way to what it says not to follow.
LATE_SHORTCUT = Web(
    {
        "p0": ["p2", "p3"],
        "p3": ["p5"],
        "p2": ["p1"],
        "p5": ["p1"],
        "p1": ["p4"],
        "p4": ["p9"],
        "p9": [],
    },
    redirects={},
    nofollow=frozenset([("p4", "p9")]),
)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_to_be_followed_comes_nearer_with_the_page_that_names_it(seed: int) -> None:
    known, _ = crawl(LATE_SHORTCUT, random.Random(seed), in_flight=64)
    assert known["p9 skipped: nofollow"] == (4, "p4", (), None)


@times(3)
@given(
    web=webs(with_nofollow=True),
    seed=st.integers(0, 10**6),
    depth_limit=st.sampled_from([None, 1, 2]),
    budget=st.sampled_from([None, 1, 2, 5, 9]),
    capacity=st.sampled_from([None, 1, 3]),
    seeds=st.sampled_from([("p0",), ("p0", "p1"), ("p2", "p0", "p1")]),
    max_redirects=st.sampled_from([1, 2, 3, 20]),
    group_budget=st.sampled_from([None, 0, 1, 2, 4]),
)
def test_concurrency_and_luck_change_nothing(
    web: Web,
    seed: int,
    depth_limit: int | None,
    budget: int | None,
    capacity: int | None,
    seeds: tuple[str, ...],
    max_redirects: int,
    group_budget: int | None,
) -> None:
    luck = random.Random(seed)
    limits: dict[str, Any] = {
        "depth_limit": depth_limit,
        "budget": budget,
        "capacity": capacity,
        "max_redirects": max_redirects,
        "group_budget": group_budget,
    }
    known = [name for name in seeds if name in web.links]
    alone, _ = crawl(web, random.Random(0), in_flight=1, seeds=known, **limits)
    for in_flight in (2, 4, 64):
        together, _ = crawl(web, luck, in_flight=in_flight, seeds=known, **limits)
        assert together == alone
        if budget is not None:
            assert sum("skipped" not in name for name in together) <= budget


@pytest.mark.parametrize("in_flight", [1, 2, 64])
def test_a_page_that_comes_nearer_by_its_own_link_takes_its_links_along(in_flight: int) -> None:
    # p4 links to p5, which so far was one redirect too many, and which redirects to p4.
    web = Web(
        {"p0": ["p9", "p12"], "p12": ["p4"], "p4": ["p3", "p5", "p2"], "p2": [], "p3": []},
        redirects={"p9": "p5", "p5": "p4"},
    )
    pages, _ = crawl(web, random.Random(0), in_flight=in_flight, max_redirects=1)
    depths = {name: depth for name, (depth, *_) in pages.items()}
    assert depths == {"p0": 0, "p12": 1, "p4": 1, "p2": 2, "p3": 2}


@times(2)
@given(
    web=webs(with_nofollow=True),
    seed=st.integers(0, 10**6),
    depth_limit=st.sampled_from([None, 1, 2]),
    budget=st.sampled_from([None, 1, 2, 5, 9]),
    capacity=st.sampled_from([None, 1, 3]),
    seeds=st.sampled_from([("p0",), ("p2", "p0", "p1")]),
    max_redirects=st.sampled_from([1, 2, 20]),
    group_budget=st.sampled_from([None, 1, 2]),
)
def test_nor_does_being_killed(
    web: Web,
    seed: int,
    seeds: tuple[str, ...],
    **limits: Any,
) -> None:
    known = [name for name in seeds if name in web.links]
    alone, _ = crawl(web, random.Random(0), in_flight=1, seeds=known, **limits)
    for in_flight in (1, 4):
        luck = random.Random(seed)
        killed, _ = crawl(web, luck, in_flight=in_flight, seeds=known, killed=0.3, **limits)
        assert killed == alone


@pytest.mark.parametrize("in_flight", [1, 2, 4])
def test_who_was_let_in_before_a_kill_keeps_its_place(in_flight: int) -> None:
    # p1 is let in by p6, while p5, nearer but of a group, waits for all others at its depth.
    leaves: Graph = {name: [] for name in ("p1", "p2", "p3", "p5")}
    web = Web({"p0": ["p6", "p2", "p3", "p5"], "p6": ["p1"], **leaves}, {})
    for seed in range(50):
        luck = random.Random(seed)
        pages, _ = crawl(web, luck, in_flight=in_flight, killed=0.3, budget=5, group_budget=1)
        assert sorted(pages) == ["p0", "p1", "p2", "p3", "p6"]


@pytest.mark.parametrize("killed", [0.0, 0.3])
def test_who_comes_nearer_by_a_redirect_has_its_turn_before_those_behind(killed: float) -> None:
    # p2 redirects to p4, which so far was at the depth of p5, and behind it.
    leaves: Graph = {name: [] for name in ("p2", "p3", "p10", "p11")}
    links = {"p0": ["p1", "p2", "p3"], "p1": ["p5", "p4"], "p5": ["p10"], "p4": ["p11"]}
    web = Web({**links, **leaves}, redirects={"p2": "p4"})
    for seed in range(30):
        pages, _ = crawl(web, random.Random(seed), in_flight=1 + seed % 4, killed=killed, budget=6)
        assert sorted(pages) == ["p0", "p1", "p11", "p3", "p4", "p5"]


@pytest.mark.parametrize("budget", [None, 3, 1000])
def test_one_redirect_too_many_is_none_when_a_link_leads_to_its_middle(budget: int | None) -> None:
    # p2 leads to p4 by two redirects, and p7, which is met later, by one.
    web = Web({"p0": ["p2", "p7"], "p7": ["p1"]}, redirects={"p2": "p1", "p1": "p4", "p4": "p0"})
    for seed in range(10):
        luck = random.Random(seed)
        pages, _ = crawl(web, luck, in_flight=1 + seed % 4, max_redirects=2, budget=budget)
        assert pages == {"p0": (0, None, ("p2", "p1", "p4"), None), "p7": (1, "p0", (), None)}


@times(0.6)
@given(
    web=webs(with_nofollow=True),
    seed=st.integers(0, 10**6),
    killed=st.sampled_from([0.0, 0.3]),
    depth_limit=st.sampled_from([None, 1, 2]),
    max_redirects=st.sampled_from([2, 20]),
    group_budget=st.sampled_from([None, 0, 1, 2]),
)
def test_a_budget_that_is_large_enough_changes_nothing(
    web: Web, seed: int, killed: float, **limits: Any
) -> None:
    without, _ = crawl(web, random.Random(0), in_flight=1, **limits)
    luck = random.Random(seed)
    within, _ = crawl(web, luck, in_flight=4, killed=killed, budget=1000, **limits)
    assert within == without


@pytest.fixture(scope="module")
def tiny_caches() -> Iterator[None]:
    """Everything that is bounded has hardly any room: it is full all the time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("entries._HOT", 2),
            ("store._CHANGES", 1),
            ("hosts._LEAST_WINDOW", 1),
            ("hosts._LARGEST_WINDOW", 2),
            ("commits.AT_ONCE", 2),
            ("visits.AT_ONCE", 2),
            ("budget._WINDOW", 4),
        ):
            patch.setattr(f"crawlproject.frontier.{name}", value)
        yield


@pytest.mark.usefixtures("tiny_caches")
@times(1.5)
@given(
    web=webs(with_nofollow=True),
    seed=st.integers(0, 10**6),
    depth_limit=st.sampled_from([None, 2]),
    budget=st.sampled_from([None, 5]),
    capacity=st.sampled_from([None, 2]),
    killed=st.sampled_from([0.0, 0.3]),
)
def test_nor_does_how_much_is_kept_in_memory(
    web: Web, seed: int, killed: float, **limits: Any
) -> None:
    alone, _ = crawl(web, random.Random(0), in_flight=1, **limits)
    together, _ = crawl(web, random.Random(seed), in_flight=4, killed=killed, **limits)
    assert together == alone


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5, 6, 7])
def test_a_budget_takes_the_first_pages_breadth_first_and_uses_them_up(budget: int) -> None:
    web = Web(
        {
            "p0": ["p1", "p2", "p3"],
            "p1": ["p4", "p5"],
            "p2": ["p6"],
            "p3": [],
            "p4": [],
            "p5": [],
            "p6": [],
        },
        {},
    )
    for seed in range(20):
        _, pages = crawl(web, random.Random(seed), in_flight=8, budget=budget)
        assert sorted(pages) == [f"p{number}" for number in range(budget)]
