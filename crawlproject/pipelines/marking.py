"""Marks duplicates in the records of pages, or leaves them out."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from crawlproject.pipelines.clusters import Mark, duplicates
from crawlproject.pipelines.duplicates import DROP
from crawlproject.pipelines.parameters import NOTE, SignatureParameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawlproject.frontier.reading import Reader
    from crawlproject.pages.signatures import SignatureBackend
    from crawlproject.records import Record

# Significant digits of an estimated similarity.
_DIGITS = 3


class Marks:
    """The duplicates among the pages of a crawl. ``exact`` and ``near`` count them."""

    def __init__(self, reader: Reader, *, threshold: float, drops: bool) -> None:
        self._reader = reader
        self._drops = drops
        self.exact = self.near = 0
        # In arrays, by the id of a URL: a million objects would take a hundred times as much.
        self._of = np.zeros(1, np.uint32)
        self._similarity = np.zeros(1, np.float32)
        parameters = SignatureParameters.from_note(reader.note(NOTE))
        if parameters is not None:
            self._find(threshold, parameters.signatures())

    @classmethod
    def from_settings(cls, reader: Reader, settings: BaseSettings) -> Marks | None:
        """None: pages are not compared."""
        if not settings.getbool("DUPLICATES_ENABLED"):
            return None
        threshold = settings.getfloat("DUPLICATES_THRESHOLD")
        return cls(reader, threshold=threshold, drops=settings["DUPLICATES_ACTION"] == DROP)

    @property
    def dropped(self) -> int:
        return self.exact + self.near if self._drops else 0

    def copies(self) -> Iterator[Mark]:
        """Every duplicate, by the id of its page."""
        for page in map(int, np.flatnonzero(self._of)):
            alike = float(self._similarity[page])
            yield Mark(page, int(self._of[page]), None if alike < 0 else round(alike, _DIGITS))

    def amend(self, page: int, record: Record) -> bool:
        """Mark the record of a duplicate. Returns whether the page is to be shown."""
        of = int(self._of[page]) if page < len(self._of) else 0
        if not of:
            return True
        url, alike = self._reader.url_of(of), float(self._similarity[page])
        if alike < 0:
            record["duplicate_of"] = url
        else:
            record["near_duplicate_of"] = url
            record["similarity"] = round(alike, _DIGITS)
        return not self._drops

    def _find(self, threshold: float, signatures: SignatureBackend) -> None:
        database = self._reader.database
        (last,) = database.execute("SELECT coalesce(max(id), 0) FROM contents").fetchone()
        if last > np.iinfo(np.uint32).max:
            raise sqlite3.DatabaseError(f"no URL has the number {last}")
        self._of = np.zeros(last + 1, np.uint32)
        self._similarity = np.zeros(last + 1, np.float32)
        for mark in duplicates(database, threshold=threshold, signatures=signatures):
            self._of[mark.page] = mark.of
            if mark.similarity is None:
                self._similarity[mark.page] = -1
                self.exact += 1
            else:
                self._similarity[mark.page] = mark.similarity
                self.near += 1
