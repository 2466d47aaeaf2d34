"""Whether a URL was met before: a first, fast answer, which is never a wrong 'no'.

A Bloom filter in memory screens; its 'yes' is a 'perhaps', which the store confirms by the
URL itself, so no URL is ever dropped by mistake. When a filter is full, a larger one is put
beside it: 1.2 bytes a URL at 1 % of vain questions to the store.
"""

from __future__ import annotations

from hashlib import blake2b
from operator import index
from typing import TYPE_CHECKING, Protocol

from rbloom import Bloom

if TYPE_CHECKING:
    from collections.abc import Iterable

_GROWTH = 4
# What a filter makes of an integer. Fingerprints are hashes already: spread enough as they are.
_as_it_is = index


def fingerprint(url: str) -> int:
    """64 bits of a URL, as SQLite's integers are. The same in every process."""
    digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class Screen(Protocol):
    def add(self, fingerprint: int) -> None: ...

    def may_have(self, fingerprint: int) -> bool: ...


class Seen:
    """Fingerprints that were added. ``grows`` is for tests: a filter that is much too small."""

    def __init__(
        self, expected: int = 1_000_000, error_rate: float = 0.01, *, grows: bool = True
    ) -> None:
        self._error_rate = error_rate
        self._expected = expected
        self._grows = grows
        self._room = expected
        self._newest = Bloom(expected, error_rate, _as_it_is)
        self._filters = [self._newest]

    def add(self, fingerprint: int) -> None:
        if self._room <= 0 and self._grows:
            self._expected *= _GROWTH
            self._room = self._expected
            self._newest = Bloom(self._expected, self._error_rate, _as_it_is)
            self._filters.append(self._newest)
        self._room -= 1
        self._newest.add(fingerprint)

    def add_all(self, fingerprints: Iterable[int]) -> None:
        for one in fingerprints:
            self.add(one)

    def may_have(self, fingerprint: int) -> bool:
        # The newest is the largest, and most often the only one.
        if fingerprint in self._newest:
            return True
        return len(self._filters) > 1 and any(fingerprint in one for one in self._filters[:-1])
