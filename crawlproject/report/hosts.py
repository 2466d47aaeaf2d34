"""Pages by host, and by what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.monitoring.tally import BLOCKED, BROKEN, FINE
from crawlproject.report.lists import Column, Kind, Listing, Row, Section, cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.report.survey import Survey

ROWS = 5_000


def section(survey: Survey) -> Section:
    known = survey.known
    listings = [
        Listing(
            name,
            title,
            _columns(column),
            _rows(survey, codes, names),
            total=len(names),
            empty="No pages.",
        )
        for name, title, column, codes, names in (
            ("hosts", "Hosts", "host", known.hosts, survey.hosts),
            ("content-types", "Content types", "type", known.types, survey.types),
        )
    ]
    return Section("hosts-section", "Hosts and types", listings)


def _columns(name: str) -> tuple[Column, ...]:
    own = f"pages?{name}={{{name}}}"
    return (
        Column(name, name.capitalize()),
        Column("pages", "Pages", Kind.NUMBER, link=own),
        *(
            Column(outcome, outcome.capitalize(), Kind.NUMBER, link=f"{own}&outcome={outcome}")
            for outcome in (FINE, BROKEN, BLOCKED)
        ),
        Column("bytes", "Size", Kind.BYTES),
        Column("fetch_ms", "Mean time", Kind.MILLISECONDS),
    )


def _rows(survey: Survey, codes: NDArray[np.uint32], names: list[str]) -> list[Row]:
    """By the number of their pages."""
    known, count = survey.known, len(names)

    def sum_of(values: NDArray[Any]) -> NDArray[np.float64]:
        sums = np.bincount(codes, weights=values.astype(np.float64), minlength=count)
        return sums.astype(np.float64)

    pages = np.bincount(codes, minlength=count)
    is_timed = known.times >= 0
    timed, times = sum_of(is_timed), sum_of(np.where(is_timed, known.times, 0))
    columns = (
        pages,
        *(sum_of(known.is_outcome(outcome)) for outcome in (FINE, BROKEN, BLOCKED)),
        sum_of(np.maximum(known.sizes, 0)),
        np.where(timed > 0, np.round(times / np.maximum(timed, 1)), np.nan),
    )
    order = np.lexsort((np.arange(count), -pages))[:ROWS]
    return [
        (cut(names[code]), *(_whole(column[code]) for column in columns)) for code in order.tolist()
    ]


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
