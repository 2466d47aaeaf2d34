"""The copy of a shared crawl that a worker reads: made again when something was committed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.frontier.database import connect, connect_to_memory
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redis.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.redis.scripts import Scripts


class Copies:
    def __init__(self, scripts: Scripts, host_of: Callable[[str], str]) -> None:
        self._scripts = scripts
        self._host_of = host_of
        # The last one, and after how many commits it was made.
        self._last: tuple[bytes | None, Reader] | None = None

    def read(self, folder: Path | None) -> Reader:
        """The crawl as it is now, as files in a folder, if there is one; else in memory."""
        commits = self._scripts.ask("HGET", "meta", "commits")
        if self._last is None or self._last[0] != commits:
            self._last = commits, self._made(folder)
        return self._last[1]

    def _made(self, folder: Path | None) -> Reader:
        if folder is None:
            database = connect_to_memory()
        else:
            database = connect(Path(tempfile.mkdtemp(dir=folder)), is_lasting=False)
        Mirror(self._scripts, database, self._host_of).copy()
        return Reader(database)
