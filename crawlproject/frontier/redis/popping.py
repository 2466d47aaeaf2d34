"""Seeds of scrapy-redis' spiders are not lost between Redis and the frontier.

``RedisSpider`` and ``RedisCrawlSpider`` pop a batch of seeds in their handler of the signal
``spider_idle``. An exception there is logged with a traceback, loses the whole batch and ends the
crawl: one value that is no seed, a key of another type, a Redis that is down for a moment. So
methods of the spider are wrapped, on the instance: a bad value costs itself alone, and a Redis
that is down costs one attempt.

Popped seeds are in the frontier before the event loop continues, and committed at once: only a
kill within those milliseconds can lose them. (``Feed`` loses nothing, but needs to be the only
reader. There may be many of these spiders.)

Settings read: ``REDIS_START_URLS_BATCH_SIZE``, which scrapy-redis no longer looks at.
Stats: ``frontier/malformed_seeds``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError
from scrapy_redis.spiders import RedisMixin

from crawlproject.frontier.redis.fed import NoSeed
from crawlproject.frontier.redis.feeding import LIST, SET, SORTED, Feed

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


def guard(spider: Spider, crawler: Crawler, commit: Callable[[], None]) -> bool:
    """Guard a spider of scrapy-redis; False if it is none.

    A spider that overrides how its data is fetched keeps its own method.
    """
    if not isinstance(spider, RedisMixin) or spider.server is None:
        return False
    _Guard(spider, crawler, commit)
    return True


class _Guard:
    def __init__(self, spider: Any, crawler: Crawler, commit: Callable[[], None]) -> None:
        self._spider = spider
        self._stats = crawler.stats
        self._commit = commit
        self._feed = Feed(spider.server, crawler.settings, spider.name, spider.redis_key)
        self._is_away = False
        self._make = spider.make_request_from_data
        # One of a spider's own may leave values out on purpose.
        self._leaves_out = (
            type(spider).make_request_from_data is not RedisMixin.make_request_from_data
        )
        spider.make_request_from_data = self._made
        pop = {
            LIST: spider.pop_list_queue,
            SET: spider.server.spop,
            SORTED: spider.pop_priority_queue,
        }
        if spider.fetch_data in pop.values():
            self._pop = pop
            spider.fetch_data, spider.count_size = self._popped, self._count
        size = crawler.settings.getint("REDIS_START_URLS_BATCH_SIZE")
        if size > 0 and type(spider).redis_batch_size is None:
            spider.redis_batch_size = size

    def _popped(self, key: str, most: int) -> list[Any]:
        try:
            pop = self._pop.get(self._feed.kind())
            values = [] if pop is None else list(pop(key, most))
        except RedisError as error:
            self._went_away(error)
            return []
        if values:
            # When the spider has made requests of them, which it does without a pause.
            asyncio.get_running_loop().call_soon(self._commit)
        return values

    def _count(self, key: str) -> int:
        try:
            count = self._feed.waiting()
        except RedisError as error:
            self._went_away(error)
            # Nobody knows. A spider that is told of none would end after a while.
            return 1
        if self._is_away:
            self._is_away = False
            logger.warning("Redis is back: seeds are read from %s again", key)
        return count

    def _went_away(self, error: RedisError) -> None:
        if not self._is_away:
            self._is_away = True
            logger.warning("No seeds can be read from Redis now: %s", error)

    def _made(self, data: Any) -> Any:
        try:
            made = self._make(data)
            made = list(made) if isinstance(made, Iterable) else made
            if made or self._leaves_out:
                return made
            raise NoSeed("it has no url")
        except Exception as error:  # whatever a value can do to a spider's own code
            self._stats.inc_value("frontier/malformed_seeds")
            value = data if isinstance(data, bytes) else str(data).encode()
            try:
                problem = f"{type(error).__name__}: {error}"
                self._feed.set_aside(value, problem, is_out=True)
            except RedisError as trouble:
                self._went_away(trouble)
            return []
