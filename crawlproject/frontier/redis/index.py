"""Which id a URL has, by its fingerprint: buckets of about 64 in small hashes.

A small hash is stored by Redis without pointers: 16 bytes a URL. When there are too many URLs
for the buckets, one bucket at a time is divided (linear hashing), so that none has to wait.
The same reckoning is in ``lua/common.lua``.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        fields = list(map(to_bytes, marks))
        found = [0] * len(fields)
        for shard, places in self._by_shard(fields).items():
            for start in range(0, len(places), _AT_ONCE):
                some = places[start : start + _AT_ONCE]
                packed = b"".join(fields[place] for place in some)
                ids = array("I")
                ids.frombytes(self._scripts.run("find", (self.buckets, packed), shard=shard))
                for place, number in zip(some, ids, strict=True):
                    found[place] = number
        return found

    def _by_shard(self, fields: list[bytes]) -> dict[int, Sequence[int]]:
        """The places of fingerprints, by the shard of their bucket."""
        shards = self._scripts.shards
        if shards == 1:
            return {0: range(len(fields))}
        places: dict[int, list[int]] = {}
        for place, field in enumerate(fields):
            shard = bucket_of(field, self.buckets) % shards
            places.setdefault(shard, []).append(place)
        return dict(places)

    def add(self, marks: dict[int, int], urls: int, batch: Batch) -> None:
        """Note the ids of new fingerprints; ``urls`` there are then in all."""
        buckets = max(self.buckets, -(-urls // LOAD))
        if buckets > self.buckets:
            marks = self._divided(buckets, batch) | marks
        if marks:
            fields = [to_bytes(mark) for mark in marks]
            numbers = [number.to_bytes(4, "little") for number in marks.values()]
            for shard, places in self._by_shard(fields).items():
                ids = b"".join(fields[place] + numbers[place] for place in places)
                batch.call_at(shard, "index", self.buckets, ids)

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


def bucket_of(field: bytes, buckets: int) -> int:
    value = int.from_bytes(field[:4], "little")
    level = 1 << (buckets.bit_length() - 1)
    bucket = value % (2 * level)
    return value % level if bucket >= buckets else bucket
