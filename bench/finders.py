"""Ways to find the near-duplicates among texts: our backends, datasketch alone, SimHash."""

from __future__ import annotations

import hashlib
import re
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np
from datasketch import MinHash, MinHashLSH

from bench.corpus import MIN_TOKENS, SHINGLE
from crawlproject import settings
from crawlproject.pages.signatures import BUILTIN, DATASKETCH
from crawlproject.pipelines.bands import bands_of, shape_for
from crawlproject.pipelines.parameters import SignatureParameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    # Two texts, by their numbers, the smaller first.
    Pairs = set[tuple[int, int]]

SIZE = 128
THRESHOLD = settings.DUPLICATES_THRESHOLD
# Bits that may differ.
BITS = 3
# A character of a script without spaces is a word.
_WORD = re.compile(r"[\u0e00-\u0eff\u3005-\u30ff\u3400-\u9fff]|[^\W_\u0e00-\u0eff\u3005-\u9fff]+")


def words_of(text: str) -> list[str]:
    """Words as anybody would write it in Python; what ours are compared with."""
    return _WORD.findall(text.lower())


def shingles_of(text: str) -> set[bytes]:
    words = words_of(text)
    if len(words) < MIN_TOKENS:
        return set()
    return {
        " ".join(words[start : start + SHINGLE]).encode()
        for start in range(len(words) - SHINGLE + 1)
    }


class Finder(Protocol):
    name: str

    def signature(self, text: str) -> bytes | None:
        """None: the text is too short."""

    def pairs(self, signatures: Sequence[bytes | None], threshold: float = THRESHOLD) -> Pairs:
        """Those that are similar."""


class Ours:
    """The duplicates pipeline, with one of its backends."""

    def __init__(self, backend: str = BUILTIN) -> None:
        self.name = f"pipeline, {backend}"
        self.parameters = SignatureParameters(SIZE, SHINGLE, MIN_TOKENS, backend)

    def signature(self, text: str) -> bytes | None:
        return self.parameters.sign_text(text)

    def pairs(self, signatures: Sequence[bytes | None], threshold: float = THRESHOLD) -> Pairs:
        backend = self.parameters.signatures()
        known = {number: one for number, one in enumerate(signatures) if one is not None}
        shape = shape_for(threshold, SIZE)
        bands = bands_of(map(backend.values, known.values()), shape.rows, range(shape.bands))
        return {
            (one, other)
            for one, other in _sharing(list(known), bands)
            if backend.similarity(known[one], known[other]) >= threshold
        }


class Datasketch:
    """datasketch alone: its MinHash and its MinHashLSH, with words by a regular expression."""

    name = "datasketch alone"

    def __init__(self) -> None:
        # A copy of it need not make up the permutations again.
        self._empty = MinHash(SIZE, scheme="affine32")

    def signature(self, text: str) -> bytes | None:
        shingles = shingles_of(text)
        if not shingles:
            return None
        signature = self._empty.copy()
        signature.update_batch(shingles)
        return np.asarray(signature.hashvalues, np.uint32).tobytes()

    def pairs(self, signatures: Sequence[bytes | None], threshold: float = THRESHOLD) -> Pairs:
        index = MinHashLSH(threshold, SIZE)
        found: Pairs = set()
        known: dict[int, MinHash] = {}
        for number, one in enumerate(signatures):
            if one is None:
                continue
            values = MinHash(
                hashvalues=np.frombuffer(one, np.uint32),
                permutations=self._empty.permutations,
                scheme="affine32",
            )
            for other in index.query(values):
                if values.jaccard(known[other]) >= threshold:
                    found.add((other, number))
            index.insert(number, values)
            known[number] = values
        return found


class SimHash:
    """64 bits, of shingles or of words."""

    def __init__(self, *, shingled: bool) -> None:
        self._shingled = shingled
        self.name = f"SimHash, {BITS} bits, of {'shingles' if shingled else 'words'}"

    def signature(self, text: str) -> bytes | None:
        features: Iterable[bytes] = shingles_of(text)
        if not features:
            return None
        if not self._shingled:
            features = [word.encode() for word in words_of(text)]
        hashes = b"".join(hashlib.blake2b(one, digest_size=8).digest() for one in features)
        bits = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(-1, 8), axis=1)
        return np.packbits(bits.mean(axis=0) >= 0.5).tobytes()

    def pairs(self, signatures: Sequence[bytes | None], threshold: float = THRESHOLD) -> Pairs:
        """Pairs that differ in few bits, whatever the threshold."""
        known = [(number, one) for number, one in enumerate(signatures) if one is not None]
        values = np.frombuffer(b"".join(one for _, one in known), np.uint64)
        found: Pairs = set()
        for place, (number, _) in enumerate(known):
            differ = np.bitwise_count(values[place + 1 :] ^ values[place])
            found.update(
                (number, known[place + 1 + int(other)][0])
                for other in np.flatnonzero(differ <= BITS)
            )
        return found


def finders() -> list[Finder]:
    return [Ours(), Ours(DATASKETCH), Datasketch(), SimHash(shingled=True), SimHash(shingled=False)]


def _sharing(numbers: list[int], bands: NDArray[np.uint64]) -> Pairs:
    """Those that have a band in common."""
    found: Pairs = set()
    for column in bands.T:
        same: dict[int, list[int]] = {}
        for number, value in zip(numbers, column.tolist(), strict=True):
            same.setdefault(value, []).append(number)
        for together in same.values():
            found.update(combinations(together, 2))
    return found
