"""The first pages of clusters, by their bands: which pages a page has to be compared with.

Kept in arrays: a million first pages take 200 MB, and no page is compared with more than a few.
Where a template fills most of every page, all pages of a site have bands in common. Then pages with
the rarest bands in common are candidates, and of them the most similar by a *sketch*: the last
eight bits of each value of a signature. *Pure.*
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.pages.words import Hashes
    from crawlproject.pipelines.bands import Groups

# First pages that are noted for a band, at most.
_NOTED = 128
# Bands are searched until so many first pages are found.
_FOUND = 512
# First pages that a page is compared with.
_COMPARED = 16
# How far a sketch may be from the truth: four standard deviations.
_ERROR = 0.12


class Firsts:
    """First pages have numbers: the first, breadth first, has the smallest one."""

    def __init__(self, groups: Groups, *, most: int, threshold: float, size: int) -> None:
        self._groups = groups
        self._size = size
        self._threshold = threshold
        room = np.minimum(groups.sizes, _NOTED)
        # For each group: where its first pages are noted, and how many are.
        self._places = np.zeros(len(room) + 1, np.int64)
        np.cumsum(room, out=self._places[1:])
        self._noted = np.zeros(len(room), np.int32)
        self._firsts = np.zeros(int(self._places[-1]), np.int32)
        # The operating system allocates only the pages that are written to.
        self._sketches = np.empty((most, size), np.uint8)
        self._count = 0

    def add(self, row: int, values: Hashes) -> None:
        """Add a first page, with the values of its signature; it has the next number."""
        groups = self._groups.of(row)
        places = self._places[groups] + self._noted[groups]
        has_room = places < self._places[groups + 1]
        self._firsts[places[has_room]] = self._count
        self._noted[groups[has_room]] += 1
        self._sketches[self._count] = values
        self._count += 1

    def candidates(self, row: int, values: Hashes) -> list[int]:
        """First pages that a page may be similar to, in their order."""
        groups = self._groups.of(row)
        counts = self._noted[groups]
        groups = groups[counts > 0]
        if not len(groups):
            return []
        counts = counts[counts > 0]
        found: set[int] = set()
        for place in np.argsort(counts, kind="stable").tolist():
            start = int(self._places[groups[place]])
            found.update(self._firsts[start : start + int(counts[place])].tolist())
            if len(found) >= _FOUND:
                break
        if len(found) <= _COMPARED:
            return sorted(found)
        return self._most_similar(np.array(sorted(found), np.int32), values)

    def _most_similar(self, numbers: NDArray[np.int32], values: Hashes) -> list[int]:
        sketch = values.astype(np.uint8)
        equal = np.count_nonzero(self._sketches[numbers] == sketch, axis=1)
        is_similar = equal >= (self._threshold - _ERROR) * self._size
        numbers, equal = numbers[is_similar], equal[is_similar]
        most = np.argsort(-equal, kind="stable")[:_COMPARED]
        return sorted(numbers[most].tolist())
