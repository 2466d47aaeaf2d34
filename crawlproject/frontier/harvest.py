"""What pages and pipelines have brought, on its way to ``crawl.db``: nobody changes it any more."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlproject.records import encodable, to_text

if TYPE_CHECKING:
    import sqlite3

    from crawlproject.frontier.base import Lease
    from crawlproject.items import Content
    from crawlproject.records import Record


class Harvest:
    """Rows of the tables pages, items, contents and stored. ``length`` is about their size."""

    def __init__(self) -> None:
        self._pages: list[tuple[int, str, bytes | None]] = []
        self._items: list[tuple[int | None, str, str | None, str]] = []
        # Ids of URLs whose items of before go, before those here are written.
        self._dropped: list[tuple[int]] = []
        self._contents: list[tuple[int, Content]] = []
        self._stored: list[tuple[int, str]] = []
        self.length = 0

    def __bool__(self) -> bool:
        return bool(self._pages or self._items or self._dropped or self._contents or self._stored)

    def add_page(self, number: int, record: str, links: list[int] | None) -> None:
        packed = None if links is None else array("I", links).tobytes()
        self._pages.append((number, record, packed))
        self.length += len(record) + len(packed or b"")

    def add_beside(self, number: int, lease: Lease) -> None:
        """What belongs to a page, but not to its record."""
        if lease.content is not None:
            self._contents.append((number, lease.content))
            self.length += lease.content.length
        if lease.stored is not None:
            self._stored.append((number, text := to_text(lease.stored)))
            self.length += len(text)

    def add_item(self, number: int | None, kind: str, page: str | None, record: Record) -> None:
        page, text = page and encodable(page), to_text(record)
        self._items.append((number, kind, page, text))
        self.length += len(text)

    def drop_items(self, number: int) -> None:
        self._dropped.append((number,))
        if any(row[0] == number for row in self._items):
            self._items = [row for row in self._items if row[0] != number]

    def write(self, database: sqlite3.Connection) -> None:
        if self._pages:
            database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", self._pages)
            self._pages.clear()
        if self._dropped:
            database.executemany("DELETE FROM items WHERE url = ?", self._dropped)
            self._dropped.clear()
        if self._items:
            database.executemany(
                "INSERT INTO items (url, kind, page, record) VALUES (?, ?, ?, ?)", self._items
            )
            self._items.clear()
        if self._contents:
            rows = [
                (number, digest, sign() if callable(sign) else sign)
                for number, (digest, sign, _) in self._contents
            ]
            database.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", rows)
            self._contents.clear()
        if self._stored:
            database.executemany("INSERT OR REPLACE INTO stored VALUES (?, ?)", self._stored)
            self._stored.clear()
        self.length = 0
