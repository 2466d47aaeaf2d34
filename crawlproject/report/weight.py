"""How quick and how heavy pages are, and how fast the crawl was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.monitoring.times import STEPS
from crawlproject.report.lists import Column, Issue, Kind, Listing, Section, Severity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.report.survey import Survey

# The first so many of a list.
ROWS = 500
# From here on, visitors leave.
SLOW_MS = 2_000
HEAVY_BYTES = 2_000_000


def section(survey: Survey) -> Section:
    known = survey.known
    slow = int((known.times >= SLOW_MS).sum())
    heavy = int((known.sizes >= HEAVY_BYTES).sum())
    slowest = _first(
        survey,
        known.times,
        ("slowest", "Slowest pages", "From the request to the last byte, as the crawler saw it."),
        ("fetch_ms", "bytes", "depth"),
    )
    slowest.issues = [
        Issue(
            Severity.WARNING,
            slow,
            f"page that took {SLOW_MS // 1000} seconds or more",
            f"pages that took {SLOW_MS // 1000} seconds or more",
            "Visitors leave, and search engines fetch fewer pages of a slow site.",
            "slowest",
        )
    ]
    largest = _first(
        survey,
        known.sizes,
        ("largest", "Largest pages", "Bytes of the body, after decompression."),
        ("bytes", "fetch_ms", "type"),
    )
    largest.issues = [
        Issue(
            Severity.NOTICE,
            heavy,
            "page of 2 MB or more",
            "pages of 2 MB or more",
            "They take long on a phone, and search engines read only their beginning.",
            "largest",
        )
    ]
    return Section("weight", "Speed and size", [slowest, largest])


def _first(
    survey: Survey, values: NDArray[np.int32], names: tuple[str, str, str], columns: tuple[str, ...]
) -> Listing:
    name, title, lead = names
    places = np.argsort(-values.astype(np.int64), kind="stable")[:ROWS]
    places = places[values[places] >= 0]
    rows = [(number,) for number in survey.ids(places)]
    empty = "Nothing was fetched."
    page = (Column("page", "Page", Kind.PAGE),)
    return Listing(name, title, page, rows, lead=lead, empty=empty, of_page=columns)


def times(survey: Survey) -> dict[str, Any]:
    """Of the chart of response times: as the summary has them."""
    found = survey.tally.times.percentiles()
    return {
        "percentiles": None if found is None else found._asdict(),
        "steps": list(STEPS),
        "counts": survey.tally.times.histogram(),
    }
