"""Where a page, its canonical link, its noindex and a sitemap say different things."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, FINE, OUTCOMES
from crawlproject.report.known import Flag
from crawlproject.report.lists import (
    URL_CHARS,
    Column,
    Issue,
    Kind,
    Listing,
    Section,
    Severity,
    cut,
)
from crawlproject.report.values import canonical_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.report.lists import Ref
    from crawlproject.report.survey import Survey

ROWS = 20_000


class _Conflict(NamedTuple):
    what: str
    severity: Severity
    # As in ``Issue``.
    one: str
    several: str
    why: str


_WHY_CANONICAL = "Search engines then don't know which page to show."
_WHY_SITEMAP = "A sitemap should name pages that answer, and that search engines may show."

TO_BROKEN = _Conflict(
    "canonical is broken",
    Severity.ERROR,
    "canonical link to a broken page",
    "canonical links to broken pages",
    _WHY_CANONICAL,
)
TO_REDIRECT = _Conflict(
    "canonical redirects",
    Severity.WARNING,
    "canonical link to a redirect",
    "canonical links to redirects",
    _WHY_CANONICAL,
)
TO_NOINDEX = _Conflict(
    "canonical is noindex",
    Severity.ERROR,
    "canonical link to a page that is not to be indexed",
    "canonical links to pages that are not to be indexed",
    "Search engines may drop both.",
)
TO_CANONICAL = _Conflict(
    "canonical names another",
    Severity.WARNING,
    "canonical link to a page that names another one",
    "canonical links to pages that name other ones",
    _WHY_CANONICAL,
)
TO_UNKNOWN = _Conflict(
    "canonical was not fetched",
    Severity.NOTICE,
    "canonical link to a page that was not crawled",
    "canonical links to pages that were not crawled",
    "It may be on another host, or out of scope; nobody has looked whether it is there.",
)
NOINDEX_TOO = _Conflict(
    "noindex and canonical",
    Severity.WARNING,
    "page with both noindex and a canonical link",
    "pages with both noindex and a canonical link",
    "One says 'forget me', the other 'count me there'.",
)
LISTED_NOINDEX = _Conflict(
    "noindex in a sitemap",
    Severity.WARNING,
    "page in a sitemap that is not to be indexed",
    "pages in a sitemap that are not to be indexed",
    _WHY_SITEMAP,
)
LISTED_CANONICAL = _Conflict(
    "in a sitemap, names another",
    Severity.WARNING,
    "page in a sitemap that names another as the real one",
    "pages in a sitemap that name others as the real ones",
    _WHY_SITEMAP,
)
LISTED_REDIRECT = _Conflict(
    "in a sitemap, redirects",
    Severity.WARNING,
    "URL in a sitemap that redirects",
    "URLs in a sitemap that redirect",
    _WHY_SITEMAP,
)
LISTED_BROKEN = _Conflict(
    "in a sitemap, broken",
    Severity.ERROR,
    "URL in a sitemap that is broken",
    "URLs in a sitemap that are broken",
    _WHY_SITEMAP,
)
_OF_SITEMAPS = (LISTED_BROKEN, LISTED_NOINDEX, LISTED_CANONICAL, LISTED_REDIRECT)
_ALL = (TO_BROKEN, TO_NOINDEX, TO_REDIRECT, TO_CANONICAL, NOINDEX_TOO, *_OF_SITEMAPS, TO_UNKNOWN)

_COLUMNS = (
    Column("page", "Page", Kind.PAGE),
    Column("conflict", "Conflict", is_filter=True),
    Column("other", "Other page", Kind.URL, hint="its canonical, or where it redirects"),
    Column("answer", "Answer there", Kind.ANSWER),
)
# The page, what is wrong, and the other one.
_Found = tuple[int, _Conflict, "Ref | None"]


def section(survey: Survey) -> Section:
    counts = dict.fromkeys(_ALL, 0)
    rows: dict[_Conflict, list[_Found]] = {conflict: [] for conflict in _ALL}
    for found in (*_canonicals(survey), *_listed(survey)):
        conflict = found[1]
        counts[conflict] += 1
        if counts[conflict] <= ROWS // len(_ALL):
            rows[conflict].append(found)
    listing = Listing(
        "conflicts",
        "Conflicts",
        _COLUMNS,
        [
            (page, conflict.what, other, _answer(survey, other))
            for conflict in _ALL
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
        if survey.web.sitemaps or conflict not in _OF_SITEMAPS
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
