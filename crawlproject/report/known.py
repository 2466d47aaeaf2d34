"""What is known of every page, in arrays: of a million pages, eighty megabytes.

A page is its place in these arrays. What is text stays in the crawl directory, but for words that
many pages share, which have codes.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.exports.sitemap_xml import HTML_TYPES
from crawlproject.frontier.entry import depth_of
from crawlproject.items import Page
from crawlproject.monitoring.tally import (
    BLOCKED,
    BROKEN,
    FINE,
    OUTCOMES,
    Tally,
    error_word,
    outcome_of,
)
from crawlproject.report.shape import Shape
from crawlproject.report.structured import Types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.records import Record

# In place of a number that is not known.
NONE = -1
# A number beyond is no size, time or status of anything.
_LARGEST = 2**31 - 1


class Flag(IntFlag):
    HTML = 1
    NOINDEX = 2
    TITLE = 4
    DESCRIPTION = 8
    # A heading of level 1.
    HEADING = 16
    # It names another page as the real one.
    CANONICAL = 32
    # Its main text was read, so what it has not is missing.
    READ = 64


# A field, and how its numbers are kept.
_FIELDS = {
    name: code
    for code, names in {
        "I": ("ids", "outlinks", "canonicals", "answers", "hosts", "types", "languages"),
        "i": ("levels", "statuses", "sizes", "times", "words"),
        "B": ("outcomes", "flags"),
        "q": ("titles", "descriptions"),
        "d": ("fetched",),
    }.items()
    for name in names
}


@dataclass(slots=True)
class Known:
    """By place. ``titles`` and ``descriptions`` are hashes, 0: there is none; ``canonicals`` the id
    of the URL that a page names, 0: it names none, or one that nobody knows.
    """

    ids: NDArray[np.uint32]
    levels: NDArray[np.int32]
    statuses: NDArray[np.int32]
    outcomes: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    sizes: NDArray[np.int32]
    times: NDArray[np.int32]
    words: NDArray[np.int32]
    outlinks: NDArray[np.uint32]
    # Seconds of the epoch.
    fetched: NDArray[np.float64]
    titles: NDArray[np.int64]
    descriptions: NDArray[np.int64]
    canonicals: NDArray[np.uint32]
    # Codes.
    answers: NDArray[np.uint32]
    hosts: NDArray[np.uint32]
    types: NDArray[np.uint32]
    languages: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.ids)

    def has(self, flag: Flag) -> NDArray[np.bool_]:
        has: NDArray[np.bool_] = (self.flags & int(flag)) > 0
        return has

    def is_outcome(self, outcome: str) -> NDArray[np.bool_]:
        is_so: NDArray[np.bool_] = self.outcomes == OUTCOMES.index(outcome)
        return is_so

    def indexable(self) -> NDArray[np.bool_]:
        """What search engines may show: it answered 200 with HTML, does not ask to be left out, and
        names no other page as the real one.
        """
        is_ok: NDArray[np.bool_] = self.statuses == HTTPStatus.OK
        is_page = self.is_outcome(FINE) & is_ok & self.has(Flag.HTML)
        return is_page & ~self.has(Flag.NOINDEX) & ~self.has(Flag.CANONICAL)


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
        self.answers, self.hosts, self.types, self.languages = (Codes() for _ in range(4))
        self._arrays: dict[str, array[Any]] = {name: array(code) for name, code in _FIELDS.items()}

    def add(self, number: int, url: str, level: int, record: Record, canonical: int) -> None:
        """``number`` is the id of the URL, ``canonical`` that of the one that it names."""
        status, error = whole(record.get("status_code")), text_of(record.get("error"))
        size, milliseconds = whole(record.get("bytes")), whole(record.get("fetch_ms"))
        page = Page(url, status, depth_of(level), error=error, bytes=size, fetch_ms=milliseconds)
        self.tally.add(page)
        outcome = outcome_of(status, error)
        self.shape.add(url, is_broken=outcome in (BROKEN, BLOCKED))
        self.structured.add(number, record.get("structured_data"))
        title, description = text_of(record.get("title")), text_of(record.get("description"))
        values = {
            "ids": number,
            "levels": level,
            "statuses": NONE if status is None else status,
            "outcomes": OUTCOMES.index(outcome),
            "flags": _flags(record, title, description),
            "sizes": NONE if size is None else size,
            "times": NONE if milliseconds is None else milliseconds,
            "words": number_or_none(record.get("word_count")),
            "outlinks": whole(record.get("outlinks")) or 0,
            "fetched": moment_of(record.get("fetched_at")),
            "titles": hash(title.strip()) if title else 0,
            "descriptions": hash(description.strip()) if description else 0,
            "canonicals": canonical,
            "answers": self.answers[answer_words(status, error)],
            "hosts": self.hosts[host_of(url)],
            "types": self.types[type_of(record)],
            "languages": self.languages[text_of(record.get("language")) or ""],
        }
        for name, value in values.items():
            self._arrays[name].append(value)

    def known(self) -> Known:
        return Known(
            **{
                name: np.frombuffer(values, np.dtype(values.typecode))
                if values
                else np.empty(0, np.dtype(values.typecode))
                for name, values in self._arrays.items()
            }
        )


def _flags(record: Record, title: str | None, description: str | None) -> int:
    headings = record.get("headings")
    has_heading = isinstance(headings, list) and any(
        isinstance(one, dict) and one.get("level") == 1 for one in headings
    )
    flags = {
        Flag.HTML: type_of(record) in HTML_TYPES,
        Flag.NOINDEX: bool(record.get("noindex")),
        Flag.TITLE: bool(title),
        Flag.DESCRIPTION: bool(description),
        Flag.HEADING: has_heading,
        Flag.CANONICAL: canonical_of(record) is not None,
        Flag.READ: whole(record.get("word_count")) is not None,
    }
    return sum(int(flag) for flag, is_so in flags.items() if is_so)


# --- values, which a pipeline may have changed to anything


def whole(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _LARGEST else None


def number_or_none(value: Any) -> int:
    number = whole(value)
    return NONE if number is None else number


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def moment_of(value: Any) -> float:
    """Seconds of the epoch of a time in ISO 8601; not a number where there is none."""
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def canonical_of(record: Record) -> str | None:
    canonical = text_of(record.get("canonical"))
    return None if canonical == record.get("url") else canonical


def type_of(record: Record) -> str:
    return (text_of(record.get("content_type")) or "").partition(";")[0].strip().lower()


def host_of(url: str) -> str:
    """Of a canonical URL, with its port."""
    return url.split("/", 3)[2] if url.count("/") > 2 else url


def answer_words(status: int | None, error: str | None) -> str:
    """What a page answered, as the summary has it: '404 Not Found', 'timeout'."""
    word = error_word(error)
    if status is None:
        return word or "no answer"
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"{status} {word or phrase}".strip()
