"""Near-duplicates among items as they arrive: for spiders whose items are not our pages.

An item that has a text is compared with those before it, and is marked at once: with
``near_duplicate_of``, the ``url`` of the first similar item, and ``similarity``; or it is dropped.
Which item is the first depends on the order of the responses. Signatures are in a temporary file,
so memory stays flat; those of earlier runs are made again from the items in the crawl directory.
An item is not compared with one of an earlier run that has the same ``url``: its page is visited
again, and the new item takes the place of the old one. Nor is it compared with one that a later
pipeline has dropped, or failed at.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter, is_item
from scrapy.exceptions import DropItem

from crawlproject.pipelines.bands import bands_of, shape_for
from crawlproject.records import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

    from crawlproject.pipelines.parameters import SignatureParameters
    from crawlproject.records import Record

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE items (
    id INTEGER PRIMARY KEY, url TEXT, signature BLOB NOT NULL, is_earlier INTEGER NOT NULL
);
CREATE TABLE bands (number INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (number, item))
    WITHOUT ROWID;
"""
# Items before it that an item is compared with, at most.
_CANDIDATES = 200


class StreamingDuplicates:
    def __init__(
        self,
        parameters: SignatureParameters,
        *,
        field: str,
        threshold: float,
        drops: bool,
        stats: StatsCollector | None = None,
    ) -> None:
        self._parameters = parameters
        self._signatures = parameters.signatures()
        self._field = field
        self._threshold = threshold
        self._drops = drops
        self._stats = stats
        self._shape = shape_for(threshold, parameters.size)
        # A temporary file: it is not needed after a crash.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        # The signature that was added for the item which a task passes through the pipelines.
        self._added: ContextVar[list[int]] = ContextVar("added")
        self._database.execute("BEGIN")

    def learn(self, records: Iterable[Record]) -> None:
        """Add the items of earlier runs, in the order in which they arrived."""
        for record in records:
            text = record.get(self._field)
            if isinstance(text, str) and not record.get("near_duplicate_of"):
                signature = self._parameters.sign_text(text)
                if signature is not None:
                    self._add(_url(record), signature, is_earlier=True)

    def mark(self, item: Any) -> Any:
        """Compare an item with those before it. Raises DropItem."""
        self._added.set([])
        if not is_item(item):
            return item
        adapter = ItemAdapter(item)
        text = adapter.get(self._field)
        signature = self._parameters.sign_text(text) if isinstance(text, str) else None
        if signature is None:
            return item
        own_url = _url(adapter)
        found = self._nearest(signature, own_url)
        if found is None:
            self._added.set([self._add(own_url, signature)])
            return item
        if self._stats is not None:
            self._stats.inc_value("duplicates/items")
        url, similarity = found
        if self._drops:
            raise DropItem(f"near-duplicate of {url}", log_level="DEBUG")
        # An item class without these fields is only counted.
        with suppress(KeyError, AttributeError):
            adapter["near_duplicate_of"], adapter["similarity"] = url, round(similarity, 3)
        return item

    def keep(self) -> None:
        """The item of this task is through all pipelines."""
        self._added.get([]).clear()

    def forget(self) -> None:
        """The item of this task was dropped: others are no duplicates of what nobody gets."""
        added = self._added.get([])
        self._database.executemany("DELETE FROM items WHERE id = ?", [(one,) for one in added])
        added.clear()

    def close(self) -> None:
        self._database.close()

    def _nearest(self, signature: bytes, own_url: str | None) -> tuple[str | None, float] | None:
        nearest: tuple[str | None, float] | None = None
        most = self._threshold
        marks = ",".join("?" * self._shape.bands)
        # Of equal ones the first counts.
        for url, other in self._database.execute(
            "SELECT url, signature FROM items WHERE id IN (SELECT DISTINCT item FROM bands "  # noqa: S608
            f"WHERE number IN ({marks}) LIMIT {_CANDIDATES}) "
            "AND NOT (is_earlier AND url IS ?) ORDER BY id",
            (*self._bands(signature), own_url),
        ):
            similarity = self._signatures.similarity(signature, other)
            if similarity > most or (nearest is None and similarity >= most):
                nearest, most = (url, similarity), similarity
        return nearest

    def _add(self, url: str | None, signature: bytes, *, is_earlier: bool = False) -> int:
        cursor = self._database.execute(
            "INSERT INTO items (url, signature, is_earlier) VALUES (?, ?, ?)",
            (url, signature, is_earlier),
        )
        self._database.executemany(
            "INSERT OR IGNORE INTO bands VALUES (?, ?)",
            [(number, cursor.lastrowid) for number in self._bands(signature)],
        )
        return cursor.lastrowid or 0

    def _bands(self, signature: bytes) -> list[int]:
        values = self._signatures.values(signature)
        (numbers,) = bands_of([values], self._shape.rows, range(self._shape.bands))
        # The same values mean something else in another band; SQLite's integers have a sign.
        return [
            ((int(number) ^ (band * 0x9E3779B97F4A7C15)) & 0x7FFF_FFFF_FFFF_FFFF)
            for band, number in enumerate(numbers)
        ]


def _url(item: Any) -> str | None:
    url = item.get("url")
    # SQLite refuses a lone surrogate.
    return encodable(url) if isinstance(url, str) else None
