"""Looking into a crawl directory, without a trace: for commands, and before a crawl.

A database in WAL mode is read with the help of two files beside it. They tell a crawl that
somebody reads, so that nothing is changed under the reader's eyes. Who closes the database
last, and may write, takes them away; who may only read would leave them there.

| the directory | is opened | so that |
|---|---|---|
| of a crawl that has ended | to write, but nothing is written | the two files go |
| of one that runs, or was killed | to read | what is in them stays as it is |
| can't be written | without the two files | a crawl that begins meanwhile is found out at the end |
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from crawlproject.errors import BadCrawlDirectory
from crawlproject.frontier.database import DATABASE, check, holder
from crawlproject.frontier.notes import ADDED_FIELDS, SEEDS, SPIDER, WIDENED
from crawlproject.frontier.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What is larger takes too long to be read through before a crawl.
_CHECKED_BYTES = 128 * 1024 * 1024
# What SQLite says when it can't make a file that it needs.
_NO_FILES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database as it was committed last, also while a crawl goes on, or begins.

    No file is left behind that was not there. Raises BadCrawlDirectory.
    """
    if not check(folder):
        raise BadCrawlDirectory(
            f"there is no crawl in {str(folder)!r}: give the JOBDIR of one that has begun"
        )
    path = folder / DATABASE
    before = _stamp(path)
    try:
        connection, is_safe = _open_to_read(folder)
    except sqlite3.Error as error:
        raise BadCrawlDirectory(
            f"can't read {str(path)!r}: {error}; move it away, or use another JOBDIR; "
            "it was not touched"
        ) from None
    with closing(connection):
        yield connection
    if not is_safe and _stamp(path) != before:
        raise BadCrawlDirectory(
            f"{str(path)!r} was changed by a crawl while it was read: ask again"
        )


def check_content(folder: Path) -> None:
    """Raise BadCrawlDirectory if the database is damaged, as far as that is soon found out."""
    path = folder / DATABASE
    try:
        with reading(folder) as connection:
            if path.stat().st_size <= _CHECKED_BYTES:
                (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise sqlite3.DatabaseError(verdict)
            for note in (SEEDS, WIDENED, ADDED_FIELDS):
                Reader(connection).texts(note)
    except (sqlite3.Error, OSError) as error:
        problem = " ".join(str(error).split())
        raise BadCrawlDirectory(
            f"{str(path)!r} is damaged: {problem}; move it away, or use another JOBDIR; "
            "it was not touched"
        ) from None


def check_spider(folder: Path, name: str) -> None:
    """Raise BadCrawlDirectory if another spider has begun there: no other can make its requests."""
    try:
        with reading(folder) as connection:
            owner = Reader(connection).note(SPIDER)
    except (sqlite3.Error, OSError):
        # Whoever opens it says what is wrong with it.
        return
    if owner not in (None, name):
        raise BadCrawlDirectory(
            f"the crawl in {str(folder)!r} is that of the spider {owner!r}: give {name!r} a JOBDIR "
            "of its own"
        )


def _open_to_read(folder: Path) -> tuple[sqlite3.Connection, bool]:
    """A connection, and whether a crawl that begins now knows of it."""
    path = folder / DATABASE
    has_log = _size(path.with_name(f"{DATABASE}-wal")) > 0
    try:
        if has_log or holder(folder) is not None:
            return _open(path, "mode=ro"), True
        return _open(path, "mode=rw", "query_only = ON"), True
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_FILES:
            raise
    if has_log:
        return _open(path, "mode=ro&vfs=unix-none", "locking_mode = EXCLUSIVE"), False
    return _open(path, "immutable=1"), False


def _open(path: Path, how: str, *pragmas: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("SELECT count(*) FROM notes").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _stamp(path: Path) -> tuple[int, int]:
    """What is different when somebody has written to a file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
