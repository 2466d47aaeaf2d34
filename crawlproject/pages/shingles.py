"""The shingles of a text: each few words in a row. *Pure.*

Texts are compared as sets of shingles. ``numbers`` is the fast form, a 32-bit hash of each shingle.
``texts`` is the readable form, which other programs can reproduce: lower-case words joined by one
space, in UTF-8.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.pages.words import Hashes, Words

_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)


class ShingleSet(Protocol):
    """Both forms describe the same set; the order and repetitions have no meaning."""

    def numbers(self) -> Hashes:
        """A hash of each shingle. At least one."""

    def texts(self) -> set[bytes]:
        """Each shingle as it is written. At least one."""


class Shingles:
    """The shingles of ``length`` words. There must be at least that many words."""

    __slots__ = ("_length", "_words")

    def __init__(self, words: Words, length: int) -> None:
        self._words = words
        self._length = length

    def numbers(self) -> Hashes:
        words = self._words.hashes()
        count = len(words) - self._length + 1
        wide = words.astype(np.uint64)
        first, *others = _factors(self._length)
        mixed: NDArray[np.uint64] = wide[:count] * first
        for place, factor in enumerate(others, 1):
            mixed += wide[place : place + count] * factor
        mixed ^= mixed >> _HALF
        mixed *= _MIX
        mixed >>= _HALF
        return mixed.astype(np.uint32)

    def texts(self) -> set[bytes]:
        words = [word.encode("utf-8", "replace") for word in self._words.texts()]
        shifted = (words[place:] for place in range(self._length))
        return set(map(b" ".join, zip(*shifted, strict=False)))


@lru_cache(maxsize=8)
def _factors(length: int) -> NDArray[np.uint64]:
    """An odd factor for each word of a shingle: the order of the words counts."""
    random = np.random.RandomState(1)
    return random.randint(1 << 62, 1 << 63, length, dtype=np.uint64) | np.uint64(1)
