"""What was found but not let in: how many, why, and what would let it in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlproject.frontier.base import ROBOTS, ROBOTS_UNREACHABLE, Counts
from crawlproject.frontier.entry import NO_SITEMAP, depth_of
from crawlproject.monitoring.ending import Ending, skipped
from crawlproject.report.lists import Column, Kind, Listing, Row, Section, cut

if TYPE_CHECKING:
    from crawlproject.report.survey import Survey

ROWS = 20_000
# A rule of a team's own may make up reasons; each is looked for by itself.
_REASONS = 30
# Those are pages, with an error.
_PAGES = (ROBOTS, ROBOTS_UNREACHABLE)


def section(survey: Survey) -> Section:
    return Section("skipped-section", "Skipped URLs", [_reasons(survey), _urls(survey)])


def _reasons(survey: Survey) -> Listing:
    # One by one, to know which is which; those that are pages have no words.
    rows = [
        (reason, row.urls, row.what, row.remedy)
        for reason, count in Counter(survey.counts.skipped).most_common()
        for row in skipped(Ending(counts=Counts(skipped={reason: count}), limits=survey.limits))
    ]
    columns = (
        Column("reason", "Reason"),
        Column("urls", "URLs", Kind.NUMBER, link="skipped?reason={reason}"),
        Column("what", "They are"),
        Column("remedy", "What lets them in"),
    )
    empty = "Nothing was skipped: every link that was found was followed."
    return Listing("reasons", "By reason", columns, rows, empty=empty)


def _urls(survey: Survey) -> Listing:
    counts = Counter(
        {reason: count for reason, count in survey.counts.skipped.items() if reason not in _PAGES}
    )
    columns = (
        Column("url", "URL", Kind.URL),
        Column("reason", "Reason", is_filter=True),
        Column("rule", "Rule"),
        Column("depth", "Depth", Kind.NUMBER, is_filter=True),
        Column("source", "Found on", Kind.URL, hint="the first of the pages nearest to a seed"),
    )
    rows: list[Row] = []
    for reason, limit in shares(dict(counts.most_common(_REASONS)), ROWS).items():
        found = survey.database.execute(
            "SELECT id, reason, rule, level, referrer FROM urls "  # noqa: S608
            f"WHERE state = 4 AND reason = ? AND {NO_SITEMAP} ORDER BY level, url LIMIT ?",
            (reason, limit),
        )
        rows += [
            (number, cut(word), cut(rule or ""), depth_of(level), referrer)
            for number, word, rule, level, referrer in found
        ]
    return Listing("skipped", "URL by URL", columns, rows, total=counts.total())


def shares(counts: dict[str, int], room: int) -> dict[str, int]:
    """How many of each there is room for: few ones as a whole, and the rest among the many."""
    given: dict[str, int] = {}
    for number, (name, count) in enumerate(sorted(counts.items(), key=lambda item: item[1])):
        given[name] = min(count, (room - sum(given.values())) // (len(counts) - number))
    return given
