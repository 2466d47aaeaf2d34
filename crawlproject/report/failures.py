"""Pages that could not be had, with the pages that link to them: broken, blocked, denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, DENIED, REFUSED
from crawlproject.report.lists import Column, Issue, Kind, Listing, Row, Section, Severity, cut

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

# Rows of a list. More nobody mends by hand, and the figures count them all.
ROWS = 10_000

_COLUMNS = (
    Column("page", "Page", Kind.PAGE),
    Column("answer", "Answer", Kind.ANSWER, is_filter=True),
    Column(
        "linked",
        "Linked from",
        Kind.NUMBER,
        hint="pages that link to it, or to what redirects there",
    ),
    Column("sources", "Pages that link to it", Kind.URLS, is_aside=True),
)


def broken(survey: Survey) -> Section:
    return Section("broken-links", "Broken links", [_broken(survey)])


def blocked(survey: Survey) -> Section:
    listings = [_blocked(survey), _denied(survey)]
    if survey.tally.refused:
        listings.append(_refused(survey))
    return Section("no-entry", "Blocked and denied", [*listings, _robots(survey)])


def _broken(survey: Survey) -> Listing:
    listing = Listing(
        "broken",
        "Broken pages",
        _COLUMNS,
        _rows(survey, BROKEN),
        lead="They answer with an error, or not at all. The number of pages that link to each says "
        "which to mend first; open a row to see them.",
        empty="No broken links. Every page that was asked for has answered.",
        total=survey.tally.broken,
        of_page=("depth",),
        unrolled="sources",
    )
    listing.issues = [
        Issue(
            Severity.ERROR,
            survey.tally.broken,
            "broken page",
            "broken pages",
            "Visitors and search engines that follow a link to them end in an error.",
            "broken",
        )
    ]
    return listing


def _blocked(survey: Survey) -> Listing:
    listing = Listing(
        "blocked",
        "Blocked pages",
        _COLUMNS,
        _rows(survey, BLOCKED),
        lead="Their server is there, but did not let the crawler in: it wants a password (401), "
        "forbids it (403) or was asked too often (429). Visitors may see them.",
        empty="No page is blocked: no server answered 401, 403 or 429.",
        total=survey.tally.blocked,
        of_page=("depth",),
        unrolled="sources",
    )
    listing.issues = [
        Issue(
            Severity.WARNING,
            survey.tally.blocked,
            "page that lets no crawler in",
            "pages that let no crawler in",
            "If visitors may see them, search engines should, too; 429 means: crawl more slowly.",
            "blocked",
        )
    ]
    return listing


def _denied(survey: Survey) -> Listing:
    listing = Listing(
        "denied",
        "Denied by robots.txt",
        _COLUMNS,
        _rows(survey, DENIED),
        lead="Pages link to them, and robots.txt forbids to fetch them. They were not asked for.",
        empty="robots.txt forbids nothing that pages link to.",
        total=survey.tally.denied,
        of_page=("depth",),
        unrolled="sources",
    )
    listing.issues = [
        Issue(
            Severity.NOTICE,
            survey.tally.denied,
            "page that robots.txt denies",
            "pages that robots.txt denies",
            "That is fine if it is on purpose: search engines don't read them either.",
            "denied",
        )
    ]
    return listing


def _refused(survey: Survey) -> Listing:
    return Listing(
        "refused",
        "Refused by a rule of yours",
        _COLUMNS,
        _rows(survey, REFUSED),
        lead="A gatekeeper of your own has said no. They were not asked for.",
        total=survey.tally.refused,
        of_page=("depth",),
        unrolled="sources",
    )


def _robots(survey: Survey) -> Listing:
    found = survey.database.execute(
        "SELECT origin, body IS NOT NULL, error, fetched_at FROM robots ORDER BY origin LIMIT ?",
        (ROWS,),
    )
    rows = [
        (
            f"{origin}/robots.txt",
            f"could not be had: {cut(error)}"
            if error
            else "has rules"
            if rules
            else "has no rules",
            at,
        )
        for origin, rules, error, at in found
    ]
    columns = (
        Column("url", "File", Kind.URL),
        Column("state", "State", is_filter=True),
        Column("asked", "Asked", Kind.TIME),
    )
    (total,) = survey.database.execute("SELECT count(*) FROM robots").fetchone()
    empty = "No robots.txt was asked for."
    return Listing("robots", "robots.txt files", columns, rows, empty=empty, total=total)


def _rows(survey: Survey, outcome: str) -> list[Row]:
    """Those that most pages link to first."""
    known, inlinks = survey.known, survey.web.inlinks
    places = np.flatnonzero(known.is_outcome(outcome))
    places = places[np.lexsort((known.ids[places], -inlinks[places]))][:ROWS]
    return [
        (
            int(known.ids[place]),
            survey.answers[known.answers[place]],
            int(inlinks[place]),
            survey.sources(place),
        )
        for place in places.tolist()
    ]
