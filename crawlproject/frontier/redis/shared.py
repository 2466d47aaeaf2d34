"""A crawl in Redis, for who looks on (``frontier/source.py``), or ends or removes it.

Looking changes nothing in Redis.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from redis.exceptions import RedisClusterException, RedisError

from crawlproject.errors import BadInput, BadRedis
from crawlproject.frontier import database
from crawlproject.frontier.opening import host_function
from crawlproject.frontier.redis.around import Around
from crawlproject.frontier.redis.aside import LeftThere
from crawlproject.frontier.redis.connection import address_of, connect
from crawlproject.frontier.redis.crawls import chosen, shown_id
from crawlproject.frontier.redis.far import FarQuestions
from crawlproject.frontier.redis.fleet import fleet_of, size_of
from crawlproject.frontier.redis.forgetting import forget, stop_all
from crawlproject.frontier.redis.mirror import Mirror
from crawlproject.frontier.redis.trouble import trouble_of
from crawlproject.frontier.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from redis import Redis
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.questions import Questions
    from crawlproject.frontier.redis.fleet import Fleet
    from crawlproject.frontier.redis.scripts import Scripts


class Shared(Source):
    def __init__(self, scripts: Scripts, host_of: Callable[[str], str]) -> None:
        self.scripts: Scripts = scripts
        self._host_of = host_of
        self.crawl = scripts.prefix.removeprefix("crawl:{").removesuffix("}:")
        self.name = f"{shown_id(self.crawl)} at {address_of(scripts.client)}"

    @contextmanager
    def opened(self, *, with_pages: bool = True) -> Iterator[sqlite3.Connection]:
        with self._in_words(), _temporary() as copy:
            aside = LeftThere(self.scripts)
            Mirror(self.scripts, copy, self._host_of, aside).copy(with_pages=with_pages)
            yield copy

    @contextmanager
    def questions(self) -> Iterator[Questions]:
        with self._in_words(), _temporary() as copy:
            around = Around(self.scripts, copy, self._host_of, LeftThere(self.scripts))
            yield FarQuestions(copy, around, self.scripts)

    def running(self) -> list[str] | None:
        return [worker.name for worker in self.fleet().workers if worker.is_alive] or None

    def size(self) -> int | None:
        with self._in_words():
            return size_of(self.scripts)

    def fleet(self) -> Fleet:
        with self._in_words():
            return fleet_of(self.scripts, self.crawl)

    def stop(self) -> int:
        with self._in_words():
            return stop_all(self.scripts)

    def forget(self) -> None:
        with self._in_words():
            forget(self.scripts)

    def _in_words(self) -> AbstractContextManager[None]:
        return in_words(self.scripts.client)


def shared_source(address: str, settings: BaseSettings, crawl: str | None) -> Shared:
    """Raises BadInput if there is no such crawl, or more than one that may be meant."""
    settings = settings.copy()
    settings.set("REDIS_URL", address, priority="cmdline")
    client = connect(settings)
    with in_words(client):
        scripts = chosen(client, crawl or settings["FRONTIER_CRAWL_ID"])
    return Shared(scripts, host_function(settings))


@contextmanager
def in_words(client: Redis) -> Iterator[None]:
    """Raise BadRedis for what Redis refuses, or does not answer."""
    try:
        yield
    except (RedisError, RedisClusterException) as error:
        said = trouble_of(error) or str(error).partition(", with args")[0]
        raise BadRedis(f"{address_of(client)}: {said}") from None


@contextmanager
def _temporary() -> Iterator[sqlite3.Connection]:
    """An empty database, for as long as it is needed."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix="crawl-") as folder,
            closing(database.connect(Path(folder), is_lasting=False)) as copy,
        ):
            yield copy
    except sqlite3.Error as error:
        where = tempfile.gettempdir()
        raise BadInput(f"can't read a copy of the crawl in {where}: {error}") from None
