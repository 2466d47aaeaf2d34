"""Pages of a crawl, in a directory or in Redis, also while it runs: those that outputs have."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlproject.errors import BadCrawlDirectory
from crawlproject.exports.sitemap_json import seconds
from crawlproject.frontier import overview
from crawlproject.frontier.notes import ROUND
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.rounds import round_in
from crawlproject.frontier.seen import fingerprint
from crawlproject.pipelines.duplicates import DROP
from crawlproject.pipelines.marking import Marks
from crawlproject.pipelines.parameters import NOTE, SignatureParameters
from crawlproject.report.diff.facts import BadFacts
from crawlproject.report.diff.sides import Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from crawlproject.report.diff.facts import Facts, Reduced


class CrawlSide(Side):
    def __init__(
        self, name: str, database: sqlite3.Connection, reduced: Reduced, settings: BaseSettings
    ) -> None:
        self.name = name
        self._reader = Reader(database)
        self._reduced = reduced
        self._settings = settings
        self.started_at = seconds(self._reader.started_at())
        self.last_at = _round_of(self._reader)
        self.open = overview.count(database).open
        self.parameters = SignatureParameters.from_note(self._reader.note(NOTE))

    def read(self) -> Iterator[Facts]:
        with self._readable():
            # Pages that outputs leave out are left out here.
            marks = Marks.from_settings(self._reader, self._settings) if self._drops() else None
            amend = None if marks is None else marks.amend
            for _, record in self._reader.pages(with_links=self._reduced.with_links, amend=amend):
                self.note_fetch(record.get("fetched_at"))
                try:
                    yield self._reduced(record)
                except BadFacts as error:
                    url = record.get("url")
                    raise BadCrawlDirectory(f"{self.name!r}, page {url!r}: {error}") from None

    def signature(self, url: str) -> bytes | None:
        if self.parameters is None:
            return None
        with self._readable():
            row = self._reader.database.execute(
                "SELECT signature FROM contents JOIN urls USING (id) "
                "WHERE fingerprint = ? AND url = ?",
                (fingerprint(url), url),
            ).fetchone()
        if row is None or not self.parameters.signatures().is_signature(row[0]):
            return None
        return bytes(row[0])

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Name the side that can't be read."""
        try:
            yield
        except sqlite3.Error as error:
            raise BadCrawlDirectory(f"can't read {self.name!r}: {error}") from None

    def _drops(self) -> bool:
        return bool(self._settings["DUPLICATES_ACTION"] == DROP)


def _round_of(reader: Reader) -> datetime | None:
    """When the last round began; None: there was but the first. Pages that it found as they were
    have the time of before.
    """
    last = round_in(reader.note(ROUND))
    with suppress(ValueError, OverflowError, OSError):
        return None if last.number == 1 else datetime.fromtimestamp(last.began_at, UTC)
    return None
