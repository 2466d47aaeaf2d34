"""Pages that could not be had, with the pages that link to them: broken, blocked, denied."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, DENIED, REFUSED
from crawlproject.report.lists import (
    PAGE_COLUMN,
    Column,
    Issue,
    Kind,
    Listing,
    Row,
    Section,
    Severity,
    cut,
)

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

# Rows of a list. More nobody mends by hand, and the figures count them all.
ROWS = 10_000

_COLUMNS = (
    PAGE_COLUMN,
    Column("answer", "Answer", Kind.ANSWER, is_filter=True),
    Column(
        "linked",
        "Linked from",
        Kind.NUMBER,
        hint="pages that link to it, or to what redirects there",
    ),
    Column("sources", "Pages that link to it", Kind.URLS, is_aside=True),
)


class _Kind(NamedTuple):
    """How pages of an outcome are told of; behind the severity as in ``Issue``."""

    title: str
    lead: str
    empty: str
    severity: Severity
    one: str
    several: str
    why: str


_KINDS = {
    BROKEN: _Kind(
        "Broken pages",
        "They answer with an error, or not at all. The number of pages that link to each says "
        "which to mend first; open a row to see them.",
        "No broken links. Every page that was asked for has answered.",
        Severity.ERROR,
        "broken page",
        "broken pages",
        "Visitors and search engines that follow a link to them end in an error.",
    ),
    BLOCKED: _Kind(
        "Blocked pages",
        "Their server is there, but did not let the crawler in: it wants a password (401), "
        "forbids it (403) or was asked too often (429). Visitors may see them.",
        "No page is blocked: no server answered 401, 403 or 429.",
        Severity.WARNING,
        "page that lets no crawler in",
        "pages that let no crawler in",
        "If visitors may see them, search engines should, too; 429 means: crawl more slowly.",
    ),
    DENIED: _Kind(
        "Denied by robots.txt",
        "robots.txt forbids to fetch them, so they were not asked for. Links lead to them, or "
        "sitemaps and seeds name them.",
        "robots.txt forbids nothing that was found.",
        Severity.NOTICE,
        "page that robots.txt denies",
        "pages that robots.txt denies",
        "That is fine if it is on purpose: search engines don't read them either.",
    ),
    REFUSED: _Kind(
        "Refused by a rule of yours",
        "A gatekeeper of your own has said no. They were not asked for.",
        "",
        Severity.NOTICE,
        "page that a rule of yours refuses",
        "pages that rules of yours refuse",
        "They are not in the rest of this report.",
    ),
}


def broken(survey: Survey) -> Section:
    return Section("broken-links", "Broken links", [_listing(survey, BROKEN)])


def blocked(survey: Survey) -> Section:
    outcomes = (BLOCKED, DENIED, REFUSED) if survey.tally.refused else (BLOCKED, DENIED)
    listings = [_listing(survey, outcome) for outcome in outcomes]
    return Section("no-entry", "Blocked and denied", [*listings, _robots(survey)])


def _listing(survey: Survey, outcome: str) -> Listing:
    kind = _KINDS[outcome]
    total = survey.tally.by_outcome[outcome]
    return Listing(
        outcome,
        kind.title,
        _COLUMNS,
        _rows(survey, outcome),
        lead=kind.lead,
        empty=kind.empty,
        total=total,
        of_page=("depth",),
        unrolled="sources",
        issues=[Issue(kind.severity, total, kind.one, kind.several, kind.why, outcome)],
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
