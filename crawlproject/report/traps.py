"""Where a site seems to make URLs without end."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from crawlproject.frontier.reading import IS_PAGE
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
    counts: Counter[tuple[str, str]] = Counter()
    examples: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, reason, rule in survey.database.execute(
        f"SELECT id, reason, rule FROM urls WHERE state = 4 AND reason IN ({marks})",  # noqa: S608
        tuple(_REASONS),
    ):
        group = (reason, rule or "")
        counts[group] += 1
        if len(examples[group]) < _EXAMPLES:
            examples[group].append(number)
    columns = (
        Column("what", "What", is_filter=True),
        Column("rule", "Rule"),
        Column("urls", "URLs turned away", Kind.NUMBER),
        Column("examples", "Some of them", Kind.URLS, is_aside=True),
    )
    groups = sorted(counts, key=lambda group: (-counts[group], group))
    rows = [
        (_REASONS[group[0]], cut(group[1]), counts[group], examples[group])
        for group in groups[:ROWS]
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
        total=len(groups),
        unrolled="examples",
        issues=[Issue(Severity.WARNING, len(groups), *words, why, "traps")],
    )


def _variants(survey: Survey) -> Listing:
    found = survey.database.execute(
        f"SELECT substr(url, 1, instr(url, '?') - 1), count(*), coalesce(sum({IS_PAGE}), 0) "  # noqa: S608
        "FROM urls LEFT JOIN pages USING (id) "
        "WHERE instr(url, '?') > 0 AND (state <> 4 OR reason <> 'offsite') "
        "GROUP BY 1 HAVING count(*) >= ? ORDER BY 2 DESC, 1",
        (MANY_QUERIES,),
    ).fetchall()
    columns = (
        Column("url", "Path", Kind.URL),
        Column("variants", "Queries", Kind.NUMBER, hint="different ones that were found"),
        # With the question mark: /search is not /search-help.
        Column("pages", "Pages", Kind.NUMBER, link="pages?path={url}%3F"),
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
