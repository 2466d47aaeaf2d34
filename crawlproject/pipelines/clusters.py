"""Which pages of a crawl are duplicates of which.

Pages are looked at breadth first: by depth, and of one depth by URL. A page with the body of an
earlier one is its *duplicate*. Of the others, a page whose main text is as similar to that of an
earlier one as the threshold asks is its *near-duplicate*; of several, of the most similar one.
Whatever is a near-duplicate has none itself: all pages of a cluster are near-duplicates of its
first page.
"""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.reading import IS_PAGE
from crawlproject.pages.signature import similarity
from crawlproject.pipelines.bands import bands_of, shape_for, shared

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

# First pages that a page is compared with, at most, for each band. A template that fills most of
# every page brings all pages of a site together.
_MOST_IN_A_BAND = 200
# Signatures of first pages that are at hand.
_AT_HAND = 10_000
# Pages that are asked for by their ids.
_FEW = 100_000


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
        f"AND {IS_PAGE} ORDER BY c.hash, u.depth, u.url"
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
        # The first pages of clusters that have a band, by band and its number.
        self._firsts: dict[tuple[int, int], list[int]] = {}
        # Of first pages: which of them comes first.
        self._ranks: dict[int, int] = {}

    def marks(self, copies: set[int]) -> Iterator[Mark]:
        pages, bands = self._bands(copies)
        is_shared = shared(bands)
        alike = np.flatnonzero(is_shared.any(axis=1))
        places = {int(pages[row]): int(row) for row in alike}
        for page in self._breadth_first(places):
            row = places[page]
            keys = [(int(band), int(bands[row, band])) for band in np.flatnonzero(is_shared[row])]
            nearest = self._nearest(page, keys)
            if nearest is not None:
                yield nearest
                self._signatures.pop(page, None)
                continue
            self._ranks[page] = len(self._ranks)
            for key in keys:
                firsts = self._firsts.setdefault(key, [])
                if len(firsts) < _MOST_IN_A_BAND:
                    firsts.append(page)

    def _bands(self, copies: set[int]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        pages: list[int] = []

        def signatures() -> Iterator[bytes]:
            for page, signature in self._database.execute(
                "SELECT id, signature FROM contents WHERE signature IS NOT NULL"
            ):
                # What another version has made can't be compared.
                if page not in copies and len(signature) >= 4 * self._size:
                    pages.append(page)
                    yield signature

        bands = bands_of(signatures(), self._size, shape_for(self._threshold, self._size))
        return np.array(pages, np.int64), bands

    def _breadth_first(self, pages: dict[int, int]) -> Iterator[int]:
        query = (
            f"SELECT u.id FROM urls u JOIN pages p USING (id) WHERE {IS_PAGE} "  # noqa: S608
            "AND u.id {} ORDER BY u.depth, u.url"
        )
        if len(pages) <= _FEW:
            among = "IN (SELECT value FROM json_each(?))"
            rows = self._database.execute(query.format(among), (json.dumps(list(pages)),))
        else:
            rows = self._database.execute(query.format("IN (SELECT id FROM contents)"))
        for (page,) in rows:
            if page in pages:
                yield page

    def _nearest(self, page: int, keys: list[tuple[int, int]]) -> Mark | None:
        candidates = {first for key in keys for first in self._firsts.get(key, ())}
        nearest: Mark | None = None
        most = self._threshold
        # Of equal ones the first counts.
        for first in sorted(candidates, key=self._ranks.__getitem__):
            alike = similarity(self._signature(page), self._signature(first), self._size)
            if alike > most or (nearest is None and alike >= most):
                nearest, most = Mark(page, first, alike), alike
        return nearest

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
