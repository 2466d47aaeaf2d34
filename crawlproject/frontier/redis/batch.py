"""What a commit changes in Redis: commands that are run as one, or not at all.

In one shard, one script does all of it. With several, everything is written down in the first
one (``redo``) before anything is done; then each shard does its part, once; and in the end the
first. Whoever is the committer next, after a kill in between, does what is left.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlproject.frontier.redis.blocks import Malformed
from crawlproject.frontier.redis.keys import shard_of, shard_of_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlproject.frontier.redis.scripts import Scripts, Word

# Words of one command, at most: what Lua has room for.
_MOST_WORDS = 4_000
_LENGTH_BYTES = 4


class Fenced(Exception):
    """Another worker is the committer now: what this one knows is out of date."""


class Batch:
    def __init__(self, shards: int = 1) -> None:
        self._shards = shards
        self._words: defaultdict[int, list[Word]] = defaultdict(list)

    def call(self, command: str, key: str, *words: Word) -> None:
        """A command of Redis; ``key`` without the crawl's prefix. Many words are split in pairs."""
        shard = shard_of(key, self._shards)
        for start in range(0, max(len(words), 1), _MOST_WORDS):
            some = words[start : start + _MOST_WORDS]
            self._words[shard] += (2 + len(some), command, key, *some)

    def call_at(self, shard: int, command: str, *words: Word) -> None:
        """A command of ``lua/common.lua`` in a shard."""
        self._words[shard] += (1 + len(words), command, *words)

    def shard_of_host(self, host: str) -> int:
        return shard_of_host(host, self._shards)

    def run(self, scripts: Scripts, term: str, done: Mapping[int, int], number: int) -> None:
        """Do all of it, as the commit of a number, and take messages from the inboxes of shards."""
        parts = {shard: [done.get(shard, 0), *self._words[shard]] for shard in range(self._shards)}
        if self._shards > 1:
            redo = _framed([number, *(word for part in parts.values() for word in _counted(part))])
            if not scripts.run("prepare", (term, redo)):
                raise Fenced
        _finish(scripts, term, number, parts)


def finish(scripts: Scripts, term: str) -> None:
    """Do what is left of a commit that somebody else has begun."""
    data = scripts.ask("GET", "redo") if scripts.shards > 1 else None
    if not data:
        return
    words = _unframed(data)
    number = int(words.pop(0))
    parts: dict[int, list[Word]] = {}
    for shard in range(scripts.shards):
        length = int(words.pop(0))
        parts[shard] = [*words[:length]]
        del words[:length]
    _finish(scripts, term, number, parts)


def _finish(scripts: Scripts, term: str, number: int, parts: Mapping[int, list[Word]]) -> None:
    for shard in range(1, scripts.shards):
        if len(parts[shard]) > 1 or int(parts[shard][0]):
            scripts.run("apply", (number, *parts[shard]), shard=shard)
    if not scripts.run("commit", (term, number, *parts[0])):
        raise Fenced


def _counted(part: list[Word]) -> list[Word]:
    return [len(part), *part]


def _framed(words: list[Word]) -> bytes:
    pieces = []
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        pieces += [len(data).to_bytes(_LENGTH_BYTES, "little"), data]
    return b"".join(pieces)


def _unframed(data: bytes) -> list[bytes]:
    words = []
    place = 0
    while place < len(data):
        start = place + _LENGTH_BYTES
        place = start + int.from_bytes(data[place:start], "little")
        words.append(data[start:place])
    if place != len(data):
        raise Malformed("half a commit")
    return words
