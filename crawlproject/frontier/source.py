"""Where a crawl is looked at: in a crawl directory, or in Redis. For commands, also while it runs.

A shared crawl is copied into a database of the same form (``redis/mirror.py``), as far as it is
needed, in a temporary folder; so whoever reads it need not know which of the two it is.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.errors import BadCrawlDirectory
from crawlproject.frontier import overview
from crawlproject.frontier.database import holder
from crawlproject.frontier.looking import reading
from crawlproject.frontier.questions import Questions
from crawlproject.frontier.redis.address import is_address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from scrapy.settings import BaseSettings

    from crawlproject.frontier.redis.fleet import Fleet


class Source(ABC):
    # As a user calls it; no password is in it.
    name: str
    # The crawl directory; None: there is none.
    folder: Path | None = None

    @abstractmethod
    def opened(self, *, with_pages: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        """The crawl as it was at one moment; pages may be left out, if nobody needs them. Raises
        BadInput.
        """

    @abstractmethod
    def questions(self) -> AbstractContextManager[Questions]:
        """For single URLs. Raises BadInput."""

    @abstractmethod
    def running(self) -> int | list[str] | None:
        """The process that crawls now, or the names of the workers; None: nobody."""

    @abstractmethod
    def size(self) -> int | None:
        """The bytes that it takes, about. None: that can't be told."""

    def fleet(self) -> Fleet | None:
        """What only a shared crawl has."""
        return None

    @abstractmethod
    def stop(self) -> int:
        """Have a shared crawl end as after Ctrl-C: how many workers are told. Raises BadInput."""

    @abstractmethod
    def forget(self) -> None:
        """Remove a shared crawl, whoever works on it. Raises BadInput."""


class Directory(Source):
    def __init__(self, folder: Path) -> None:
        self.folder: Path = folder
        self.name = str(folder)

    @contextmanager
    def opened(self, *, with_pages: bool = True) -> Iterator[sqlite3.Connection]:
        with reading(self.folder) as database:
            try:
                database.execute("BEGIN")
                yield database
            except sqlite3.Error as error:
                raise BadCrawlDirectory(f"can't read {self.name!r}: {error}") from None

    @contextmanager
    def questions(self) -> Iterator[Questions]:
        with self.opened() as database:
            yield Questions(database)

    def running(self) -> int | None:
        return holder(self.folder)

    def size(self) -> int:
        return overview.size(self.folder)

    def stop(self) -> int:
        process = self.running()
        by = "Ctrl-C ends it" if process is None else f"kill -INT {process} ends it"
        raise BadCrawlDirectory(f"{self.name!r} is no shared crawl (redis://…): {by}")

    def forget(self) -> None:
        raise BadCrawlDirectory(f"{self.name!r} is no shared crawl (redis://…): delete the folder")


def source_of(where: str, settings: BaseSettings, crawl: str | None = None) -> Source:
    """By the path of a directory or the address of a Redis; ``crawl`` is the id of one that is
    there. Raises BadInput.
    """
    if not is_address(where):
        return Directory(Path(where))
    # What belongs to Redis is imported by who needs it.
    from crawlproject.frontier.redis.shared import shared_source

    return shared_source(where, settings, crawl)
