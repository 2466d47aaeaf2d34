"""A short signature of a text, by which near-duplicates are found. *Pure.*

A text is the set of its *shingles*: each few words in a row. How much two texts have in common is
the Jaccard similarity of their sets: what both have, of what either has. A MinHash signature
tells it, about, from a few hundred bytes: the part of its values that are equal.

Signatures are made by *one permutation hashing*: the numbers of all shingles are sorted once,
and the smallest in each of ``size`` equal ranges is a value; an empty range takes the value of
another one, the same in all texts (densification). That is as exact as a hundred permutations
of a large set, at a tenth of the cost.

By the values those that may be alike are found (``pipelines/bands.py``). How alike they are is told
by what is behind them. Of a small set that is all its numbers: then the similarity is exact. Of a
larger one it is a byte for each of four times as many ranges, 0 for an empty one: a site's
template may be most of each page, so many pages are almost alike, and an estimate that is twice
as far off would take some of them for duplicates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from crawlproject.pages.words import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.pages.words import Hashes, Words

# Sets of up to so many shingles for each value of a signature are kept whole.
_WHOLE = 2
_BYTES = 4
# Ranges for each value, by which larger sets are compared …
_FINER = 4
# … and what is before them: no signature with numbers has that length.
_MARK = b"\0"
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
# Attempts to find a range that is not empty. Each succeeds with the part of them that are not.
_ATTEMPTS = 64


def signature_of(text: str, *, size: int, shingle_words: int, min_words: int) -> bytes | None:
    """None: the text has too few words to be compared."""
    return signature_of_words(words_of(text), size, shingle_words, min_words)


def signature_of_words(words: Words, size: int, shingle_words: int, min_words: int) -> bytes | None:
    if words.count < max(min_words, shingle_words):
        return None
    return signed(_shingles(words.hashes(), shingle_words), size)


def signed(shingles: Hashes, size: int) -> bytes:
    """The signature of a set, given by a number for each that is in it."""
    numbers = np.sort(shingles)
    fine = _places(numbers, _FINER * size)
    places = fine[::_FINER]
    # The first number of the next range tells that a range is empty.
    is_empty = places[1:] == places[:-1]
    values: Hashes = numbers.take(places[:-1], mode="clip")
    if np.count_nonzero(is_empty):
        values = _densified(values, is_empty)
    if len(numbers) <= _WHOLE * size * 2:
        distinct = np.unique(numbers)
        if len(distinct) <= _WHOLE * size:
            return values.tobytes() + distinct.tobytes()
    return values.tobytes() + _MARK + _fine(numbers, fine).tobytes()


def _fine(numbers: Hashes, places: NDArray[np.intp]) -> NDArray[np.uint8]:
    values = numbers.take(places[:-1], mode="clip").astype(np.uint8)
    # 0 is for empty ranges.
    np.maximum(values, 1, out=values)
    values *= places[1:] != places[:-1]
    return values


def values_of(signature: bytes, size: int) -> Hashes:
    return np.frombuffer(signature, np.uint32, size)


def is_signature(value: object, size: int) -> bool:
    """Whether it has the form of one: it may come from a crawl directory that anybody has made."""
    if not isinstance(value, bytes):
        return False
    behind = len(value) - _BYTES * size
    if _is_whole(value):
        return 0 < behind <= _BYTES * _WHOLE * size
    return behind == len(_MARK) + _FINER * size


def similarity(one: bytes, other: bytes, size: int) -> float:
    """How much of two texts is the same, from 0 to 1."""
    if _is_whole(one) and _is_whole(other):
        mine, others = _numbers(one, size), _numbers(other, size)
        both = len(np.intersect1d(mine, others, assume_unique=True))
        return both / (len(mine) + len(others) - both)
    some, more = _fine_of(one, size), _fine_of(other, size)
    either = np.count_nonzero(some | more)
    equal = np.count_nonzero(some == more) - (len(some) - either)
    # Nothing has none, unless it was not made here. A plain number, not one of numpy: items have
    # it, and databases may not know the other.
    return float(equal / (either or 1))


def _is_whole(signature: bytes) -> bool:
    return len(signature) % _BYTES == 0


def _numbers(signature: bytes, size: int) -> Hashes:
    return np.frombuffer(signature, np.uint32, -1, _BYTES * size)


def _fine_of(signature: bytes, size: int) -> NDArray[np.uint8]:
    if _is_whole(signature):
        numbers = _numbers(signature, size)
        return _fine(numbers, _places(numbers, _FINER * size))
    return np.frombuffer(signature, np.uint8, -1, _BYTES * size + len(_MARK))


def _shingles(words: Hashes, length: int) -> Hashes:
    """A number for each few words in a row."""
    count = len(words) - length + 1
    wide = words.astype(np.uint64)
    first, *others = _factors(length)
    mixed: NDArray[np.uint64] = wide[:count] * first
    for place, factor in enumerate(others, 1):
        mixed += wide[place : place + count] * factor
    mixed ^= mixed >> _HALF
    mixed *= _MIX
    mixed >>= _HALF
    return mixed.astype(np.uint32)


@lru_cache(maxsize=8)
def _factors(length: int) -> NDArray[np.uint64]:
    """An odd factor for each word of a shingle: their order counts."""
    random = np.random.RandomState(1)
    return random.randint(1 << 62, 1 << 63, length, dtype=np.uint64) | np.uint64(1)


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
