"""MinHash signatures, by which near-duplicates are found: one contract, two backends.

The similarity of two texts is the Jaccard similarity of their sets of shingles: what both have, of
what either has. A signature of about a kilobyte estimates it, so that pages can be compared without
their texts.

| backend | what it is |
|---|---|
| ``builtin`` | one permutation hashing: faster, more exact, exact for short texts (the default) |
| ``datasketch`` | ``datasketch.MinHash``: comparable with signatures that a team makes itself |

Only signatures of one backend, size and shingle length can be compared. *Pure.*
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeGuard

from crawlproject.pages.shingles import Shingles
from crawlproject.pages.words import words_of

if TYPE_CHECKING:
    from crawlproject.pages.shingles import ShingleSet
    from crawlproject.pages.words import Hashes, Words

BUILTIN, DATASKETCH = "builtin", "datasketch"
BACKENDS = (BUILTIN, DATASKETCH)


class SignatureBackend(Protocol):
    """Makes signatures of ``size`` values and compares them."""

    name: str
    size: int

    def sign(self, shingles: ShingleSet) -> bytes:
        """The signature of a set that is not empty. It depends on the set alone."""

    def is_signature(self, value: object) -> TypeGuard[bytes]:
        """Whether a stored value has the form of a signature of this backend and size."""

    def values(self, signature: bytes) -> Hashes:
        """``size`` numbers. Two texts have equal ones with the probability of their similarity."""

    def similarity(self, one: bytes, other: bytes) -> float:
        """The estimated Jaccard similarity of two sets, from 0 to 1."""


@lru_cache(maxsize=8)
def signature_backend(name: str, size: int) -> SignatureBackend:
    """Import and create a backend. Raises ValueError for an unknown name."""
    if name == BUILTIN:
        from crawlproject.pages.signatures.builtin import Builtin

        return Builtin(size)
    if name == DATASKETCH:
        from crawlproject.pages.signatures.datasketch import Datasketch

        return Datasketch(size)
    raise ValueError(f"{name!r} is not one of {', '.join(BACKENDS)}")


def sign_words(
    words: Words, backend: SignatureBackend, shingle_words: int, min_words: int
) -> bytes | None:
    """None: the text has too few words to be compared."""
    if words.count < max(min_words, shingle_words):
        return None
    return backend.sign(Shingles(words, shingle_words))


def sign_text(
    text: str, backend: SignatureBackend, shingle_words: int, min_words: int
) -> bytes | None:
    return sign_words(words_of(text), backend, shingle_words, min_words)
