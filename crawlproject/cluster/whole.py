"""The crawl of all workers, as the supervisor sees it: counts now, everything else at the end.

It has what outputs, summary and progress ask of a frontier. It takes no part: nothing is
admitted, and nothing is given out.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.base import Counts
from crawlproject.frontier.database import connect, connect_to_memory
from crawlproject.frontier.hosts import HostsNow
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redis.ending import bury, end_all
from crawlproject.frontier.redis.mirror import Mirror
from crawlproject.frontier.redis.wire import census_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.frontier.base import Facts, Skip
    from crawlproject.frontier.redis.scripts import Scripts


class Look(NamedTuple):
    """The crawl at a moment."""

    counts: Counts
    # The level at which it is.
    depth: int
    # Nothing is left to do, nor handed in.
    is_complete: bool


class Whole:
    def __init__(self, scripts: Scripts, host_of: Callable[[str], str]) -> None:
        self.failure: str | None = None
        self.folder: Path | None = None
        self.host_of = host_of
        self._scripts = scripts
        self._reader = Reader(connect_to_memory())
        # When the workers were started, and last.
        self.first = self.last = Look(Counts(), 0, is_complete=False)

    def look(self) -> Look:
        """Ask Redis. From any thread."""
        workers, (census, idle) = self._scripts.ask_all(
            [("ZRANGE", "workers", 0, -1), ("HMGET", "meta", "census", "idle")]
        )
        inbox = sum(self._scripts.ask_everywhere("LLEN", "inbox"))
        leased = sum(
            sum(self._scripts.ask_everywhere("HLEN", f"l:{worker.decode()}")) for worker in workers
        )
        counted, depth = census_from(census or b"", leased)
        return Look(
            counted,
            max(depth, self.last.depth),
            idle == b"1" and not inbox and not leased,
        )

    def dismiss(self) -> None:
        """End the sessions of processes that are dead: what they had goes to others now, and not
        when their time is up. From any thread.
        """
        bury(self._scripts)

    def dismiss_all(self) -> None:
        """End all sessions: nobody is alive."""
        end_all(self._scripts)

    def copy(self) -> Path:
        """Copy all of it, from any thread: the folder with the copy."""
        folder = Path(tempfile.mkdtemp(prefix="crawl-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        database = connect(folder, is_lasting=False)
        try:
            Mirror(self._scripts, database, self.host_of).copy()
        finally:
            database.close()
        return folder

    def read_from(self, folder: Path) -> None:
        """From now on, what is asked is answered by a copy."""
        self._reader = Reader(connect(folder, is_lasting=False))
        self.folder = folder

    # --- what is asked of a frontier

    def counts(self) -> Counts:
        return self.last.counts

    def hosts(self, now: float) -> HostsNow:
        # The workers have them, and none has all.
        return HostsNow()

    def bottleneck(self) -> None:
        """Each worker has its own."""

    def recall(self, name: str) -> str | None:
        return self._reader.note(name)

    def read(self) -> Reader:
        return self._reader

    def facts(self, url: str) -> Facts | None:
        return self._reader.facts(url)

    def skips(self) -> Iterator[Skip]:
        return self._reader.skips()

    def depths(self) -> dict[int, int]:
        return self._reader.depths()

    def fail(self, problem: str) -> None:
        self.failure = problem
