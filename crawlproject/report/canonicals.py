"""Where a page, its canonical link, its noindex and a sitemap say different things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, FINE, OUTCOMES
from crawlproject.report.conflicts import (
    ALL,
    LISTED_BROKEN,
    LISTED_CANONICAL,
    LISTED_NOINDEX,
    LISTED_REDIRECT,
    NOINDEX_TOO,
    OF_SITEMAPS,
    TO_BROKEN,
    TO_CANONICAL,
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

    from crawlproject.report.lists import Ref
    from crawlproject.report.survey import Survey

ROWS = 20_000


_COLUMNS = (
    Column("page", "Page", Kind.PAGE),
    Column("conflict", "Conflict", is_filter=True),
    Column("other", "Other page", Kind.URL, hint="its canonical, or where it redirects"),
    Column("answer", "Answer there", Kind.ANSWER),
)
# The page, what is wrong, and the other one.
_Found = tuple[int, Conflict, "Ref | None"]


def section(survey: Survey) -> Section:
    counts = dict.fromkeys(ALL, 0)
    rows: dict[Conflict, list[_Found]] = {conflict: [] for conflict in ALL}
    for found in (*_canonicals(survey), *_listed(survey)):
        conflict = found[1]
        counts[conflict] += 1
        if counts[conflict] <= ROWS // len(ALL):
            rows[conflict].append(found)
    listing = Listing(
        "conflicts",
        "Conflicts",
        _COLUMNS,
        [
            (page, conflict.what, other, _answer(survey, other))
            for conflict in ALL
            for page, _, other in rows[conflict]
        ],
        lead="Pages whose canonical link, noindex and sitemap contradict each other, or lead "
        "nowhere.",
        empty="No conflicts between canonical links, noindex and sitemaps.",
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


def _canonicals(survey: Survey) -> Iterator[_Found]:
    known, web = survey.known, survey.web
    is_noindex = known.has(Flag.NOINDEX)
    # What failed says nothing of itself.
    is_said = known.has(Flag.CANONICAL) & known.is_outcome(FINE)
    places = np.flatnonzero(is_said)
    unknown = {place for place in places.tolist() if not known.canonicals[place]}
    texts = {
        place: cut(canonical_of(record) or "", URL_CHARS)
        for place, record in survey.records(sorted(unknown))
    }
    for place in places.tolist():
        page, target = int(known.ids[place]), int(known.canonicals[place])
        other: Ref = target or texts.get(place, "")
        if is_noindex[place]:
            yield page, NOINDEX_TOO, other
        end = web.place_of(target) if target else None
        if end is None:
            yield page, TO_UNKNOWN, other
        elif OUTCOMES[known.outcomes[end]] in (BROKEN, BLOCKED):
            yield page, TO_BROKEN, other
        elif web.end_of(target) != target:
            yield page, TO_REDIRECT, other
        elif is_noindex[end]:
            yield page, TO_NOINDEX, other
        elif is_said[end]:
            yield page, TO_CANONICAL, other


def _listed(survey: Survey) -> Iterator[_Found]:
    """What sitemaps name."""
    known, web = survey.known, survey.web
    is_noindex, is_canonical = known.has(Flag.NOINDEX), known.has(Flag.CANONICAL)
    for number in np.flatnonzero(survey.in_sitemap).tolist():
        end = web.place_of(number)
        if end is None:
            continue
        if OUTCOMES[known.outcomes[end]] == BROKEN:
            yield number, LISTED_BROKEN, None
        elif web.end_of(number) != number:
            yield number, LISTED_REDIRECT, web.end_of(number)
        elif is_noindex[end]:
            yield number, LISTED_NOINDEX, None
        elif is_canonical[end]:
            yield number, LISTED_CANONICAL, int(known.canonicals[end]) or None


def _answer(survey: Survey, other: Ref | None) -> str:
    place = survey.web.place_of(other) if isinstance(other, int) else None
    return "" if place is None else survey.answers[survey.known.answers[place]]
