"""Signatures made by the datasketch package. *Pure.*

A signature is what ``MinHash(num_perm=size, seed=1, scheme="affine32")`` has after
``update_batch`` with the texts of all shingles, hashed by datasketch's default function. So a team
that hashes the same shingles itself gets the same values. They are stored as 32-bit numbers,
followed by a byte that no builtin signature has in this place.

datasketch imports SciPy, which takes longer than all of Scrapy: it is imported when the first
signature is made. Stored signatures are compared without it.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from crawlproject.pages.shingles import ShingleSet
    from crawlproject.pages.words import Hashes

SEED = 1
SCHEME = "affine32"
_BYTES = 4
_MARK = b"\1"
# Shingles that are hashed together: each takes ``size`` numbers of memory meanwhile.
_AT_ONCE = 4096


class Datasketch:
    name = "datasketch"

    def __init__(self, size: int) -> None:
        self.size = size

    @cached_property
    def _empty(self) -> Any:
        from datasketch import MinHash

        return MinHash(self.size, seed=SEED, scheme=SCHEME)

    def sign(self, shingles: ShingleSet) -> bytes:
        # A copy shares the permutations, which take longer to generate than a text to sign.
        minhash = self._empty.copy()
        texts = iter(shingles.texts())
        while some := list(islice(texts, _AT_ONCE)):
            minhash.update_batch(some)
        return np.asarray(minhash.hashvalues, np.uint32).tobytes() + _MARK

    def is_signature(self, value: object) -> TypeGuard[bytes]:
        return (
            isinstance(value, bytes)
            and len(value) == _BYTES * self.size + len(_MARK)
            and value.endswith(_MARK)
        )

    def values(self, signature: bytes) -> Hashes:
        return np.frombuffer(signature, np.uint32, self.size)

    def similarity(self, one: bytes, other: bytes) -> float:
        """As ``MinHash.jaccard`` has it: the share of equal values."""
        equal = np.count_nonzero(self.values(one) == self.values(other))
        return float(equal / self.size)
