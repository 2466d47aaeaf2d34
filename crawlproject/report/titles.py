"""Titles, descriptions and headings that are missing, or that several pages share.

It is about the pages that search engines may show, and no others: a page that names another as the
real one is meant to have its title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.report.known import Flag
from crawlproject.report.lists import Column, Issue, Kind, Listing, Section, Severity, cut
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


def section(survey: Survey) -> Section:
    known, is_indexable = survey.known, survey.known.indexable()
    listings = [
        _missing(
            survey,
            is_indexable & ~known.has(Flag.TITLE),
            ("no-title", "Missing titles", "Every page has a title."),
            ("page without a title", "pages without a title"),
            "The title is the headline in search results, and the name of the tab.",
            Severity.WARNING,
        ),
        _repeated(
            survey,
            (known.titles, is_indexable, "title"),
            ("same-title", "Repeated titles", "No two pages have the same title."),
            ("title that several pages have", "titles that several pages have"),
            "Readers of search results can't tell such pages apart.",
        ),
        _missing(
            survey,
            is_indexable & ~known.has(Flag.DESCRIPTION),
            ("no-description", "Missing descriptions", "Every page has a description."),
            ("page without a description", "pages without a description"),
            "Search engines then show what they find in the text.",
            Severity.NOTICE,
        ),
        _repeated(
            survey,
            (known.descriptions, is_indexable, "description"),
            ("same-description", "Repeated descriptions", "No two pages share a description."),
            ("description that several pages have", "descriptions that several pages have"),
            "A description that fits every page says nothing of any.",
        ),
    ]
    notes = [f"This is about the {int(is_indexable.sum()):,} pages that search engines may show."]
    is_read = is_indexable & known.has(Flag.READ)
    if not is_read.any() and is_indexable.any():
        notes.append(_NOT_READ)
    elif is_read.any() and not known.has(Flag.HEADING).any():
        notes.append(_NO_HEADINGS)
    else:
        listings.append(
            _missing(
                survey,
                is_read & ~known.has(Flag.HEADING),
                ("no-heading", "Missing main headings", "Every page has a main heading (h1)."),
                ("page without a main heading", "pages without a main heading"),
                "The main heading (h1) tells readers and screen readers where they are.",
                Severity.NOTICE,
            )
        )
    return Section("titles", "Titles and descriptions", listings, notes)


def _missing(
    survey: Survey,
    is_missing: NDArray[np.bool_],
    names: tuple[str, str, str],
    words: tuple[str, str],
    why: str,
    severity: Severity,
) -> Listing:
    """The pages that most others link to first."""
    name, title, empty = names
    places = np.flatnonzero(is_missing)
    places = places[np.lexsort((places, -survey.web.inlinks[places]))]
    return Listing(
        name,
        title,
        (Column("page", "Page", Kind.PAGE),),
        [(number,) for number in survey.ids(places[:ROWS])],
        empty=empty,
        total=len(places),
        of_page=("depth", "inlinks", "words"),
        issues=[Issue(severity, len(places), *words, why, name)],
    )


def _repeated(
    survey: Survey,
    what: tuple[NDArray[np.int64], NDArray[np.bool_], str],
    names: tuple[str, str, str],
    words: tuple[str, str],
    why: str,
) -> Listing:
    """Groups, the largest first."""
    hashes, is_meant, field = what
    name, title, empty = names
    places = np.flatnonzero(is_meant & (hashes != 0))
    order = places[np.argsort(hashes[places], kind="stable")]
    starts = np.flatnonzero(np.r_[True, hashes[order][1:] != hashes[order][:-1]])[: len(order)]
    groups = [group for group in np.split(order, starts[1:]) if len(group) > 1]
    groups.sort(key=lambda group: (-len(group), int(group[0])))
    shown = groups[:_GROUPS]
    texts = {
        place: text_of(record.get(field)) or ""
        for place, record in survey.records([int(group[0]) for group in shown])
    }
    rows = [
        (cut(texts.get(int(group[0]), "").strip()), len(group), survey.ids(group[:_MEMBERS]))
        for group in shown
    ]
    columns = (
        Column("text", title.removeprefix("Repeated ").removesuffix("s").capitalize()),
        Column("pages", "Pages", Kind.NUMBER),
        Column("members", "Pages that have it", Kind.URLS, is_aside=True),
    )
    return Listing(
        name,
        title,
        columns,
        rows,
        empty=empty,
        total=len(groups),
        unrolled="members",
        issues=[Issue(Severity.WARNING, len(groups), *words, why, name)],
    )
