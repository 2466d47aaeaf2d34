"""Redirects: each with its way, where it ends, and the pages that link to it.

Loops come first, then ways of several hops, then what most pages link to.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.edges import edges_from
from crawlproject.report.lists import Column, Issue, Kind, Listing, Row, Section, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.survey import Survey

ROWS = 20_000
_LOOP_ERROR = "redirect loop"

LOOP, CHAIN, HOP, AWAY = "loop", "chain", "one hop", "leaves the crawl"
_ORDER = (LOOP, CHAIN, AWAY, HOP)

_COLUMNS = (
    Column("url", "URL", Kind.URL),
    Column("status", "Status", Kind.ANSWER, is_filter=True),
    Column("kind", "Kind", is_filter=True),
    Column("hops", "Hops", Kind.NUMBER),
    Column("end", "Ends at", Kind.URL),
    Column("answer", "Answer there", Kind.ANSWER, is_filter=True),
    Column("linked", "Linked from", Kind.NUMBER, hint="pages that link to it"),
    Column("way", "The way", Kind.URLS, is_aside=True),
    Column("sources", "Pages that link to it", Kind.URLS, is_aside=True),
)


class Redirect(NamedTuple):
    """A way of redirects: ids of URLs. ``way`` begins behind the first and has the end."""

    id: int
    kind: str
    way: tuple[int, ...]
    linked: int

    @property
    def key(self) -> tuple[int, int, int]:
        """Smaller comes first."""
        return _ORDER.index(self.kind), -self.linked, self.id


def section(survey: Survey) -> Section:
    counts = dict.fromkeys(_ORDER, 0)
    linked = 0

    def counted() -> Iterator[Redirect]:
        nonlocal linked
        for redirect in _found(survey):
            counts[redirect.kind] += 1
            linked += redirect.linked > 0
            yield redirect

    first = heapq.nsmallest(ROWS, counted(), key=lambda redirect: redirect.key)
    statuses = _statuses(survey, [redirect.id for redirect in first])
    listing = Listing(
        "redirects",
        "Redirects",
        _COLUMNS,
        [_row(survey, redirect, statuses.get(redirect.id)) for redirect in first],
        lead="URLs that lead to others. Open a row to see the way, and the pages whose link should "
        "name its end instead.",
        empty="No redirects. Every link names the page that answers.",
        total=sum(counts.values()),
        unrolled="sources",
    )
    listing.issues = _issues(counts, linked)
    return Section("redirects-section", "Redirects", [listing])


def _issues(counts: dict[str, int], linked: int) -> list[Issue]:
    return [
        Issue(
            Severity.ERROR,
            counts[LOOP],
            "redirect that goes round in circles",
            "redirects that go round in circles",
            "They never end, so nobody gets to see a page.",
            "redirects?kind=loop",
        ),
        Issue(
            Severity.WARNING,
            counts[CHAIN],
            "chain of redirects",
            "chains of redirects",
            "Each hop costs visitors time, and crawlers may give up on the way.",
            "redirects?kind=chain",
        ),
        Issue(
            Severity.NOTICE,
            linked,
            "redirect that pages link to",
            "redirects that pages link to",
            "Links that name the end of the way save a request each.",
            "redirects?sort=-linked",
        ),
    ]


def _found(survey: Survey) -> Iterator[Redirect]:
    # One that has failed is the page where a loop was found out.
    rows = survey.database.execute(
        "SELECT id, target FROM urls WHERE target IS NOT NULL ORDER BY id"
    )
    targets: dict[int, int] = dict(rows)
    is_end = {
        int(survey.known.ids[place])
        for place in np.flatnonzero(survey.known.answers == _code(survey, _LOOP_ERROR))
    }
    for number in targets:
        way = _way(number, targets, is_end)
        is_loop = number in is_end or way[-1] in is_end
        kind = LOOP if is_loop else CHAIN if len(way) > 1 else HOP
        yield Redirect(number, kind, way, _links_to(survey, number)[0])
    yield from _away(survey)


def _way(number: int, targets: dict[int, int], is_end: set[int]) -> tuple[int, ...]:
    way = [targets[number]]
    while way[-1] in targets and way[-1] not in is_end and way[-1] not in way[:-1]:
        way.append(targets[way[-1]])
    return tuple(way)


def _away(survey: Survey) -> Iterator[Redirect]:
    """Redirects that were not followed, because they lead out of scope: pages with one link."""
    known = survey.known
    for place in np.flatnonzero((known.statuses >= 300) & (known.statuses < 400)).tolist():
        number = int(known.ids[place])
        row = survey.database.execute(
            "SELECT id, links FROM pages WHERE id = ? AND links IS NOT NULL", (number,)
        ).fetchone()
        links = [] if row is None else (edges_from([row]).links >> 1).tolist()
        if links:
            yield Redirect(number, AWAY, tuple(links[:1]), _links_to(survey, number)[0])


def _links_to(survey: Survey, number: int) -> tuple[int, list[int]]:
    """How many pages link to what redirects, and the ids of the first of them."""
    if survey.web.is_redirect(number):
        count, places = survey.web.sources_of_redirect(number)
        return count, survey.ids(places)
    place = survey.web.place_of(number)
    return (0, []) if place is None else (int(survey.web.inlinks[place]), survey.sources(place))


def _row(survey: Survey, redirect: Redirect, status: int | None) -> Row:
    end = redirect.way[-1]
    place = survey.web.place_of(end)
    answer = "not fetched" if place is None else survey.answers[survey.known.answers[place]]
    sources = _links_to(survey, redirect.id)[1]
    way = list(redirect.way)
    hops = len(way)
    return (
        redirect.id,
        str(status or ""),
        redirect.kind,
        hops,
        end,
        answer,
        redirect.linked,
        way,
        sources,
    )


def _statuses(survey: Survey, ids: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for first in range(0, len(ids), 500):
        some = ids[first : first + 500]
        marks = ", ".join("?" * len(some))
        rows = survey.database.execute(
            "SELECT id, json_extract(record, '$.status_code') FROM pages "  # noqa: S608
            f"WHERE record <> '' AND id IN ({marks})",
            some,
        )
        found.update((number, status) for number, status in rows if isinstance(status, int))
    return found


def _code(survey: Survey, answer: str) -> int:
    return survey.answers.index(answer) if answer in survey.answers else -1
