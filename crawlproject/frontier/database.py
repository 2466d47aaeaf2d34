"""The file ``crawl.db`` of a crawl directory: made, checked, claimed, opened.

| table | a row for |
|---|---|
| ``urls`` | every known URL: its state, the shortest way to it, why it was skipped |
| ``hosts`` | every host that was to be asked: its delay, when it may be asked again |
| ``robots`` | every origin whose robots.txt was asked |
| ``pages`` | every page, as JSON, with its links as ids of ``urls`` (``store.py``) |
| | and, for ``scrapy why``, what every redirect answered |
| ``contents`` | every page that can be compared with others: hash, signature |
| ``stored`` | every answer that is stored, as JSON: headers, sizes, the hash of its body |
| ``visits`` | every URL that was visited: when, how often it changes, when it is due |
| ``changes`` | what a later visit has found changed, as JSON: the last change of a URL |
| ``hints`` | what a sitemap says of a URL, as JSON |
| ``items`` | whatever else a spider or pipeline made |
| ``answers`` | pages that are fetched, but whose links wait: for room, or for their turn |
| ``budgets`` | groups of URLs with a budget, and how much of it is spent |
| ``notes`` | what the crawl must remember of itself: seeds, scope |

The database is in WAL mode: what is committed outlives ``kill -9``; a power failure may cost
the last commits, never the file. Others may read it while a crawl runs. Only one process
may write: it holds a lock on ``crawl.lock``, which ends with the process, however that ends.

The directory and its files are for their owner only; SQLite gives its files beside the database the
rights of the database.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import IO
from weakref import WeakSet

from crawlproject.errors import BadCrawlDirectory
from crawlproject.private_files import (
    create_new,
    is_link_of_another,
    make_private,
    open_private,
)

DATABASE = "crawl.db"
LOCK = "crawl.lock"
# What SQLite's file header says about whose file it is, and which of our schemas is in it.
APPLICATION = 0x63726177
VERSION = 3

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_CACHE_KIB = 64 * 1024

SCHEMA = """
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    fingerprint INTEGER NOT NULL,
    url TEXT NOT NULL,
    state INTEGER NOT NULL,
    host INTEGER,
    level INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    referrer INTEGER,
    rank INTEGER NOT NULL,
    reason TEXT,
    rule TEXT,
    fetch_url TEXT,
    verdict TEXT,
    attempts INTEGER,
    bounces INTEGER,
    due REAL,
    waits INTEGER,
    target INTEGER,
    fewest_hops INTEGER,
    blocked TEXT,
    again INTEGER,
    request TEXT
) STRICT;
CREATE INDEX urls_by_fingerprint ON urls (fingerprint);
CREATE INDEX urls_by_host ON urls (host, level, rank)
    WHERE state = 0 AND due IS NULL AND waits IS NULL AND again IS NULL;
CREATE INDEX urls_again ON urls (host, rank) WHERE again IS NOT NULL;
CREATE INDEX urls_waiting ON urls (waits, level, rank) WHERE waits IS NOT NULL;
CREATE INDEX urls_due ON urls (due) WHERE due IS NOT NULL;
CREATE INDEX urls_leased ON urls (state) WHERE state = 1;
CREATE INDEX urls_by_target ON urls (target) WHERE target IS NOT NULL;
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    delay REAL NOT NULL,
    insisted REAL NOT NULL,
    throttled REAL NOT NULL,
    ready_at REAL,
    requests INTEGER NOT NULL,
    failures INTEGER NOT NULL
) STRICT;
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    body BLOB,
    fetched_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    error TEXT,
    failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE pages (id INTEGER PRIMARY KEY, record TEXT NOT NULL, links BLOB) STRICT;
CREATE TABLE contents (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, signature BLOB) STRICT;
CREATE TABLE stored (id INTEGER PRIMARY KEY, answer TEXT NOT NULL) STRICT;
CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    next_at REAL NOT NULL,
    visited_at REAL NOT NULL,
    rate REAL NOT NULL,
    history TEXT NOT NULL
) STRICT;
CREATE INDEX visits_by_time ON visits (next_at);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL
) STRICT;
CREATE TABLE hints (
    id INTEGER NOT NULL, sitemap INTEGER NOT NULL, hint TEXT NOT NULL, PRIMARY KEY (id, sitemap)
) STRICT, WITHOUT ROWID;
CREATE INDEX hints_by_sitemap ON hints (sitemap);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, url INTEGER, kind TEXT NOT NULL, page TEXT, record TEXT NOT NULL
) STRICT;
CREATE INDEX items_by_url ON items (url);
CREATE TABLE answers (id INTEGER PRIMARY KEY, url INTEGER NOT NULL, answer TEXT NOT NULL) STRICT;
CREATE TABLE budgets (name TEXT PRIMARY KEY, spent INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""


class Claim:
    """A crawl directory that is this process's alone, until ``release`` or its end."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[str] | None = None
        try:
            make_private(folder)
            # Appending: who holds it has written its number there.
            file = open(  # noqa: SIM115
                folder / LOCK, "a+", encoding="ascii", opener=_open_lock
            )
        except OSError as error:
            raise BadCrawlDirectory(
                f"can't use the crawl directory {str(folder)!r}: {error.strerror}"
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read(20).strip()
            file.close()
            process = f" (process {holder})" if holder.isdigit() else ""
            raise BadCrawlDirectory(
                f"the crawl directory {str(folder)!r} is in use by another crawl{process}: "
                "wait for its end, stop it, or use another JOBDIR"
            ) from None
        try:
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
        except OSError as error:
            raise BadCrawlDirectory(
                f"can't write in the crawl directory {str(folder)!r}: {error.strerror}"
            ) from None
        self._file = file

    def release(self) -> None:
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None


def _open_lock(path: str, flags: int) -> int:
    return open_private(Path(path), flags)


def holder(folder: Path) -> int | None:
    """The process that crawls in a directory now; None: there is none."""
    try:
        with (folder / LOCK).open(encoding="ascii", errors="replace") as file:
            number = file.read(20).strip()
            # Who ends in peace empties the file. Then the lock is left alone: a crawl that
            # began at this very moment would think that it is somebody else's.
            if not (number.isascii() and number.isdigit()):
                return None
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(number)
    except OSError:
        return None
    return None


def check(folder: Path) -> bool:
    """Raise BadCrawlDirectory unless the directory is ours or free; whether a crawl is in it.

    Reads the header of the file, and nothing else: a file of another kind is not touched.
    """
    path = folder / DATABASE
    if is_link_of_another(path):
        raise BadCrawlDirectory(f"{str(path)!r} is a link of another user's: use another JOBDIR")
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise BadCrawlDirectory(
            f"can't use the crawl directory {str(folder)!r}: {error.strerror}"
        ) from None
    advice = "move it away, or use another JOBDIR; it was not touched"
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise BadCrawlDirectory(f"{str(path)!r} is damaged, or no crawl database: {advice}")
    version = int.from_bytes(header[60:64], "big")
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise BadCrawlDirectory(f"{str(path)!r} belongs to another program: {advice}")
    if version != VERSION:
        raise BadCrawlDirectory(
            f"{str(path)!r} has format {version}, and this version of crawlproject has format "
            f"{VERSION}: {advice}"
        )
    return True


class _Connection(sqlite3.Connection):
    """One that can be referred to weakly."""


# The last connection to close removes the -wal file. The garbage collector would close it, but is
# spared at the end of a command (``commands/crawl.py``).
_connections: WeakSet[_Connection] = WeakSet()


@atexit.register
def _close_connections() -> None:
    for connection in list(_connections):
        connection.close()


def connect(folder: Path, *, is_lasting: bool = True) -> sqlite3.Connection:
    """The database of a directory that is claimed and checked, made if it is not there."""
    path = folder / DATABASE
    if not path.exists():
        _make(path)
    # The caller of the API asks for the facts of a crawl that has ended, in its own thread.
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, factory=_Connection
    )
    _connections.add(connection)
    for pragma in (
        "journal_mode = WAL",
        # Written to the system at every commit, to the disk at checkpoints.
        f"synchronous = {'NORMAL' if is_lasting else 'OFF'}",
        # 64 MiB: a page of an index that changes often is copied back less often.
        "wal_autocheckpoint = 8192",
        f"cache_size = -{_CACHE_KIB}",
        "temp_store = FILE",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def connect_to_memory() -> sqlite3.Connection:
    """A database that is no file."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(SCHEMA)
    return connection


def _make(path: Path) -> None:
    """Under another name first: whoever is killed here leaves no half-made database."""
    draft = path.with_name(f".{path.name}.new")
    for ending in ("", "-wal", "-shm", "-journal"):
        draft.with_name(draft.name + ending).unlink(missing_ok=True)
    create_new(draft).close()
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 8192")
        # In one transaction: each would wait for the disk.
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; "
            f"{SCHEMA} COMMIT"
        )
    for ending in ("-wal", "-shm"):
        # Of a database that somebody has deleted.
        path.with_name(path.name + ending).unlink(missing_ok=True)
    draft.replace(path)
