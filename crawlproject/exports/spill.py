"""Sorting on disk: records go in as they come and come out in the order of their keys.

The records are in a temporary SQLite file, which the system deletes when it is closed,
however the process ends, in SQLite's temporary directory (``SQLITE_TMPDIR``, ``TMPDIR``,
``/var/tmp``). Memory is bounded by SQLite's page cache; the disk space needed is about
the size of the records as JSON.
"""

from __future__ import annotations

import marshal
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CACHE_KIB = 8 * 1024

# Without references to equal strings: half the work, and URLs seldom repeat in a record.
_MARSHAL_VERSION = 2


def scratch(cache_kib: int = CACHE_KIB) -> sqlite3.Connection:
    """An empty database in a file that nobody sees."""
    database = sqlite3.connect("", isolation_level=None)
    # Nobody reads this file after a crash, so nothing is spent on surviving one.
    for pragma in (
        "journal_mode = OFF",
        "synchronous = OFF",
        "temp_store = FILE",
        f"cache_size = -{int(cache_kib)}",
    ):
        database.execute(f"PRAGMA {pragma}")
    return database


def packed(record: dict[str, Any]) -> bytes:
    """A record of plain values, for a file that only this process reads."""
    return marshal.dumps(record, _MARSHAL_VERSION)


def unpacked(record: bytes) -> dict[str, Any]:
    values: dict[str, Any] = marshal.loads(record)  # noqa: S302 - our own private file
    return values


class Spill:
    """Records by key. Keys are ordered by their UTF-8 bytes, as Python orders strings."""

    def __init__(self, cache_kib: int = CACHE_KIB) -> None:
        self._database = scratch(cache_kib)
        # The index is built once, at the end: appending costs a third of inserting in order.
        self._database.execute(
            "CREATE TABLE records (arrival INTEGER PRIMARY KEY, key BLOB, record BLOB)"
        )
        self._database.execute("BEGIN")

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record of plain values."""
        self._database.execute(
            "INSERT INTO records (key, record) VALUES (?, ?)",
            # Lone surrogates pass, to be dealt with where they are written.
            (key.encode("utf-8", "surrogatepass"), packed(record)),
        )

    def newest(self) -> Iterator[dict[str, Any]]:
        """The last record of each key, by key."""
        # SQLite takes the bare column from the row that has the maximum.
        return self._read("SELECT record, max(arrival) FROM records GROUP BY key ORDER BY key")

    def all(self) -> Iterator[dict[str, Any]]:
        """Every record, by key; those of one key in the order of their arrival."""
        return self._read("SELECT record FROM records ORDER BY key, arrival")

    def close(self) -> None:
        self._database.close()

    def _read(self, query: str) -> Iterator[dict[str, Any]]:
        self._database.execute("CREATE INDEX IF NOT EXISTS by_key ON records (key)")
        for row in self._database.execute(query):
            yield unpacked(row[0])
