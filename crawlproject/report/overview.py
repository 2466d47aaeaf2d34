"""Is the site healthy? The figures, the issues and the charts with which the report begins.

What the summary of a crawl says, too, comes from where it gets it: ``Tally`` and ``Ending``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.monitoring.ending import headline, notes
from crawlproject.monitoring.tally import BLOCKED, BROKEN, DENIED, FINE, OUTCOMES, REFUSED
from crawlproject.report import weight
from crawlproject.report.lists import Severity

if TYPE_CHECKING:
    from crawlproject.report.lists import Issue, Section
    from crawlproject.report.survey import Survey

_ORDER = list(Severity)


def overview(survey: Survey, sections: list[Section]) -> dict[str, Any]:
    ending = survey.ending()
    return {
        "headline": headline(ending),
        "notes": notes(ending),
        "seeds": ending.subject[:10],
        "seed_count": len(ending.subject),
        "began_at": survey.began_at,
        "is_round": survey.round is not None,
        "open": survey.counts.open,
        "again": survey.count_again(),
        "health": _health(survey),
        "figures": _figures(survey, sections),
        **_issues(sections),
        "answers": _answers(survey),
        "depths": sorted(survey.depths.items()),
        "times": weight.times(survey),
        "speed": survey.pace._asdict(),
        "shape": survey.shape.tree(),
    }


def _health(survey: Survey) -> float | None:
    """The part of the pages that are fine, of those that were asked for; None: there are none."""
    tally = survey.tally
    asked = tally.pages - tally.denied - tally.refused
    return tally.fine / asked if asked else None


def _figures(survey: Survey, sections: list[Section]) -> list[dict[str, Any]]:
    tally = survey.tally
    totals = {listing.name: listing.total for section in sections for listing in section.listings}
    outcomes = tally.by_outcome
    figures: list[tuple[str, int | None, str, str]] = [
        ("Pages", tally.pages, "pages", ""),
        ("Fine", outcomes[FINE], "pages?outcome=fine", "good"),
        ("Broken", outcomes[BROKEN], "broken", "bad"),
        ("Blocked", outcomes[BLOCKED], "blocked", "warn"),
        ("Denied by robots.txt", outcomes[DENIED], "denied", ""),
        ("Refused", outcomes[REFUSED] or None, "refused", ""),
        ("Redirects", totals.get("redirects"), "redirects", ""),
        ("Duplicates", totals.get("duplicates"), "duplicates", ""),
        ("Orphans", totals.get("orphans"), "orphans", ""),
        ("Skipped URLs", totals.get("skipped"), "skipped", ""),
        ("Hosts", len(survey.hosts), "hosts", ""),
        ("Changes", totals.get("changes"), "changes", ""),
        ("Not yet fetched", survey.counts.open or None, "", "warn"),
    ]
    return [
        {"label": label, "value": value, "link": link, "tone": tone if value else ""}
        for label, value, link, tone in figures
        if value is not None
    ]


def _issues(sections: list[Section]) -> dict[str, Any]:
    """What is to be mended, the worst first; and in how many ways nothing is wrong."""
    found: list[Issue] = [
        issue for section in sections for listing in section.listings for issue in listing.issues
    ]
    present = [issue for issue in found if issue.number]
    present.sort(key=lambda issue: (_ORDER.index(issue.severity), -issue.number))
    return {
        "issues": [
            {
                "severity": issue.severity,
                "count": issue.number,
                "what": issue.one if issue.number == 1 else issue.several,
                "why": issue.why,
                "link": issue.link,
            }
            for issue in present
        ],
        "passed": [issue.several for issue in found if not issue.number],
    }


def _answers(survey: Survey) -> list[dict[str, Any]]:
    """What pages answered, the most frequent first."""
    known = survey.known
    codes, firsts, counts = np.unique(known.answers, return_index=True, return_counts=True)
    return [
        {
            "answer": survey.answers[codes[place]],
            "outcome": OUTCOMES[known.outcomes[firsts[place]]],
            "count": int(counts[place]),
        }
        for place in np.argsort(-counts, kind="stable").tolist()
    ]
