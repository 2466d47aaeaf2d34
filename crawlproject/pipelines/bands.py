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


def shared(bands: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which bands another signature has, too."""
    is_shared = np.zeros(bands.shape, np.bool_)
    for band in range(bands.shape[1]):
        column = bands[:, band]
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        is_equal = ordered[1:] == ordered[:-1]
        is_shared[order[1:][is_equal], band] = True
        is_shared[order[:-1][is_equal], band] = True
    return is_shared
