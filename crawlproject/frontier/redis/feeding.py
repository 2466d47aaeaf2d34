"""Seeds that somebody puts into Redis while the crawl runs, as scrapy-redis has it.

The key (``REDIS_START_URLS_KEY``) is a list (``LPUSH``; read from its head), a set (``SADD``,
``REDIS_START_URLS_AS_SET``) or a sorted set (``ZADD``, ``REDIS_START_URLS_AS_ZSET``; the
highest score first). What is there decides, whatever the settings say. ``fed.py`` reads the
values.

A seed is looked at first, and removed when it is in the frontier for good: a kill in between
costs nothing. So there must be one reader. What is no seed is moved aside, to the list
``<key>:malformed``; a key of another type as a whole, to ``<key>:malformed:<type>``.

Settings read: ``REDIS_START_URLS_*``, ``REDIS_ENCODING``, ``CONCURRENT_REQUESTS``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from redis.client import NEVER_DECODE
from redis.exceptions import ResponseError

from crawlproject.errors import BadArgument
from crawlproject.frontier.redis.fed import NoSeed, parsed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis import Redis
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.redis.fed import Fed

logger = logging.getLogger(__name__)

LIST, SET, SORTED = "list", "set", "zset"
_NONE = "none"
_WORDS = {LIST: "a list", SET: "a set", SORTED: "a sorted set"}
_COUNT = {LIST: "LLEN", SET: "SCARD", SORTED: "ZCARD"}
_FIRST = {LIST: "LRANGE", SORTED: "ZREVRANGE"}

# What is kept of malformed values: so many, and so much of each.
MOST_MALFORMED = 1000
_MOST_KEPT_BYTES = 4096
# How often others are looked at, when all of a batch were malformed.
_MOST_ROUNDS = 10


class Feed:
    def __init__(
        self, client: Redis, settings: BaseSettings, spider_name: str, key: str | None = None
    ) -> None:
        self._client = client
        self.key = key or _key(settings, spider_name)
        self._encoding = _encoding(settings)
        self._expected = _expected(settings)
        # The last type of the key that was seen.
        self._type = self._expected
        self._warned_of: str | None = None
        # Values that were moved aside by this reader.
        self.malformed = 0
        self._has_told = False

    def peek(self, most: int) -> list[Fed]:
        """The next seeds. They stay where they are, and come again until they are removed."""
        for _ in range(_MOST_ROUNDS):
            values = self._values(most)
            seeds: list[Fed] = []
            others: dict[bytes, str] = {}
            for value in values:
                try:
                    seeds.append(parsed(value, self._encoding))
                except NoSeed as error:
                    others[value] = str(error)
            for value, problem in others.items():
                self.set_aside(value, problem)
            if seeds or not others:
                return seeds
        return []

    def remove(self, fed: Iterable[Fed]) -> None:
        """Take seeds out that are in the frontier for good."""
        values = [one.raw for one in fed]
        if not values:
            return
        with self._client.pipeline(transaction=True) as pipeline:
            for value in values:
                self._take_out(pipeline, value)
            self._execute(pipeline)

    def kind(self) -> str:
        """What the key is now: a list, a set, a sorted set, or nothing."""
        kind = bytes(self._ask("TYPE", self.key) or b"").decode()
        if kind in _WORDS:
            self._type = kind
            if kind not in (self._expected, self._warned_of):
                self._warned_of = kind
                logger.warning(
                    "%s in Redis is %s, not %s as the settings say (REDIS_START_URLS_AS_SET, "
                    "REDIS_START_URLS_AS_ZSET): it is read as what it is",
                    self.key,
                    _WORDS[kind],
                    _WORDS[self._expected],
                )
        elif kind != _NONE:
            self._move_away(kind)
            return _NONE
        return kind

    def waiting(self) -> int:
        """How many values there are, seeds or not."""
        kind = self.kind()
        return int(self._ask(_COUNT[kind], self.key) or 0) if kind in _COUNT else 0

    def set_aside(self, value: bytes, problem: str, *, is_out: bool = False) -> None:
        """Move a value to where somebody can look at it, from the key if it is not out of it."""
        aside = f"{self.key}:malformed"
        with self._client.pipeline(transaction=True) as pipeline:
            if not is_out:
                self._take_out(pipeline, value)
            pipeline.lpush(aside, value[:_MOST_KEPT_BYTES])
            pipeline.ltrim(aside, 0, MOST_MALFORMED - 1)
            self._execute(pipeline)
        self.malformed += 1
        if not self._has_told:
            self._has_told = True
            logger.warning(
                "A value of %s in Redis is no seed and was moved to %s: %s. Others like it are too",
                self.key,
                aside,
                problem,
            )

    def _values(self, most: int) -> list[bytes]:
        kind = self.kind()
        if kind == SET:
            return list(self._ask("SRANDMEMBER", self.key, most) or ())
        if kind in _FIRST:
            return list(self._ask(_FIRST[kind], self.key, 0, most - 1) or ())
        return []

    def _move_away(self, kind: str) -> None:
        aside = f"{self.key}:malformed:{kind}"
        self._ask("RENAME", self.key, aside)
        self.malformed += 1
        logger.warning(
            "%s in Redis is neither a list nor a set but a %s, and was moved to %s: seeds are put "
            "there with LPUSH, SADD or ZADD",
            self.key,
            kind,
            aside,
        )

    def _ask(self, command: str, *arguments: str | int) -> Any:
        """Bytes, also from a client that would decode them: one bad value would cost all."""
        client: Any = self._client
        try:
            return client.execute_command(command, *arguments, **{NEVER_DECODE: True})
        except ResponseError as error:
            _unless_it_has_changed(error)
            return None

    def _take_out(self, pipeline: Any, value: bytes) -> None:
        if self._type == SET:
            pipeline.srem(self.key, value)
        elif self._type == SORTED:
            pipeline.zrem(self.key, value)
        else:
            # The one nearest to the head: there it was seen.
            pipeline.lrem(self.key, 1, value)

    def _execute(self, pipeline: Any) -> None:
        for answer in pipeline.execute(raise_on_error=False):
            if isinstance(answer, ResponseError):
                _unless_it_has_changed(answer)


def batch_size(settings: BaseSettings) -> int:
    """How many seeds are read at once."""
    return settings.getint("REDIS_START_URLS_BATCH_SIZE") or settings.getint("CONCURRENT_REQUESTS")


def _key(settings: BaseSettings, spider_name: str) -> str:
    template = str(settings.get("REDIS_START_URLS_KEY") or "%(name)s:start_urls")
    try:
        key = template % {"name": spider_name}
    except (KeyError, ValueError, TypeError):
        raise BadArgument(
            "REDIS_START_URLS_KEY",
            f"{template!r} is no name of a key: %(name)s in it stands for the spider's name, and "
            "%% for %",
        ) from None
    if not key.strip():
        raise BadArgument("REDIS_START_URLS_KEY", f"{template!r} is empty")
    return key


def _encoding(settings: BaseSettings) -> str:
    encoding = str(settings.get("REDIS_ENCODING") or "utf-8")
    try:
        "".encode(encoding)
    except LookupError:
        raise BadArgument(
            "REDIS_ENCODING", f"{encoding!r} is no encoding: utf-8 is usual"
        ) from None
    return encoding


def _expected(settings: BaseSettings) -> str:
    if settings.getbool("REDIS_START_URLS_AS_SET"):
        return SET
    return SORTED if settings.getbool("REDIS_START_URLS_AS_ZSET") else LIST


def _unless_it_has_changed(error: ResponseError) -> None:
    """Somebody may delete the key and make another of it, at any moment: the next look tells."""
    if not str(error).startswith(("WRONGTYPE", "no such key", "ERR no such key")):
        raise error
