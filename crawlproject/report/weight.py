"""How quick and how heavy pages are, and how fast the crawl was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.monitoring.times import STEPS
from crawlproject.report.lists import Issue, Section, Severity, pages_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.report.survey import Survey

# The first so many of a list.
ROWS = 500
# From here on, visitors leave.
SLOW_MS = 2_000
HEAVY_BYTES = 2_000_000


_SLOW = (
    f"page that took {SLOW_MS // 1000} seconds or more",
    f"pages that took {SLOW_MS // 1000} seconds or more",
    "Visitors leave, and search engines fetch fewer pages of a slow site.",
)
_HEAVY = (
    *("page of 2 MB or more", "pages of 2 MB or more"),
    "They take long on a phone, and search engines read only their beginning.",
)


def section(survey: Survey) -> Section:
    known = survey.known
    slow, heavy = int((known.times >= SLOW_MS).sum()), int((known.sizes >= HEAVY_BYTES).sum())
    slowest = pages_list(
        "slowest",
        "Slowest pages",
        _first(survey, known.times),
        lead="From the request to the last byte, as the crawler saw it.",
        empty="Nothing was fetched.",
        of_page=("fetch_ms", "bytes", "depth"),
        issues=[Issue(Severity.WARNING, slow, *_SLOW, "slowest")],
    )
    largest = pages_list(
        "largest",
        "Largest pages",
        _first(survey, known.sizes),
        lead="Bytes of the body, after decompression.",
        empty="Nothing was fetched.",
        of_page=("bytes", "fetch_ms", "type"),
        issues=[Issue(Severity.NOTICE, heavy, *_HEAVY, "largest")],
    )
    return Section("weight", "Speed and size", [slowest, largest])


def _first(survey: Survey, values: NDArray[np.int32]) -> list[int]:
    """The ids of the pages with the largest values."""
    places = np.argsort(-values.astype(np.int64), kind="stable")[:ROWS]
    return survey.ids(places[values[places] >= 0])


def times(survey: Survey) -> dict[str, Any]:
    """Of the chart of response times: as the summary has them."""
    found = survey.tally.times.percentiles()
    return {
        "percentiles": None if found is None else found._asdict(),
        "steps": list(STEPS),
        "counts": survey.tally.times.histogram(),
    }
