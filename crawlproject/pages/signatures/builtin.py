"""Signatures by one permutation hashing. *Pure.*

The numbers of all shingles are sorted once, and the smallest in each of ``size`` equal ranges is a
value; an empty range takes the value of another one, the same in all texts (densification). That is
as exact as a hundred permutations of a large set, at a tenth of the cost.

The values find pairs that may be similar (``pipelines/bands.py``). How similar they are is told by
what follows the values. For a small set that is all its numbers: then the similarity is exact. For
a larger one it is a byte for each of four times as many ranges, 0 for an empty one: a site's
template may be most of each page, so many pages are almost similar, and an estimate with twice the
error would take some of them for duplicates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.pages.shingles import ShingleSet
    from crawlproject.pages.words import Hashes

# Sets of up to so many shingles for each value of a signature are kept whole.
_WHOLE = 2
_BYTES = 4
# Ranges for each value, by which larger sets are compared …
_FINER = 4
# … and what is before them: it makes the length odd, so that no whole set is taken for them.
_MARK = b"\0"
# Attempts to find a range that is not empty. Each succeeds with the share of them that are not.
_ATTEMPTS = 64


class Builtin:
    name = "builtin"

    def __init__(self, size: int) -> None:
        self.size = size

    def sign(self, shingles: ShingleSet) -> bytes:
        numbers = np.sort(shingles.numbers())
        fine = _places(numbers, _FINER * self.size)
        places = fine[::_FINER]
        # The first number of the next range tells that a range is empty.
        is_empty = places[1:] == places[:-1]
        values: Hashes = numbers.take(places[:-1], mode="clip")
        if np.count_nonzero(is_empty):
            values = _densified(values, is_empty)
        if len(numbers) <= _WHOLE * self.size * 2:
            distinct = np.unique(numbers)
            if len(distinct) <= _WHOLE * self.size:
                return values.tobytes() + distinct.tobytes()
        return values.tobytes() + _MARK + _fine(numbers, fine).tobytes()

    def is_signature(self, value: object) -> TypeGuard[bytes]:
        if not isinstance(value, bytes):
            return False
        behind = value[_BYTES * self.size :]
        if _is_whole(value):
            return 0 < len(behind) <= _BYTES * _WHOLE * self.size
        return len(behind) == len(_MARK) + _FINER * self.size and behind.startswith(_MARK)

    def values(self, signature: bytes) -> Hashes:
        return np.frombuffer(signature, np.uint32, self.size)

    def similarity(self, one: bytes, other: bytes) -> float:
        if _is_whole(one) and _is_whole(other):
            mine, others = self._numbers(one), self._numbers(other)
            both = len(np.intersect1d(mine, others, assume_unique=True))
            return both / (len(mine) + len(others) - both)
        some, more = self._fine_of(one), self._fine_of(other)
        either = np.count_nonzero(some | more)
        equal = np.count_nonzero(some == more) - (len(some) - either)
        # Only a forged signature has no value at all. The result is a plain float, not NumPy's:
        # items contain it, and databases may not know the other.
        return float(equal / (either or 1))

    def _numbers(self, signature: bytes) -> Hashes:
        return np.frombuffer(signature, np.uint32, -1, _BYTES * self.size)

    def _fine_of(self, signature: bytes) -> NDArray[np.uint8]:
        if _is_whole(signature):
            numbers = self._numbers(signature)
            return _fine(numbers, _places(numbers, _FINER * self.size))
        return np.frombuffer(signature, np.uint8, -1, _BYTES * self.size + len(_MARK))


def _is_whole(signature: bytes) -> bool:
    return len(signature) % _BYTES == 0


def _fine(numbers: Hashes, places: NDArray[np.intp]) -> NDArray[np.uint8]:
    values = numbers.take(places[:-1], mode="clip").astype(np.uint8)
    # 0 is for empty ranges.
    np.maximum(values, 1, out=values)
    values *= places[1:] != places[:-1]
    return values


def _places(numbers: Hashes, ranges: int) -> NDArray[np.intp]:
    """Where the numbers of each range begin, and where those of the last one end."""
    range_of = numbers.astype(np.int64)
    range_of *= ranges
    range_of >>= 32
    places = np.zeros(ranges + 1, np.intp)
    np.bincount(range_of, minlength=ranges).cumsum(out=places[1:])
    return places


def _densified(values: Hashes, is_empty: NDArray[np.bool_]) -> Hashes:
    filled = values.copy()
    left = np.flatnonzero(is_empty)
    for others in _others(len(values)):
        chosen = others.take(left)
        filled[left] = values.take(chosen)
        left = left[is_empty.take(chosen)]
        if not len(left):
            break
    else:
        filled[left] = values[~is_empty][0]
    return filled


@lru_cache(maxsize=8)
def _others(size: int) -> list[NDArray[np.intp]]:
    """For each attempt, which range stands for which."""
    random = np.random.RandomState(2)
    return [random.randint(0, size, size).astype(np.intp) for _ in range(_ATTEMPTS)]
