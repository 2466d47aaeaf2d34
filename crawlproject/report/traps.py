"""Where a site seems to make URLs without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from crawlproject.scope.traps import (
    GROWING_PATH,
    HOST_BUDGET,
    PREFIX_BUDGET,
    REPEATED_PATH,
    TOO_MANY_PARAMS,
)

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

ROWS = 500
_EXAMPLES = 10
# A path with so many queries is worth a look.
MANY_QUERIES = 50

_REASONS = {
    REPEATED_PATH: "paths that go round in circles",
    GROWING_PATH: "links that only make a path longer",
    TOO_MANY_PARAMS: "too many parameters",
    HOST_BUDGET: "more than the budget of a host",
    PREFIX_BUDGET: "a calendar, facets, searches or the like",
}


def section(survey: Survey) -> Section:
    return Section("traps-section", "Trap suspects", [_traps(survey), _variants(survey)])


def _traps(survey: Survey) -> Listing:
    marks = ", ".join("?" * len(_REASONS))
    found = survey.database.execute(
        "SELECT reason, rule, count(*) FROM urls "  # noqa: S608
        f"WHERE state = 4 AND reason IN ({marks}) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
        tuple(_REASONS),
    ).fetchall()
    columns = (
        Column("what", "What", is_filter=True),
        Column("rule", "Rule"),
        Column("urls", "URLs turned away", Kind.NUMBER),
        Column("examples", "Some of them", Kind.URLS, is_aside=True),
    )
    rows = [
        (_REASONS[reason], cut(rule or ""), urls, _examples(survey, reason, rule))
        for reason, rule, urls in found[:ROWS]
    ]
    why = "They cost crawlers, those of search engines too, the time that your pages deserve."
    words = ("suspected crawler trap", "suspected crawler traps")
    return Listing(
        "traps",
        "Traps",
        columns,
        rows,
        lead="Groups of URLs that could be counted up without end, and were turned away.",
        empty="No traps. The crawl met no URLs without end.",
        total=len(found),
        unrolled="examples",
        issues=[Issue(Severity.WARNING, len(found), *words, why, "traps")],
    )


def _examples(survey: Survey, reason: str, rule: str | None) -> list[int]:
    rows = survey.database.execute(
        "SELECT id FROM urls WHERE state = 4 AND reason = ? AND rule IS ? LIMIT ?",
        (reason, rule, _EXAMPLES),
    )
    return [number for (number,) in rows]


def _variants(survey: Survey) -> Listing:
    found = survey.database.execute(
        "SELECT substr(url, 1, instr(url, '?') - 1), count(*), sum(state IN (2, 3)) FROM urls "
        "WHERE instr(url, '?') > 0 AND (state <> 4 OR reason <> 'offsite') "
        "GROUP BY 1 HAVING count(*) >= ? ORDER BY 2 DESC, 1",
        (MANY_QUERIES,),
    ).fetchall()
    columns = (
        Column("url", "Path", Kind.URL),
        Column("variants", "Queries", Kind.NUMBER, hint="different ones that were found"),
        Column("pages", "Fetched", Kind.NUMBER, link="pages?path={url}"),
    )
    rows = [(cut(path, URL_CHARS), urls, fetched) for path, urls, fetched in found[:ROWS]]
    return Listing(
        "variants",
        "Paths with many queries",
        columns,
        rows,
        lead=f"One path, and {MANY_QUERIES} different queries behind it or more. Do all of them "
        "say something else?",
        empty="No path has many queries.",
        total=len(found),
    )
