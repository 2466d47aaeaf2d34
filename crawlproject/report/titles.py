"""Titles, descriptions and headings that are missing, or that several pages share.

It is about the pages that search engines may show, and no others: a page that names another as the
real one is meant to have its title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.report.known import Flag
from crawlproject.report.lists import (
    Column,
    Issue,
    Kind,
    Listing,
    Section,
    Severity,
    cut,
    pages_list,
)
from crawlproject.report.values import text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.report.survey import Survey

ROWS = 20_000
_GROUPS = 2_000
# Pages of a group that are named.
_MEMBERS = 100
_NOT_READ = "Headings were not read in this crawl (PAGES_CONTENT is off)."
_NO_HEADINGS = "Headings were not recorded in this crawl, or no page has one."


class _Check(NamedTuple):
    """A list, and what it finds: as in ``Issue`` from the severity on."""

    name: str
    title: str
    empty: str
    severity: Severity
    one: str
    several: str
    why: str

    def issue(self, number: int) -> Issue:
        return Issue(self.severity, number, self.one, self.several, self.why, self.name)


_NO_TITLE = _Check(
    *("no-title", "Missing titles", "Every page has a title.", Severity.WARNING),
    *("page without a title", "pages without a title"),
    "The title is the headline in search results, and the name of the tab.",
)
_SAME_TITLE = _Check(
    *("same-title", "Repeated titles", "No two pages have the same title.", Severity.WARNING),
    *("title that several pages have", "titles that several pages have"),
    "Readers of search results can't tell such pages apart.",
)
_NO_DESCRIPTION = _Check(
    *("no-description", "Missing descriptions", "Every page has a description.", Severity.NOTICE),
    *("page without a description", "pages without a description"),
    "Search engines then show what they find in the text.",
)
_SAME_DESCRIPTION = _Check(
    *("same-description", "Repeated descriptions", "No two pages share a description."),
    Severity.WARNING,
    *("description that several pages have", "descriptions that several pages have"),
    "A description that fits every page says nothing of any.",
)
_NO_HEADING = _Check(
    *("no-heading", "Missing main headings", "Every page has a main heading (h1)."),
    Severity.NOTICE,
    *("page without a main heading", "pages without a main heading"),
    "The main heading (h1) tells readers and screen readers where they are.",
)


def section(survey: Survey) -> Section:
    known, is_meant = survey.known, survey.known.indexable()
    listings = [
        _missing(survey, is_meant & ~known.has(Flag.TITLE), _NO_TITLE),
        _repeated(survey, known.titles, is_meant, "title", _SAME_TITLE),
        _missing(survey, is_meant & ~known.has(Flag.DESCRIPTION), _NO_DESCRIPTION),
        _repeated(survey, known.descriptions, is_meant, "description", _SAME_DESCRIPTION),
    ]
    notes = [f"This is about the {int(is_meant.sum()):,} pages that search engines may show."]
    is_read = is_meant & known.has(Flag.READ)
    if not is_read.any() and is_meant.any():
        notes.append(_NOT_READ)
    elif is_read.any() and not known.has(Flag.HEADING).any():
        notes.append(_NO_HEADINGS)
    else:
        listings.append(_missing(survey, is_read & ~known.has(Flag.HEADING), _NO_HEADING))
    return Section("titles", "Titles and descriptions", listings, notes)


def _missing(survey: Survey, is_missing: NDArray[np.bool_], check: _Check) -> Listing:
    """The pages that most others link to first."""
    places = np.flatnonzero(is_missing)
    places = places[np.lexsort((places, -survey.web.inlinks[places]))]
    return pages_list(
        check.name,
        check.title,
        survey.ids(places[:ROWS]),
        empty=check.empty,
        total=len(places),
        of_page=("depth", "inlinks", "words"),
        issues=[check.issue(len(places))],
    )


def _repeated(
    survey: Survey,
    hashes: NDArray[np.int64],
    is_meant: NDArray[np.bool_],
    field: str,
    check: _Check,
) -> Listing:
    """Groups, the largest first."""
    places = np.flatnonzero(is_meant & (hashes != 0))
    order = places[np.argsort(hashes[places], kind="stable")]
    starts = np.flatnonzero(np.r_[True, hashes[order][1:] != hashes[order][:-1]])[: len(order)]
    counts = np.diff(np.r_[starts, len(order)])
    several = np.flatnonzero(counts > 1)
    firsts = order[starts[several]]
    shown = [
        order[starts[group] : starts[group] + counts[group]]
        for group in several[np.lexsort((firsts, -counts[several]))][:_GROUPS]
    ]
    texts = {
        place: text_of(record.get(field)) or ""
        for place, record in survey.records([int(group[0]) for group in shown])
    }
    rows = [
        (cut(texts.get(int(group[0]), "").strip()), len(group), survey.ids(group[:_MEMBERS]))
        for group in shown
    ]
    columns = (
        Column("text", field.capitalize()),
        Column("pages", "Pages", Kind.NUMBER),
        Column("members", "Pages that have it", Kind.URLS, is_aside=True),
    )
    return Listing(
        check.name,
        check.title,
        columns,
        rows,
        empty=check.empty,
        total=len(several),
        unrolled="members",
        issues=[check.issue(len(several))],
    )
