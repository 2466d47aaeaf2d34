"""Which id a URL has, by its fingerprint: buckets of about 64 in small hashes.

A small hash is stored by Redis without pointers: 16 bytes a URL. When there are too many URLs
for the buckets, one bucket at a time is divided (linear hashing), so that none has to wait.
Which bucket a fingerprint is in, ``lua/common.lua`` reckons.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.scripts import Scripts

LOAD = 64
# Fingerprints in one call.
_AT_ONCE = 10_000


class Index:
    def __init__(self, scripts: Scripts, buckets: int) -> None:
        self._scripts = scripts
        self.buckets = buckets

    def find(self, marks: Iterable[int]) -> list[int]:
        """The ids of fingerprints; 0 for those that have none."""
        packed = b"".join(map(to_bytes, marks))
        found: list[int] = []
        for start in range(0, len(packed), 8 * _AT_ONCE):
            some = packed[start : start + 8 * _AT_ONCE]
            ids = array("I")
            ids.frombytes(self._scripts.run("find", (self.buckets, some)))
            found += ids
        return found

    def add(self, marks: dict[int, int], urls: int, batch: Batch) -> None:
        """Note the ids of new fingerprints; ``urls`` there are then in all."""
        buckets = max(self.buckets, -(-urls // LOAD))
        if buckets > self.buckets:
            marks = self._divided(buckets, batch) | marks
        if marks:
            ids = b"".join(
                to_bytes(mark) + number.to_bytes(4, "little") for mark, number in marks.items()
            )
            batch.call("index", str(self.buckets), ids)

    def _divided(self, buckets: int, batch: Batch) -> dict[int, int]:
        """Make more buckets; what was in those that are divided is to be added again."""
        divided = sorted(
            {number - (1 << (number.bit_length() - 1)) for number in range(self.buckets, buckets)}
        )
        # One that was made and divided at once was empty.
        divided = [number for number in divided if number < self.buckets]
        self.buckets = buckets
        found = self._scripts.ask_all([("HGETALL", f"x:{number}") for number in divided])
        marks = {}
        for number, fields in zip(divided, found, strict=True):
            if fields:
                batch.call("DEL", f"x:{number}")
                for field, value in fields.items():
                    if len(field) == 8 and value.isdigit():
                        marks[int.from_bytes(field, "little", signed=True)] = int(value)
        return marks


def to_bytes(mark: int) -> bytes:
    return mark.to_bytes(8, "little", signed=True)
