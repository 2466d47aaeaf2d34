"""Which pages of a crawl are duplicates of which.

Pages are visited breadth first: by level, and within a level by URL. A page with the body of an
earlier one is its *duplicate*. Of the others, a page whose main text is at least as similar to that
of an earlier one as the threshold is its *near-duplicate*; of several, of the most similar one. A
near-duplicate has none itself: all pages of a cluster are near-duplicates of its first page.
"""

from __future__ import annotations

import json
from array import array
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlproject.frontier.reading import IS_PAGE
from crawlproject.pipelines.bands import bands_of, grouped, shape_for
from crawlproject.pipelines.firsts import Firsts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crawlproject.pages.signatures import SignatureBackend
    from crawlproject.pages.words import Hashes
    from crawlproject.pipelines.bands import Groups

# Signatures in the cache.
_AT_HAND = 10_000
# Pages that are queried by their ids.
_FEW = 100_000
# Pages that are fetched at once.
_AT_ONCE = 10_000


class Mark(NamedTuple):
    """A page, and the one that it is a duplicate of: ids of URLs. ``similarity`` is None where the
    bodies are the same.
    """

    page: int
    of: int
    similarity: float | None = None


def duplicates(
    database: sqlite3.Connection, *, threshold: float, signatures: SignatureBackend
) -> Iterator[Mark]:
    """All of them, in no particular order."""
    copies: set[int] = set()
    for mark in _exact(database):
        copies.add(mark.page)
        yield mark
    yield from _Near(database, threshold, signatures).marks(copies)


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
    def __init__(
        self, database: sqlite3.Connection, threshold: float, signatures: SignatureBackend
    ) -> None:
        self._database = database
        self._threshold = threshold
        self._signatures = signatures
        self._cache: dict[int, bytes] = {}

    def marks(self, copies: set[int]) -> Iterator[Mark]:
        pages, groups = self._grouped(copies)
        grouped_pages = pages[groups.starts[1:] > groups.starts[:-1]]
        firsts = Firsts(
            groups,
            most=len(grouped_pages),
            threshold=self._threshold,
            size=self._signatures.size,
        )
        # The page of each first one.
        numbered = array("q")
        for page in self._breadth_first(grouped_pages):
            row = int(pages.searchsorted(page))
            signature = self._signature(page)
            values = self._signatures.values(signature)
            nearest: Mark | None = None
            for number in firsts.candidates(row, values):
                first = numbered[number]
                similarity = self._signatures.similarity(signature, self._signature(first))
                # Of equal ones the first counts.
                if similarity >= self._threshold and (
                    nearest is None or similarity > (nearest.similarity or 0)
                ):
                    nearest = Mark(page, first, similarity)
            if nearest is not None:
                yield nearest
            else:
                firsts.add(row, values)
                numbered.append(page)

    def _grouped(self, copies: set[int]) -> tuple[NDArray[np.int64], Groups]:
        """The pages that can be compared, by their ids, and which may be similar."""
        pages = array("q")

        def values() -> Iterator[Hashes]:
            # Again in every pass.
            del pages[:]
            for page, signature in self._database.execute(
                "SELECT id, signature FROM contents WHERE signature IS NOT NULL ORDER BY id"
            ):
                # A crawl directory may have been written by anybody.
                if page not in copies and self._signatures.is_signature(signature):
                    pages.append(page)
                    yield self._signatures.values(signature)

        shape = shape_for(self._threshold, self._signatures.size)
        groups = grouped(bands_of(values(), shape.rows, some) for some in shape.passes())
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
        signature = self._cache.get(page)
        if signature is None:
            if len(self._cache) >= _AT_HAND:
                self._cache.clear()
            (signature,) = self._database.execute(
                "SELECT signature FROM contents WHERE id = ?", (page,)
            ).fetchone()
            self._cache[page] = signature
        return signature
