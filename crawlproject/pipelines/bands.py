"""Which signatures may be alike, without comparing each with each: locality-sensitive hashing.

A signature is cut into *bands* of a few values. Two that are alike have a band in common, most
likely; two that are not, most likely have none. All bands of a million signatures are compared
by sorting them, in arrays of 8 bytes for each: an index of Python objects would take gigabytes.
*Pure.*
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

# Of pairs at the threshold, this part has a band in common, at least.
_RECALL = 0.995
# Signatures whose bands are made together.
_AT_ONCE = 4096


class Shape(NamedTuple):
    bands: int
    rows: int


def shape_for(threshold: float, size: int) -> Shape:
    """As many rows as still find what is as alike as the threshold: they sort out the others."""
    for rows in range(size, 1, -1):
        bands = size // rows
        if 1 - (1 - threshold**rows) ** bands >= _RECALL:
            return Shape(bands, rows)
    return Shape(size, 1)


def bands_of(signatures: Iterable[bytes], size: int, shape: Shape) -> NDArray[np.uint64]:
    """A row for each signature, with a number for each band."""
    parts: list[NDArray[np.uint64]] = []
    values: list[bytes] = []
    for signature in signatures:
        values.append(signature[: 4 * size])
        if len(values) == _AT_ONCE:
            parts.append(_hashed(values, size, shape))
            values.clear()
    if values:
        parts.append(_hashed(values, size, shape))
    return np.concatenate(parts) if parts else np.empty((0, shape.bands), np.uint64)


def _hashed(values: list[bytes], size: int, shape: Shape) -> NDArray[np.uint64]:
    table = np.frombuffer(b"".join(values), np.uint32).reshape(-1, size)
    cut = table[:, : shape.bands * shape.rows].reshape(-1, shape.bands, shape.rows)
    factors = np.random.RandomState(3).randint(1 << 62, 1 << 63, shape.rows, dtype=np.uint64)
    factors |= np.uint64(1)
    hashed: NDArray[np.uint64] = np.zeros((len(table), shape.bands), np.uint64)
    for row in range(shape.rows):
        hashed += cut[:, :, row] * factors[row]
        hashed ^= hashed >> np.uint64(29)
    return hashed


class Groups(NamedTuple):
    """Which signatures have a band in common: each group of them has a number."""

    # Of each signature where its groups begin; then where the last ones end.
    starts: NDArray[np.int64]
    groups: NDArray[np.int32]
    # How many signatures are in each group: two, at least.
    sizes: NDArray[np.int64]

    def of(self, row: int) -> NDArray[np.int32]:
        return self.groups[self.starts[row] : self.starts[row + 1]]


def grouped(bands: NDArray[np.uint64]) -> Groups:
    """Bands that nobody else has are not mentioned."""
    count = len(bands)
    rows = [np.empty(0, np.int32)]
    groups = [np.empty(0, np.int32)]
    known = 0
    for band in range(bands.shape[1]):
        order = np.argsort(bands[:, band])
        ordered = bands[order, band]
        is_same = np.zeros(count + 1, np.bool_)
        np.equal(ordered[1:], ordered[:-1], out=is_same[1:count])
        # It is like the one before, or like the one behind.
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
