"""Which pages of a crawl are duplicates of which.

Pages are looked at breadth first: by level, and of one level by URL. A page with the body of an
earlier one is its *duplicate*. Of the others, a page whose main text is as similar to that of an
earlier one as the threshold asks is its *near-duplicate*; of several, of the most similar one.
Whatever is a near-duplicate has none itself: all pages of a cluster are near-duplicates of its
first page.
"""

from __future__ import annotations

import json
from array import array
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.reading import IS_PAGE
from crawlproject.pages.signature import is_signature, similarity
from crawlproject.pipelines.bands import bands_of, grouped, shape_for
from crawlproject.pipelines.firsts import Firsts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crawlproject.pipelines.bands import Groups

# Signatures that are at hand.
_AT_HAND = 10_000
# Pages that are asked for by their ids.
_FEW = 100_000
# Pages that are asked for at once.
_AT_ONCE = 10_000


class Mark(NamedTuple):
    """A page, and the one that it is a duplicate of: ids of URLs. ``similarity`` is None where the
    bodies are the same.
    """

    page: int
    of: int
    similarity: float | None = None


def duplicates(database: sqlite3.Connection, *, threshold: float, size: int) -> Iterator[Mark]:
    """All of them, in no particular order."""
    copies: set[int] = set()
    for mark in _exact(database):
        copies.add(mark.page)
        yield mark
    yield from _Near(database, threshold, size).marks(copies)


def _exact(database: sqlite3.Connection) -> Iterator[Mark]:
    rows = database.execute(
        "SELECT c.hash, c.id FROM contents c JOIN urls u USING (id) JOIN pages p USING (id) "  # noqa: S608
        "WHERE c.hash IN (SELECT hash FROM contents GROUP BY hash HAVING count(*) > 1) "
        f"AND {IS_PAGE} ORDER BY c.hash, u.level, u.url"
    )
    for _, same in groupby(rows, key=itemgetter(0)):
        first, *others = (page for _, page in same)
        for page in others:
            yield Mark(page, first)


class _Near:
    def __init__(self, database: sqlite3.Connection, threshold: float, size: int) -> None:
        self._database = database
        self._threshold = threshold
        self._size = size
        self._signatures: dict[int, bytes] = {}

    def marks(self, copies: set[int]) -> Iterator[Mark]:
        pages, groups = self._grouped(copies)
        alike = pages[groups.starts[1:] > groups.starts[:-1]]
        firsts = Firsts(groups, most=len(alike), threshold=self._threshold, size=self._size)
        # The page of each first one.
        numbered = array("q")
        for page in self._breadth_first(alike):
            row = int(pages.searchsorted(page))
            signature = self._signature(page)
            nearest: Mark | None = None
            for number in firsts.candidates(row, signature):
                first = numbered[number]
                likeness = similarity(signature, self._signature(first), self._size)
                # Of equal ones the first counts.
                if likeness >= self._threshold and (
                    nearest is None or likeness > (nearest.similarity or 0)
                ):
                    nearest = Mark(page, first, likeness)
            if nearest is not None:
                yield nearest
            else:
                firsts.add(row, signature)
                numbered.append(page)

    def _grouped(self, copies: set[int]) -> tuple[NDArray[np.int64], Groups]:
        """The pages that can be compared, by their ids, and who may be like whom."""
        pages = array("q")

        def signatures() -> Iterator[bytes]:
            # Again on every way.
            del pages[:]
            for page, signature in self._database.execute(
                "SELECT id, signature FROM contents WHERE signature IS NOT NULL ORDER BY id"
            ):
                # What somebody else has made can't be compared.
                if page not in copies and is_signature(signature, self._size):
                    pages.append(page)
                    yield signature

        shape = shape_for(self._threshold, self._size)
        groups = grouped(bands_of(signatures(), shape.rows, way) for way in shape.ways())
        return np.array(pages, np.int64), groups

    def _breadth_first(self, pages: NDArray[np.int64]) -> Iterator[int]:
        query = (
            f"SELECT u.id FROM urls u JOIN pages p USING (id) WHERE {IS_PAGE} "  # noqa: S608
            "AND u.id {} ORDER BY u.level, u.url"
        )
        if len(pages) <= _FEW:
            among = "IN (SELECT value FROM json_each(?))"
            rows = self._database.execute(query.format(among), (json.dumps(pages.tolist()),))
        else:
            rows = self._database.execute(query.format("IN (SELECT id FROM contents)"))
        while some := [page for (page,) in rows.fetchmany(_AT_ONCE)]:
            places = np.minimum(pages.searchsorted(some), len(pages) - 1)
            yield from np.array(some)[pages[places] == some].tolist()

    def _signature(self, page: int) -> bytes:
        signature = self._signatures.get(page)
        if signature is None:
            if len(self._signatures) >= _AT_HAND:
                self._signatures.clear()
            (signature,) = self._database.execute(
                "SELECT signature FROM contents WHERE id = ?", (page,)
            ).fetchone()
            self._signatures[page] = signature
        return signature
