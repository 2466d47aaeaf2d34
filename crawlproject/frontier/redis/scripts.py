"""Our Lua scripts: what several workers decide at once, Redis decides, one script after another.

They are in ``lua/``; a comment at the top of each says its arguments and its answer. Before
each comes what they share (``lua/common.lua``). All keys of a call have one hash tag, so that
they are on one node of a cluster.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from hashlib import sha1
from importlib.resources import files
from threading import get_ident
from typing import TYPE_CHECKING, Any

from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import NoScriptError, ResponseError

from crawlproject.errors import BadRedis
from crawlproject.frontier.redis.keys import (
    VERSION,
    prefix_of,
    prefixes_of,
    shard_of,
    shard_of_host,
)
from crawlproject.frontier.redis.trouble import Mended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redis import Redis

Word = bytes | str | int | float
# Commands that change nothing: an answer that was lost can be asked for again, and is, so often.
# Else a batch that reads much would hardly ever come through a connection that is bad.
_READING = {
    *("EXISTS", "GET", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "HVALS", "LLEN", "LRANGE"),
    *("SCARD", "SMEMBERS", "SRANDMEMBER", "TYPE", "ZCARD", "ZCOUNT", "ZRANGE", "ZRANK"),
}
_AGAIN = 2
# Times in a row that a key of a wrong type is not there any more when it is looked for.
_IN_VAIN = 8
# A command of Redis, the key without its prefix, and the rest.
Command = tuple[Any, ...]


class Scripts:
    """The scripts of a crawl, in all of its shards (``keys.py``). ``calls`` counts round trips."""

    def __init__(self, client: Redis, crawl: str = "", shards: int = 1) -> None:
        self.client = client
        self.crawl = crawl
        self.prefixes = prefixes_of(crawl, shards)
        self.prefix = self.prefixes[0]
        self.calls = 0
        # Moves keys of a wrong type aside, and says how many.
        self.mend: Callable[[Scripts], int] | None = None
        # Threads that do so now, and how often there was nothing to move.
        self._mending_in: set[int] = set()
        self._in_vain = 0

    @contextmanager
    def _mending(self) -> Iterator[None]:
        """Who has met a key of a wrong type is told so, and finds it moved aside next time."""
        try:
            yield
        except ResponseError as error:
            thread = get_ident()
            is_wrong = "WRONGTYPE" in str(error) and thread not in self._mending_in
            if not is_wrong or self.mend is None:
                raise
            self._mending_in.add(thread)
            try:
                moved = self.mend(self)
            finally:
                self._mending_in.discard(thread)
            # Another worker may have been faster, but not again and again: that is our mistake.
            self._in_vain = 0 if moved else self._in_vain + 1
            if self._in_vain > _IN_VAIN:
                raise
            raise Mended("somebody has changed the type of a key of the crawl") from None

    @property
    def shards(self) -> int:
        return len(self.prefixes)

    def run(
        self,
        name: str,
        arguments: Sequence[Word],
        keys: Sequence[str] | None = None,
        *,
        shard: int = 0,
    ) -> Any:
        """What the script answers; only it knows what that is."""
        text, digest = _script(name)
        keys = (self.prefixes[shard],) if keys is None else keys
        self.calls += 1
        with self._mending():
            try:
                return self.client.evalsha(digest, len(keys), *keys, *arguments)
            except NoScriptError:
                # A new Redis, or one that has started again. With the text, it keeps the script:
                # where the keys are, which on a cluster is the only place that matters.
                return self.client.eval(text, len(keys), *keys, *arguments)

    def ask(self, command: str, key: str, *words: Word) -> Any:
        """A command of Redis, about a key without its prefix."""
        return self._asked([(command, self.full(key), *words)])[0]

    def ask_everywhere(self, command: str, key: str, *words: Word) -> list[Any]:
        """The same of all shards."""
        return [
            self._asked([(command, _bytes(prefix + key), *words)])[0] for prefix in self.prefixes
        ]

    def at(self, host: str, key: str) -> str:
        """A key, with its prefix, in the shard of a host."""
        return f"{self.prefixes[shard_of_host(host, self.shards)]}{key}"

    def full(self, key: str) -> bytes:
        """A key with its prefix, unless it has one."""
        if key.startswith("crawl:"):
            return _bytes(key)
        return _bytes(self.prefixes[shard_of(key, self.shards)] + key)

    def ask_all(self, commands: Iterable[Command], *, as_one: bool = False) -> list[Any]:
        """Several commands in one round trip."""
        return self._asked(
            [(command, self.full(key), *words) for command, key, *words in commands], as_one=as_one
        )

    def _asked(self, commands: list[Command], *, as_one: bool = False) -> list[Any]:
        """Commands whose keys are full, in one round trip."""
        left = _AGAIN if all(command[0] in _READING for command in commands) else 0
        while True:
            self.calls += 1
            try:
                with self._mending():
                    if len(commands) == 1:
                        return [self.client.execute_command(*commands[0])]
                    with self.client.pipeline(transaction=as_one) as pipeline:
                        for command in commands:
                            pipeline.execute_command(*command)
                        return list(pipeline.execute())
            except ConnectionLost:
                if not left:
                    raise
                left -= 1

    def hash(self, key: str) -> dict[str, str]:
        """A hash of texts."""
        return {
            name.decode("utf-8", "replace"): value.decode("utf-8", "replace")
            for name, value in self.ask("HGETALL", key).items()
        }


def scripts_of(client: Redis, crawl: str) -> Scripts:
    """Those of a crawl that is there, in as many shards as it has. Raises BadRedis for one that
    another version of ours has made.
    """
    shards: Any
    version: Any
    shards, version = client.hmget(f"{prefix_of(crawl)}meta", "shards", "version")
    if version is not None and version != str(VERSION).encode():
        found = version.decode(errors="replace")
        raise BadRedis(
            f"the crawl {crawl!r} has format {found!r}, and this version of crawlproject has "
            f"format {VERSION}: go on with the version that made it, or name "
            "another crawl by FRONTIER_CRAWL_ID; it was not touched"
        )
    return Scripts(client, crawl, int(shards) if shards and shards.isdigit() else 1)


def _bytes(key: str) -> bytes:
    # A host may be called in a way that is no text.
    return key.encode("utf-8", "surrogateescape")


@cache
def _script(name: str) -> tuple[str, str]:
    folder = files(__package__) / "lua"
    text = "\n".join(
        (folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("common", name)
    )
    # Redis names it so.
    return text, sha1(text.encode(), usedforsecurity=False).hexdigest()


def pairs(flat: list[Any]) -> Iterable[tuple[Any, Any]]:
    """Members and scores: redis-py gives pairs of them, or what Redis has sent."""
    if flat and isinstance(flat[0], (list, tuple)):
        return [(member, score) for member, score in flat]
    return list(zip(flat[::2], flat[1::2], strict=True))
