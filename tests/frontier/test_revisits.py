"""A web that has changed is visited again: then the answer is that of a crawl of today."""

from __future__ import annotations

import random
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import NOFOLLOW, UNLINKED, Candidate
from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.rounds import ALL, end_round
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.frontier.visits import Recrawl
from crawlproject.items import Content
from crawlproject.recrawl.visit import Visit
from crawlproject.scope.traps import GROWING_PATH
from tests.chance import times
from tests.frontier.test_order import Web, answer, known_to, webs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from crawlproject.frontier.base import Lease
    from tests.frontier.test_order import Known

DAY = 86_400.0
SITEMAP = "s#sitemap"
_OF_LINKS = (NOFOLLOW, GROWING_PATH, UNLINKED)


def opened(database: sqlite3.Connection, in_flight: int, **options: Any) -> SqliteFrontier:
    return SqliteFrontier(
        database,
        host_of=lambda url: "host",
        limits=lambda host: HostLimits(0, in_flight),
        recrawl=Recrawl(),
        **options,
    )


def play(
    web: Web,
    named: Sequence[str],
    luck: random.Random,
    database: sqlite3.Connection,
    *,
    began_at: float = 0.0,
    killed: float = 0.0,
    in_flight: int = 3,
    **options: Any,
) -> None:
    """A crawl, or, of what was crawled before, a round of visits to all of it."""

    def start(now: float) -> SqliteFrontier:
        frontier = opened(database, in_flight, batch=2 if killed else 1, **options)
        frontier.admit([Candidate("p0")])
        frontier.admit([Candidate(SITEMAP)], depth=1)
        if began_at:
            frontier.begin_round(ALL, now, now)
        frontier.commit()
        return frontier

    now = began_at + 1
    frontier = start(now)
    flying: list[Lease] = []
    while not frontier.exhausted() or not is_settled(frontier, now):
        now += 1
        while (lease := frontier.take(now)) is not None:
            flying.append(lease)
        assert flying, "the frontier has something to do but gives nothing out"
        if luck.random() < killed:
            database.rollback()
            flying.clear()
            frontier = start(now)
            continue
        lease = flying.pop(luck.randrange(len(flying)))
        frontier.landed(lease, now)
        answer_visit(web, named, lease, now)
        frontier.finish(lease)
    end_round(frontier, "finished", now)
    frontier.commit()
    assert frontier.failure is None


def answer_visit(web: Web, named: Sequence[str], lease: Lease, now: float) -> None:
    """What the web says, and its sitemap."""
    if lease.url == SITEMAP:
        lease.found = [Candidate(name) for name in named]
        lease.content = _content(named)
    else:
        answer(web, lease)
        if lease.redirect is None and not lease.failed:
            lease.content = _content(web.links[lease.url])
    lease.visit = Visit(now)


def _content(links: Sequence[str]) -> Content:
    return Content(sha256(repr(links).encode()).digest())


def is_settled(frontier: SqliteFrontier, now: float) -> bool:
    """Whether nothing more comes of it that links have gone."""
    frontier.settle(now)
    return frontier.exhausted()


def known_in(database: sqlite3.Connection) -> Known:
    return without_past(known_to(opened(database, 1).read()))


def without_past(known: Known) -> Known:
    """Without what only the past knows, nor what is not to be followed, which may have been."""
    return {
        key: facts
        for key, facts in known.items()
        if key.partition(" skipped: ")[2] not in _OF_LINKS
    }


@st.composite
def changing(draw: st.DrawFn) -> tuple[list[Web], list[list[str]]]:
    """Generations of a web, and what its sitemap names in each."""
    first = draw(webs(with_nofollow=True))
    names = list(first.links)
    generations = [first]
    for _ in range(draw(st.integers(1, 2))):
        before = generations[-1]
        links = {
            name: draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
            if draw(st.booleans())
            else before.links[name]
            for name in names
        }
        redirects = draw(
            st.dictionaries(st.sampled_from(names), st.sampled_from(names), max_size=3)
        )
        redirects.pop("p0", None)
        redirects = {source: to for source, to in redirects.items() if source != to}
        generations.append(Web(links, redirects, before.nofollow))
    named = st.lists(st.sampled_from(names), max_size=3, unique=True)
    return generations, [draw(named) for _ in generations]


@times(3)
@given(
    changing(),
    st.integers(0, 10**6),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([0.0, 0.0, 0.2]),
)
def test_after_a_round_of_visits_the_answer_is_that_of_a_new_crawl(
    web: tuple[list[Web], list[list[str]]], seed: int, depth_limit: int | None, killed: float
) -> None:
    generations, sitemaps = web
    luck = random.Random(seed)
    database = connect_to_memory()
    for number, (one, named) in enumerate(zip(generations, sitemaps, strict=True)):
        began_at = number * DAY
        play(one, named, luck, database, began_at=began_at, killed=killed, depth_limit=depth_limit)
        fresh = connect_to_memory()
        play(one, named, luck, fresh, depth_limit=depth_limit)
        assert known_in(database) == known_in(fresh)
