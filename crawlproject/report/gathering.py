"""Looks at every page once, for all that is told of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.exports.sitemap_xml import HTML_TYPES
from crawlproject.frontier.entry import depth_of
from crawlproject.items import Page
from crawlproject.monitoring.tally import BLOCKED, BROKEN, OUTCOMES, Tally, outcome_of
from crawlproject.records import RENDERED
from crawlproject.report.known import ROW, Flag, Known
from crawlproject.report.shape import Shape
from crawlproject.report.structured import Types
from crawlproject.report.values import (
    NONE,
    answer_words,
    canonical_of,
    host_of,
    moment_of,
    number_or_none,
    text_of,
    type_of,
    whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.records import Record

_FLAGS = tuple(map(int, Flag))
# Rows that are objects; a million of them would take a gigabyte.
_AT_ONCE = 10_000


class Codes(dict[str, int]):
    """Numbers of words, from 0; their order is that of the words."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class Gathering:
    """Fed page by page."""

    def __init__(self) -> None:
        self.tally = Tally(slowest=0, broken=0)
        self.shape = Shape()
        self.structured = Types()
        # Pages that a browser has shown.
        self.rendered = 0
        self.answers, self.hosts, self.types, self.languages = (Codes() for _ in range(4))
        self._rows: list[tuple[Any, ...]] = []
        self._arrays: list[NDArray[np.void]] = []

    def add(self, number: int, url: str, level: int, record: Record, canonical: int) -> None:
        """``number`` is the id of the URL, ``canonical`` that of the one that it names."""
        status, error = whole(record.get("status_code")), text_of(record.get("error"))
        size, milliseconds = whole(record.get("bytes")), whole(record.get("fetch_ms"))
        page = Page(url, status, depth_of(level), error=error, bytes=size, fetch_ms=milliseconds)
        self.tally.add(page)
        outcome = outcome_of(status, error)
        self.shape.add(url, is_broken=outcome in (BROKEN, BLOCKED))
        self.structured.add(number, record.get("structured_data"))
        self.rendered += record.get(RENDERED) is True
        title, description = text_of(record.get("title")), text_of(record.get("description"))
        kind = type_of(record)
        # In the order of ROW.
        row = (
            number,
            level,
            NONE if status is None else status,
            OUTCOMES.index(outcome),
            _flags(record, kind in HTML_TYPES, title, description),
            NONE if size is None else size,
            NONE if milliseconds is None else milliseconds,
            number_or_none(record.get("word_count")),
            whole(record.get("outlinks")) or 0,
            moment_of(record.get("fetched_at")),
            hash(title.strip()) if title else 0,
            hash(description.strip()) if description else 0,
            canonical,
            self.answers[answer_words(status, error)],
            self.hosts[host_of(url)],
            self.types[kind],
            self.languages[text_of(record.get("language")) or ""],
        )
        self._rows.append(row)
        if len(self._rows) >= _AT_ONCE:
            self._pack()

    def known(self) -> Known:
        self._pack()
        rows = np.concatenate(self._arrays)
        return Known(**{name: np.ascontiguousarray(rows[name]) for name in ROW.names or ()})

    def _pack(self) -> None:
        self._arrays.append(np.array(self._rows, ROW))
        self._rows.clear()


def _flags(record: Record, is_html: bool, title: str | None, description: str | None) -> int:
    headings = record.get("headings")
    has_heading = isinstance(headings, list) and any(
        isinstance(one, dict) and one.get("level") == 1 for one in headings
    )
    # In the order of Flag.
    is_set = (
        is_html,
        record.get("noindex"),
        title,
        description,
        has_heading,
        canonical_of(record) is not None,
        whole(record.get("word_count")) is not None,
        # As ``known_of`` has it.
        record.get(RENDERED) is False,
    )
    return sum(flag for flag, is_so in zip(_FLAGS, is_set, strict=True) if is_so)
