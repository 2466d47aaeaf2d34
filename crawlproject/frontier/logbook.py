"""What visits have found, and what sitemaps say of when to come back: by URL, for the next visit.

In a crawl directory these are the tables ``visits``, ``changes`` and ``hints``.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.records import from_text, to_text
from crawlproject.recrawl.interval import NEVER, history_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlproject.frontier.entry import Entry
    from crawlproject.records import Record
    from crawlproject.recrawl.interval import History


class Due(NamedTuple):
    """A URL that is to be visited again."""

    id: int
    url: str
    level: int
    visited_at: float
    # Changes a day.
    rate: float


class Logbook(ABC):
    def prepare(self, ids: Iterable[int]) -> None:
        """What is known of some URLs is going to be asked for."""
        return

    @abstractmethod
    def history_of(self, entry: Entry) -> History | None: ...

    @abstractmethod
    def keep_history(self, entry: Entry, history: History) -> None: ...

    @abstractmethod
    def keep_change(self, entry: Entry, at: float, change: str, detail: Record) -> None:
        """Keep what has changed of a URL: the last time only."""

    @abstractmethod
    def due(self, at: float, before: float | None) -> Iterable[Due]:
        """What is done or has failed, and is due, or was visited ``before`` a time."""

    @abstractmethod
    def visit_times(self) -> Iterable[tuple[int, float]]:
        """When each URL was visited last, by id."""

    @abstractmethod
    def next_due(self) -> float | None:
        """When the first of them is."""

    @abstractmethod
    def hint_of(self, entry: Entry) -> Record:
        """What a sitemap says of a URL; nothing, if none does."""

    @abstractmethod
    def hints_of(self, sitemap: Entry, ids: Iterable[int]) -> dict[int, str]:
        """What a sitemap says of URLs that it has named, by their ids."""

    @abstractmethod
    def keep_hints(self, sitemap: Entry, hints: dict[int, str], before: Iterable[int]) -> None:
        """Keep what a sitemap says now; ``before`` are the ids of the URLs that it named."""

    @abstractmethod
    def priorities(self) -> dict[int, float]:
        """What sitemaps say of how much URLs matter, by id."""


class SqliteLogbook(Logbook):
    """Changes wait until ``write``. ``flush`` has everything written, ``begin`` begins to."""

    def __init__(
        self, database: sqlite3.Connection, flush: Callable[[], None], begin: Callable[[], None]
    ) -> None:
        self._database = database
        self._flush = flush
        self._begin = begin
        self._visits: dict[int, History] = {}
        self._changes: list[tuple[int, float, str, str]] = []
        self._has_hints = self._row("SELECT 1 FROM hints LIMIT 1") is not None

    def __bool__(self) -> bool:
        return bool(self._visits or self._changes)

    def history_of(self, entry: Entry) -> History | None:
        if (waiting := self._visits.get(entry.id)) is not None:
            return waiting
        row = self._row(
            "SELECT next_at, visited_at, rate, history FROM visits WHERE id = ?", entry.id
        )
        if row is None:
            return None
        next_at, visited_at, rate, kept = row
        try:
            return history_from(next_at, visited_at, rate, from_text(kept))
        except ValueError as error:
            raise sqlite3.DatabaseError(f"the visits of {entry.url}: {error}") from None

    def keep_history(self, entry: Entry, history: History) -> None:
        self._visits[entry.id] = history

    def keep_change(self, entry: Entry, at: float, change: str, detail: Record) -> None:
        self._changes.append((entry.id, at, change, to_text(detail)))

    def due(self, at: float, before: float | None) -> Iterable[Due]:
        self._flush()
        condition = "next_at <= ?" if before is None else "visited_at < ?"
        rows = self._database.execute(
            "SELECT id, url, level, visited_at, rate FROM visits JOIN urls USING (id) "  # noqa: S608
            f"WHERE {condition} AND state IN (2, 3) ORDER BY id",
            (at if before is None else before,),
        )
        return map(Due._make, rows)

    def visit_times(self) -> Iterable[tuple[int, float]]:
        self._flush()
        return self._database.execute("SELECT id, visited_at FROM visits")

    def next_due(self) -> float | None:
        self._flush()
        row = self._row(
            "SELECT next_at FROM visits JOIN urls USING (id) WHERE next_at < ? AND state IN (2, 3) "
            "ORDER BY next_at LIMIT 1",
            NEVER,
        )
        return None if row is None else float(row[0])

    def hint_of(self, entry: Entry) -> Record:
        if not self._has_hints:
            return {}
        # Of several, the first by URL, as outputs have it.
        row = self._row(
            "SELECT hint FROM hints h JOIN urls s ON s.id = h.sitemap WHERE h.id = ? "
            "ORDER BY s.url LIMIT 1",
            entry.id,
        )
        hint: Record = {} if row is None else from_text(row[0])
        return hint

    def hints_of(self, sitemap: Entry, ids: Iterable[int]) -> dict[int, str]:
        return dict(
            self._database.execute("SELECT id, hint FROM hints WHERE sitemap = ?", (sitemap.id,))
        )

    def keep_hints(self, sitemap: Entry, hints: dict[int, str], before: Iterable[int]) -> None:
        self._has_hints = True
        self._begin()
        self._database.execute("DELETE FROM hints WHERE sitemap = ?", (sitemap.id,))
        self._database.executemany(
            "INSERT INTO hints VALUES (?, ?, ?)",
            [(number, sitemap.id, text) for number, text in hints.items()],
        )

    def priorities(self) -> dict[int, float]:
        return dict(
            self._database.execute(
                "SELECT id, max(json_extract(hint, '$.priority')) AS priority FROM hints "
                "GROUP BY id HAVING priority IS NOT NULL"
            )
        )

    def write(self) -> None:
        """Hand all changes to SQLite, within a transaction that somebody has begun."""
        if self._visits:
            self._database.executemany(
                "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?)",
                [(key, *one[:3], to_text(one.kept())) for key, one in self._visits.items()],
            )
            self._visits.clear()
        if self._changes:
            self._database.executemany(
                "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)", self._changes
            )
            self._changes.clear()

    def _row(self, query: str, *values: Any) -> Any:
        return self._database.execute(query, values).fetchone()
