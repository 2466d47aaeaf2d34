"""One of the two that are compared: where its pages come from, and that they come sorted.

Our own outputs are sorted by URL, and so is a crawl directory. Whether a file is shows while it is
read: if it is not, the comparison begins anew, and this side is sorted on disk first.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from typing import TYPE_CHECKING

from crawlproject.errors import BadOutput
from crawlproject.exports.sitemap_json import seconds
from crawlproject.exports.spill import Spill
from crawlproject.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime

    from crawlproject.pipelines.parameters import SignatureParameters
    from crawlproject.report.diff.facts import Facts


class OutOfOrder(Exception):
    """A page came behind one with a greater URL, or the same. ``side`` is to be read again."""

    def __init__(self, side: Side) -> None:
        super().__init__(side.name)
        self.side = side


class Side(ABC):
    # As the user calls it.
    name: str
    # When the crawl began; None: it is not said.
    started_at: str | None = None
    # When it was last at it, as far as its pages were read; None: it is not said.
    last_at: datetime | None = None
    # How many URLs a crawl has still to fetch: their pages are missing.
    open = 0
    # How the signatures were made; None: there are none.
    parameters: SignatureParameters | None = None
    # Whether its pages are believed to come by URL, each URL once.
    is_sorted = True
    # How many were read, each URL once.
    pages = 0

    @abstractmethod
    def read(self) -> Iterator[Facts]:
        """All pages, as they come. Raises BadInput."""

    @property
    def last_fetched_at(self) -> str | None:
        """Rounds of one crawl have one ``started_at``: this tells them apart."""
        return seconds(self.last_at)

    def note_fetch(self, when: object) -> None:
        """A page was fetched then; what is no time is passed over."""
        moment = moment_of(when) if isinstance(when, str) else None
        if moment is not None and (self.last_at is None or moment > self.last_at):
            self.last_at = moment

    def signature(self, url: str) -> bytes | None:
        """Of a page's main text; None: it is not known."""
        return None

    def by_url(self) -> Generator[Facts]:
        """All pages by URL; of several with one URL the last. Raises OutOfOrder."""
        self.pages = 0
        for facts in self._in_order() if self.is_sorted else self._sorted():
            self.pages += 1
            yield facts

    def _in_order(self) -> Iterator[Facts]:
        last = ""
        for facts in self.read():
            url = facts["url"]
            if url <= last:
                raise OutOfOrder(self)
            last = url
            yield facts

    def _sorted(self) -> Iterator[Facts]:
        with closing(Spill()) as spill:
            try:
                for facts in self.read():
                    spill.add(facts["url"], facts)
                yield from spill.newest()
            except sqlite3.Error as error:
                raise no_room(error) from None


def no_room(error: sqlite3.Error) -> BadOutput:
    """For what goes wrong with temporary files: a crawl directory is not to blame for it."""
    return BadOutput(f"can't write temporary files: {error}; TMPDIR=FOLDER names another place")
