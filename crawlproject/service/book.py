"""The book of jobs: what was ordered, and what became of it. It outlives the service.

scrapyd forgets a job when it leaves the queue, until it has ended. So the book is written
before the queue, and a job that is open when the service starts again goes on.

One table in ``dbs_dir/book.sqlite``: a row for each job, by its id and project. While a service has
it, ``dbs_dir/service.lock`` is locked: two would take each other's jobs for their own.

An order may have a secret, such as a password for its site, which a job needs when it goes on after
a restart or a stop. So the file is for its owner only, and a finished job has its secrets no more.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import weakref
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crawlproject.errors import BadInput
from crawlproject.private_files import create_private, keep_private, make_private, open_private
from crawlproject.redaction import redacted

if TYPE_CHECKING:
    from scrapyd.config import Config

FILE = "book.sqlite"
LOCK = "service.lock"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY,
    job TEXT NOT NULL,
    project TEXT NOT NULL,
    spider TEXT NOT NULL,
    message TEXT NOT NULL,
    priority REAL NOT NULL,
    status TEXT NOT NULL,
    queued_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    runs INTEGER NOT NULL,
    exit_status INTEGER,
    problem TEXT,
    UNIQUE (job, project)
) STRICT;
"""
_COLUMNS = (
    "number, job, project, spider, message, priority, status, queued_at, started_at, ended_at, "
    "runs, exit_status, problem"
)


class Status(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    # Came to its end: nothing was left to do, or a limit that was set is reached.
    FINISHED = "finished"
    # Was asked to end; its outputs are complete so far.
    STOPPED = "stopped"
    FAILED = "failed"
    # Ended at once. What it has found is kept, but no output was written.
    KILLED = "killed"


OPEN = frozenset({Status.QUEUED, Status.RUNNING, Status.STOPPING})


@dataclass(slots=True, eq=False)
class Job:
    number: int
    id: str
    project: str
    spider: str
    # The spider's arguments, and under 'settings' the settings, as scrapyd's queue has them.
    message: dict[str, Any]
    priority: float
    status: Status
    queued_at: float
    started_at: float | None = None
    ended_at: float | None = None
    runs: int = 0
    # Of a process that a signal has ended: the signal, negative.
    exit_status: int | None = None
    # Why it failed, in one line.
    problem: str | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def arguments(self) -> dict[str, str]:
        """Of its spider."""
        return {
            name: str(value)
            for name, value in self.message.items()
            if name != "settings" and not name.startswith("_")
        }


_FIELDS = tuple(field.name for field in fields(Job))


class Book:
    """Jobs by their number in ``jobs``, in the order in which they came: all of them, since none
    is large. Those that are open are in ``open``, too.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.jobs: dict[int, Job] = {}
        self.open: dict[int, Job] = {}
        # By their ids: of each project one, at most.
        self._by_id: dict[str, list[Job]] = {}
        self._last = 0
        self.database.executescript(_SCHEMA)
        rows = self.database.execute(f"SELECT {_COLUMNS} FROM jobs ORDER BY number")  # noqa: S608
        for number, job, project, spider, message, priority, status, *rest in rows:
            self._add(
                Job(
                    number,
                    job,
                    project,
                    spider,
                    json.loads(message),
                    priority,
                    Status(status),
                    *rest,
                )
            )

    def find(self, job: str, project: str | None = None) -> Job | None:
        """By its id; of several projects, the one that came last."""
        found = self._by_id.get(job, [])
        if project is not None:
            found = [one for one in found if one.project == project]
        return found[-1] if found else None

    def order(
        self,
        job: str,
        project: str,
        spider: str,
        message: dict[str, Any],
        *,
        priority: float,
        now: float,
    ) -> Job:
        """Note a job that is to run, perhaps again."""
        known = self.find(job, project)
        if known is None:
            number = self._last + 1
            new = Job(number, job, project, spider, message, priority, Status.QUEUED, now)
            # On the disk first: what can't be written was not ordered.
            self._store(new)
            self._add(new)
            return new
        again = Job(known.number, job, project, spider, message, priority, Status.QUEUED, now)
        again.started_at, again.runs = known.started_at, known.runs
        self._store(again)
        for name in _FIELDS:
            setattr(known, name, getattr(again, name))
        self._sort(known)
        return known

    def write(self, job: Job) -> None:
        """Keep a job as it is now; one that has finished, without the secrets of its order."""
        if job.status is Status.FINISHED:
            job.message = redacted(job.message)
        self._store(job)
        self._sort(job)

    def _store(self, job: Job) -> None:
        self.database.execute(
            f"INSERT OR REPLACE INTO jobs ({_COLUMNS}) "  # noqa: S608
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                job.number,
                job.id,
                job.project,
                job.spider,
                json.dumps(job.message),
                job.priority,
                str(job.status),
                job.queued_at,
                job.started_at,
                job.ended_at,
                job.runs,
                job.exit_status,
                job.problem,
            ),
        )

    def remove(self, job: Job) -> None:
        self.database.execute("DELETE FROM jobs WHERE number = ?", (job.number,))
        del self.jobs[job.number]
        self.open.pop(job.number, None)
        self._by_id[job.id].remove(job)
        if not self._by_id[job.id]:
            del self._by_id[job.id]

    def count_open(self, *statuses: Status) -> int:
        return sum(job.status in statuses for job in self.open.values())

    def ended_beyond(self, most: int) -> list[Job]:
        """The ended jobs but for the last ones; none, if there is no such bound."""
        if not most or len(self.jobs) - len(self.open) <= most:
            return []
        ended = [job for job in self.jobs.values() if not job.is_open]
        ended.sort(key=lambda job: job.ended_at or 0.0)
        return ended[:-most]

    def _sort(self, job: Job) -> None:
        if job.is_open:
            self.open[job.number] = job
        else:
            self.open.pop(job.number, None)

    def _add(self, job: Job) -> None:
        self.jobs[job.number] = job
        self._last = max(self._last, job.number)
        self._sort(job)
        self._by_id.setdefault(job.id, []).append(job)


_books: WeakKeyDictionary[Config, Book] = WeakKeyDictionary()


def book_of(config: Config) -> Book:
    """One book for all parts of the service, which know each other by nothing else.

    Raises BadInput if another service has it.
    """
    if config not in _books:
        folder = Path(config.get("dbs_dir", "dbs"))
        make_private(folder)
        weakref.finalize(config, os.close, _locked(folder))
        create_private(folder / FILE)
        # A version before this one let everybody read them; scrapyd's are there, too.
        for path in folder.iterdir():
            keep_private(path)
        database = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA journal_mode = WAL")
        # What is replaced is overwritten.
        database.execute("PRAGMA secure_delete = ON")
        _books[config] = Book(database)
    return _books[config]


def _locked(folder: Path) -> int:
    """A file that is this process's until it is closed, or the process ends, however it does."""
    lock = open_private(folder / LOCK, os.O_WRONLY | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise BadInput(
            f"another service uses {str(folder)!r}: stop it, or give this one a folder of its own"
        ) from None
    return lock
