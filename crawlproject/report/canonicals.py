"""Where a page, its canonical link, its noindex, a sitemap and robots.txt say different things."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, DENIED, FINE, OUTCOMES, REFUSED
from crawlproject.report.conflicts import (
    ALL,
    LISTED_BLOCKED,
    LISTED_BROKEN,
    LISTED_CANONICAL,
    LISTED_DENIED,
    LISTED_NOINDEX,
    LISTED_REDIRECT,
    NOINDEX_TOO,
    OF_SITEMAPS,
    TO_BROKEN,
    TO_CANONICAL,
    TO_DENIED,
    TO_NOINDEX,
    TO_REDIRECT,
    TO_UNKNOWN,
    Conflict,
)
from crawlproject.report.known import Flag
from crawlproject.report.lists import (
    URL_CHARS,
    Column,
    Issue,
    Kind,
    Listing,
    Section,
    cut,
)
from crawlproject.report.values import canonical_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.lists import Row
    from crawlproject.report.survey import Survey

ROWS = 20_000
# What sitemaps name and nobody could fetch; what your own rule refuses is no fault of the site.
_LISTED = {BROKEN: LISTED_BROKEN, BLOCKED: LISTED_BLOCKED, DENIED: LISTED_DENIED}
# … and what canonical links lead to.
_TO = {BROKEN: TO_BROKEN, BLOCKED: TO_BROKEN, DENIED: TO_DENIED, REFUSED: TO_UNKNOWN}

_COLUMNS = (
    Column("page", "Page", Kind.PAGE),
    Column("conflict", "Conflict", is_filter=True),
    Column("other", "Other page", Kind.URL, hint="its canonical, or where it redirects"),
    Column("answer", "Answer there", Kind.ANSWER),
)


class _Found(NamedTuple):
    """The id of a page, what is wrong with it, and the id of the other one; 0: there is none, or
    nobody knows it. ``place`` is that of the page.
    """

    page: int
    conflict: Conflict
    other: int
    place: int


def section(survey: Survey) -> Section:
    counts = dict.fromkeys(ALL, 0)
    shown: dict[Conflict, list[_Found]] = {conflict: [] for conflict in ALL}
    for found in chain(_canonicals(survey), _listed(survey)):
        counts[found.conflict] += 1
        if counts[found.conflict] <= ROWS // len(ALL):
            shown[found.conflict].append(found)
    listing = Listing(
        "conflicts",
        "Conflicts",
        _COLUMNS,
        _rows(survey, [found for conflict in ALL for found in shown[conflict]]),
        lead="Pages whose canonical link, noindex, sitemap and robots.txt contradict each other, "
        "or lead nowhere.",
        empty="No conflicts between canonical links, noindex, sitemaps and robots.txt.",
        total=sum(counts.values()),
        of_page=("inlinks",),
    )
    listing.issues = [
        Issue(
            conflict.severity,
            count,
            conflict.one,
            conflict.several,
            conflict.why,
            f"conflicts?conflict={conflict.what}",
        )
        for conflict, count in counts.items()
        # Without a sitemap, nobody has looked.
        if survey.web.sitemaps or conflict not in OF_SITEMAPS
    ]
    return Section("canonical", "Canonical and noindex", [listing])


def _rows(survey: Survey, shown: list[_Found]) -> list[Row]:
    is_text = survey.known.has(Flag.CANONICAL)
    places = {found.place for found in shown if not found.other and is_text[found.place]}
    texts = {
        place: cut(canonical_of(record) or "", URL_CHARS)
        for place, record in survey.records(sorted(places))
    }
    rows: list[Row] = []
    for found in shown:
        end = survey.web.place_of(found.other) if found.other else None
        answer = "" if end is None else survey.answers[survey.known.answers[end]]
        other = found.other or texts.get(found.place)
        rows.append((found.page, found.conflict.what, other, answer))
    return rows


def _canonicals(survey: Survey) -> Iterator[_Found]:
    known, web = survey.known, survey.web
    is_noindex = known.has(Flag.NOINDEX)
    # What failed says nothing of itself.
    is_said = known.has(Flag.CANONICAL) & known.is_outcome(FINE)
    for place in np.flatnonzero(is_said).tolist():
        page, target = int(known.ids[place]), int(known.canonicals[place])
        if is_noindex[place]:
            yield _Found(page, NOINDEX_TOO, target, place)
        end = web.place_of(target) if target else None
        if end is None:
            yield _Found(page, TO_UNKNOWN, target, place)
        elif (failed := _TO.get(OUTCOMES[known.outcomes[end]])) is not None:
            yield _Found(page, failed, target, place)
        elif web.end_of(target) != target:
            yield _Found(page, TO_REDIRECT, target, place)
        elif is_noindex[end]:
            yield _Found(page, TO_NOINDEX, target, place)
        elif is_said[end]:
            yield _Found(page, TO_CANONICAL, target, place)


def _listed(survey: Survey) -> Iterator[_Found]:
    """What sitemaps name."""
    known, web = survey.known, survey.web
    is_noindex, is_canonical = known.has(Flag.NOINDEX), known.has(Flag.CANONICAL)
    for number in np.flatnonzero(survey.in_sitemap).tolist():
        end = web.place_of(number)
        if end is None:
            continue
        if (failed := _LISTED.get(OUTCOMES[known.outcomes[end]])) is not None:
            yield _Found(number, failed, 0, end)
        elif web.end_of(number) != number:
            yield _Found(number, LISTED_REDIRECT, web.end_of(number), end)
        elif is_noindex[end]:
            yield _Found(number, LISTED_NOINDEX, 0, end)
        elif is_canonical[end]:
            yield _Found(number, LISTED_CANONICAL, int(known.canonicals[end]), end)
