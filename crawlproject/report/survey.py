"""All that the report is made of, read from a crawl directory in one go.

Every page is looked at once, whatever the lists are; what they then show of single pages is read
again. Figures that the summary of a crawl has are counted by the same code (``monitoring/``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlproject.frontier import overview
from crawlproject.frontier.entry import BY_SITEMAP, address_of
from crawlproject.frontier.reading import IS_PAGE, IS_PAGE_ITEM, Reader
from crawlproject.frontier.seen import fingerprint
from crawlproject.monitoring.ending import Ending, Limits
from crawlproject.monitoring.tally import FINE, OUTCOMES
from crawlproject.records import RENDERED, encodable, from_text
from crawlproject.report.gathering import Gathering
from crawlproject.report.known import Flag
from crawlproject.report.lists import URL_CHARS, cut
from crawlproject.report.pace import pace_of
from crawlproject.report.values import canonical_of
from crawlproject.report.web import Web

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlproject.pipelines.clusters import Mark
    from crawlproject.pipelines.marking import Marks
    from crawlproject.records import Record

# Pages that link to one that failed: as many as somebody would mend by hand.
SOURCES_OF_FAILED = 100
# … and to any other, so many of all together, but some of each.
_SOURCES_IN_ALL = 1_000_000
_FEWEST, _MOST = 5, 50
_LINK_BYTES = 4
_AT_ONCE = 500


class Survey:
    """What is known of a crawl. ``marks`` is None where pages were not compared."""

    def __init__(self, reader: Reader, marks: Marks | None, limits: Limits) -> None:
        self.reader = reader
        self.database = reader.database
        self.limits = limits
        self.copies: list[Mark] | None = None if marks is None else list(marks.copies())
        # Pages that an item stands for, by place: the id of the item.
        self._items: dict[int, int] = {}
        gathering = self._gathered()
        self.tally, self.shape = gathering.tally, gathering.shape
        self.structured = gathering.structured
        self._is_rendered = gathering.rendered > 0
        self.answers, self.hosts, self.types, self.languages = (
            list(codes)
            for codes in (gathering.answers, gathering.hosts, gathering.types, gathering.languages)
        )
        self.known = gathering.known()
        is_reached = self.known.levels < BY_SITEMAP
        self.web = Web(self.database, self.known.ids, self._limits_of_sources(), is_reached)
        self.rank = self.web.rank()
        self.in_sitemap = self.web.in_sitemaps()
        self.counts = overview.count(self.database)
        self.depths = reader.depths()
        # The last time that pages were visited again; None: this is the first crawl.
        self.round = overview.last_round(self.database)
        self.pace = pace_of(self._moments())

    def ending(self) -> Ending:
        """What the summary of the crawl would say, had it ended now, in one run."""
        exact = sum(mark.similarity is None for mark in self.copies or ())
        return Ending(
            subject=self.reader.seeds(),
            seconds=self.pace.seconds or None,
            tally=self.tally,
            counts=self.counts,
            depths=self.depths,
            limits=self.limits,
            exact=exact,
            near=len(self.copies or ()) - exact,
            # Where a browser was asked for, nobody needs to be told of it.
            scripted=0 if self._is_rendered else int(self.known.has(Flag.SCRIPTED).sum()),
            round=self.round,
        )

    @property
    def began_at(self) -> float | None:
        """When the crawl began, or the last round of one that comes back."""
        if self.round is not None:
            return self.round.began_at
        started_at = self.reader.started_at()
        return self.pace.first or (None if started_at is None else started_at.timestamp())

    def count_again(self) -> int:
        """How many URLs that were fetched before are to be fetched again."""
        (number,) = self.database.execute(
            "SELECT count(*) FROM urls WHERE again IS NOT NULL"
        ).fetchone()
        return int(number)

    def url(self, number: int) -> str:
        """By its id; what is too long is cut."""
        return cut(address_of(self.reader.url_of(number)), URL_CHARS)

    def id_of(self, url: str) -> int:
        """0: nobody knows it."""
        url = encodable(url)
        row = self.database.execute(
            "SELECT id FROM urls WHERE fingerprint = ? AND url = ?", (fingerprint(url), url)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def ids(self, places: NDArray[np.integer] | Sequence[int]) -> list[int]:
        found: list[int] = self.known.ids[places].tolist()
        return found

    def sources(self, place: int) -> list[int]:
        """The ids of pages that link to one, the first of them; else of the one by which it was
        found, which a pipeline may have dropped.
        """
        if found := self.web.first.of(place):
            return self.ids(found)
        row = self.database.execute(
            "SELECT referrer FROM urls WHERE id = ? AND referrer IS NOT NULL",
            (int(self.known.ids[place]),),
        ).fetchone()
        return [] if row is None else [row[0]]

    def records(self, places: Sequence[int]) -> Iterator[tuple[int, Record]]:
        """The pages at some places, in any order."""
        for first in range(0, len(places), _AT_ONCE):
            some = places[first : first + _AT_ONCE]
            by_id = {int(self.known.ids[place]): place for place in some}
            marks = ", ".join("?" * len(by_id))
            rows = self.database.execute(
                f"SELECT id, record FROM pages WHERE id IN ({marks})",  # noqa: S608
                list(by_id),
            )
            for number, text in rows:
                if (place := by_id[number]) not in self._items:
                    yield place, from_text(text)
            for place in some:
                if place in self._items:
                    yield place, self._item(self._items[place])

    def _item(self, number: int) -> Record:
        (text,) = self.database.execute(
            "SELECT record FROM items WHERE id = ?", (number,)
        ).fetchone()
        record: Record = from_text(text)
        return record

    def _gathered(self) -> Gathering:
        gathering = Gathering()
        # An item that stands for a page takes its place; the last one counts.
        items: dict[str, int] = dict(
            self.database.execute(
                f"SELECT page, id FROM items WHERE {IS_PAGE_ITEM} ORDER BY id"  # noqa: S608
            ).fetchall()
        )
        rows = self.database.execute(
            "SELECT id, url, level, record, coalesce(length(links), 0) "  # noqa: S608
            f"FROM pages JOIN urls USING (id) WHERE {IS_PAGE} ORDER BY id"
        )
        for number, url, level, text, links in rows:
            if url not in items:
                record: Record = from_text(text)
                record.setdefault("outlinks", links // _LINK_BYTES)
                self._add(gathering, number, url, level, record)
        for url, item in items.items():
            record = self._item(item)
            if not record.get(RENDERED):
                # An item says so of every page.
                record.pop(RENDERED, None)
            self._items[gathering.tally.pages] = item
            level = record["depth"] if isinstance(record.get("depth"), int) else 0
            self._add(gathering, self.id_of(url), url, level, record)
        return gathering

    def _add(self, gathering: Gathering, number: int, url: str, level: int, record: Record) -> None:
        canonical = canonical_of(record)
        gathering.add(number, url, level, record, self.id_of(canonical) if canonical else 0)

    def _moments(self) -> NDArray[np.float64]:
        """When answers came, of the last round only: a page that has not changed is as old as the
        day on which it was read.
        """
        if self.round is None:
            return self.known.fetched
        rows = self.database.execute(
            "SELECT visited_at FROM visits JOIN urls USING (id) JOIN pages USING (id) "  # noqa: S608
            f"WHERE visited_at >= ? AND {IS_PAGE}",
            (self.round.began_at,),
        )
        visited = np.fromiter((at for (at,) in rows), np.float64)
        fetched = self.known.fetched
        return visited if len(visited) else fetched[fetched >= self.round.began_at]

    def _limits_of_sources(self) -> NDArray[np.int64]:
        known = self.known
        usual = min(max(_SOURCES_IN_ALL // max(len(known), 1), _FEWEST), _MOST)
        limits = np.full(len(known), usual, np.int64)
        limits[known.outcomes != OUTCOMES.index(FINE)] = SOURCES_OF_FAILED
        return limits
