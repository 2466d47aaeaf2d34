"""What the report is made of: sections, lists, columns, rows, and what is wrong. *Pure.*

A list is the same for all themes: whoever adds one says what its columns hold, and gets sorting,
search, filters, details, CSV and print. In a row, a URL is the number that it has in the crawl
directory (its id), or its text where it has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# A URL: its id, or its text.
Ref = int | str
Row = tuple[Any, ...]


class Kind(StrEnum):
    """What a column holds, and so how it is shown, sorted and written to CSV."""

    # A URL that may be a page, with what the list of pages knows of it; any other URL; several.
    PAGE = "page"
    URL = "url"
    URLS = "urls"
    TEXT = "text"
    # Several lines, shown when a row is opened.
    LINES = "lines"
    NUMBER = "number"
    BYTES = "bytes"
    MILLISECONDS = "ms"
    # From 0 to 1.
    SHARE = "share"
    # One is the mean.
    RANK = "rank"
    # A list of words; each can be chosen by itself.
    WORDS = "words"
    # '404 Not Found', 'timeout'.
    ANSWER = "answer"
    # Seconds of the epoch.
    TIME = "time"
    YES = "yes"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Issue(NamedTuple):
    """Something to mend, or to look at: how many, what, why it matters, and where the list is."""

    severity: Severity
    number: int
    # As it reads behind the number: 'broken links'. One and several.
    one: str
    several: str
    why: str
    # A list, and perhaps a filter: 'conflicts?conflict=…'.
    link: str


class Column(NamedTuple):
    name: str
    label: str
    kind: Kind = Kind.TEXT
    # Rows can be chosen by its values.
    is_filter: bool = False
    # Only where a row is opened, and in CSV.
    is_aside: bool = False
    # What it means, where the label leaves that open.
    hint: str = ""
    # The list behind a figure, with values of its row: 'pages?host={host}'.
    link: str = ""


PAGE_COLUMN = Column("page", "Page", Kind.PAGE)


@dataclass(slots=True)
class Listing:
    """One table. ``name`` is its address: #broken."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: list[Row] = field(default_factory=list)
    # What is in it, and what it is good for, in a sentence or two.
    lead: str = ""
    # In place of no rows.
    empty: str = ""
    # How many rows there would be, if there were room.
    total: int = 0
    # Columns of the list of pages that are shown for its first column, too.
    of_page: tuple[str, ...] = ()
    # In CSV, a row for each of the URLs of this column.
    unrolled: str = ""
    issues: list[Issue] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.total = max(self.total, len(self.rows))


def pages_list(name: str, title: str, ids: Iterable[int], **more: Any) -> Listing:
    """A list of pages, by the ids of their URLs, and what is known of them anyway."""
    return Listing(name, title, (PAGE_COLUMN,), [(number,) for number in ids], **more)


@dataclass(slots=True)
class Section:
    """A theme of the report."""

    name: str
    title: str
    listings: list[Listing] = field(default_factory=list)
    # What the reader must know of it: what was not looked at, what is left out.
    notes: list[str] = field(default_factory=list)


# What a site says is cut here.
TEXT_CHARS = 300
URL_CHARS = 2_000


def cut(text: str, chars: int = TEXT_CHARS) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
