"""Which signatures may be similar, without comparing all pairs: locality-sensitive hashing (LSH).

The values of a signature are cut into *bands* of a few values (rows). Similar signatures very
likely have a band in common, others very likely have none. All bands of a million signatures are
compared by sorting them, in arrays of 8 bytes for each: an index of Python objects would take
gigabytes. *Pure.*
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlproject.pages.words import Hashes

# Of pairs at the threshold, at least this share has a band in common.
_RECALL = 0.995
# Signatures whose bands are made together.
_AT_ONCE = 4096
# Bands that are compared in one pass over all signatures.
_TOGETHER = 16


class Shape(NamedTuple):
    bands: int
    rows: int

    def passes(self) -> Iterator[range]:
        """Low thresholds need more bands than fit into memory at once."""
        for first in range(0, self.bands, _TOGETHER):
            yield range(first, min(first + _TOGETHER, self.bands))


def shape_for(threshold: float, size: int) -> Shape:
    """The most rows that still find pairs at the threshold: they exclude most other pairs."""
    for rows in range(size, 1, -1):
        bands = size // rows
        if 1 - (1 - threshold**rows) ** bands >= _RECALL:
            return Shape(bands, rows)
    return Shape(size, 1)


def bands_of(signatures: Iterable[Hashes], rows: int, bands: range) -> NDArray[np.uint64]:
    """A row for each signature, given by its values, with a number for each of the bands."""
    parts: list[NDArray[np.uint64]] = []
    some: list[Hashes] = []
    cut = slice(rows * bands.start, rows * bands.stop)
    for values in signatures:
        some.append(values[cut])
        if len(some) == _AT_ONCE:
            parts.append(_hashed(some, rows, len(bands)))
            some.clear()
    if some:
        parts.append(_hashed(some, rows, len(bands)))
    return np.concatenate(parts) if parts else np.empty((0, len(bands)), np.uint64)


def _hashed(values: list[Hashes], rows: int, bands: int) -> NDArray[np.uint64]:
    table = np.concatenate(values).reshape(-1, bands, rows)
    factors = np.random.RandomState(3).randint(1 << 62, 1 << 63, rows, dtype=np.uint64)
    factors |= np.uint64(1)
    hashed: NDArray[np.uint64] = np.zeros((len(table), bands), np.uint64)
    for row in range(rows):
        hashed += table[:, :, row] * factors[row]
        hashed ^= hashed >> np.uint64(29)
    return hashed


class Groups(NamedTuple):
    """Which signatures have a band in common: each group of them has a number."""

    # For each signature where its groups begin; then where the last ones end.
    starts: NDArray[np.int64]
    groups: NDArray[np.int32]
    # How many signatures are in each group: two, at least.
    sizes: NDArray[np.int64]

    def of(self, row: int) -> NDArray[np.int32]:
        return self.groups[self.starts[row] : self.starts[row + 1]]


def grouped(passes: Iterable[NDArray[np.uint64]]) -> Groups:
    """Group all signatures, some bands at a time. Bands of one signature alone are left out."""
    count = known = 0
    rows = [np.empty(0, np.int32)]
    groups = [np.empty(0, np.int32)]
    for column in (bands[:, band] for bands in passes for band in range(bands.shape[1])):
        count = len(column)
        order = np.argsort(column)
        ordered = column[order]
        is_same = np.zeros(count + 1, np.bool_)
        np.equal(ordered[1:], ordered[:-1], out=is_same[1:count])
        # Equal to the one before, or to the one after.
        is_shared = is_same[:-1] | is_same[1:]
        begins = is_shared & ~is_same[:-1]
        numbers = np.cumsum(begins, dtype=np.int32)[is_shared] + np.int32(known - 1)
        known += int(np.count_nonzero(begins))
        rows.append(order[is_shared].astype(np.int32))
        groups.append(numbers)
    row_of, group_of = np.concatenate(rows), np.concatenate(groups)
    rows.clear()
    groups.clear()
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(row_of, minlength=count), out=starts[1:])
    by_row = group_of[np.argsort(row_of, kind="stable")]
    return Groups(starts, by_row, np.bincount(group_of, minlength=known))
