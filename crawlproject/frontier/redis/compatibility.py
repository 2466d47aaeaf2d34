"""What a project of scrapy-redis has in its settings, and what becomes of it here.

Every setting of scrapy-redis 0.9.1 works, works differently, or is refused with one line; the
table is in ``docs/extending.md``. Those that say where Redis is are read by ``address.py``,
those of seeds by ``feeding.py``, those of items and stats by scrapy-redis' own components.

Settings read: ``SCHEDULER_QUEUE_KEY``, ``SCHEDULER_QUEUE_CLASS``, ``SCHEDULER_DUPEFILTER_KEY``,
``SCHEDULER_DUPEFILTER_CLASS``, ``SCHEDULER_SERIALIZER``, ``SCHEDULER_IDLE_BEFORE_CLOSE``,
``REDIS_USERNAME``, ``REDIS_PASSWORD``.
"""

from __future__ import annotations

import logging
import re
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from scrapy.utils.python import global_object_name

from crawlproject.errors import BadArgument, BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

SCHEDULER = "scrapy_redis.scheduler.Scheduler"

_QUEUES = "scrapy_redis.queue."
# Breadth first, and by priority: what the frontier does, too.
_QUEUE_CLASSES = frozenset(
    f"{_QUEUES}{name}"
    for name in ("PriorityQueue", "SpiderPriorityQueue", "FifoQueue", "SpiderQueue")
)
_DUPEFILTER = "scrapy_redis.dupefilter.RFPDupeFilter"
_SPIDER = "%(spider)s"
_CRAWL_NAME = re.compile(r"[\w.:-]{1,100}", re.ASCII)


def check_scrapy_redis(settings: BaseSettings) -> None:
    """Raise BadArgument for a setting of scrapy-redis that the frontier cannot honour."""
    idle_seconds(settings)
    _check_queue(settings)
    _check_dupefilter(settings)
    serializer = _path(settings.get("SCHEDULER_SERIALIZER"))
    if serializer not in ("", "json"):
        raise BadArgument(
            "SCHEDULER_SERIALIZER",
            f"{serializer!r} is not used: requests are kept as JSON, and nothing from Redis is "
            "unpickled. Remove the setting",
        )
    for name in ("REDIS_USERNAME", "REDIS_PASSWORD"):
        if settings.get(name):
            raise BadArgument(
                name,
                "scrapy-redis does not read it: put it in REDIS_PARAMS, as in "
                f"{{{name.removeprefix('REDIS_').lower()!r}: …}}, or in REDIS_URL",
            )


def crawl_name(settings: BaseSettings, spider: str) -> str | None:
    """The name of the shared crawl by SCHEDULER_QUEUE_KEY: who has the same key shares a crawl."""
    template = settings.get("SCHEDULER_QUEUE_KEY")
    return _filled("SCHEDULER_QUEUE_KEY", template, spider) if template else None


def idle_seconds(settings: BaseSettings) -> int:
    """SCHEDULER_IDLE_BEFORE_CLOSE: seconds for which a crawl without requests waits for more."""
    value = settings.get("SCHEDULER_IDLE_BEFORE_CLOSE") or 0
    try:
        seconds = int(value)
    except (TypeError, ValueError):
        seconds = -1
    if seconds < 0:
        raise BadArgument(
            "SCHEDULER_IDLE_BEFORE_CLOSE",
            f"must be a whole number of seconds, 0 or more, and is {value!r}",
        )
    return seconds


def guard_redis_spider(crawler: Crawler, commit: Callable[[], None]) -> None:
    """Have the seeds of a RedisSpider survive bad values and a Redis that is away."""
    # A spider of scrapy-redis has loaded this module: others need not load it.
    is_guarded = False
    if crawler.spider is not None and "scrapy_redis.spiders" in sys.modules:
        popping = import_module("crawlproject.frontier.redis.popping")
        try:
            is_guarded = popping.guard(crawler.spider, crawler, commit)
        except BadInput as error:
            logger.error("%s", error)
    if not is_guarded and crawler.settings.getint("MAX_IDLE_TIME_BEFORE_CLOSE"):
        logger.warning(
            "MAX_IDLE_TIME_BEFORE_CLOSE is only read by RedisSpider and RedisCrawlSpider: for this "
            "spider set SCHEDULER_IDLE_BEFORE_CLOSE"
        )


def _check_queue(settings: BaseSettings) -> None:
    if settings.get("SCHEDULER_QUEUE_KEY"):
        crawl_name(settings, "spider")
    queue = _path(settings.get("SCHEDULER_QUEUE_CLASS"))
    if queue and queue not in _QUEUE_CLASSES:
        raise BadArgument(
            "SCHEDULER_QUEUE_CLASS",
            f"{queue!r} is not used: the frontier orders URLs by depth, then by Request.priority. "
            "Remove the setting",
        )


def _check_dupefilter(settings: BaseSettings) -> None:
    key = settings.get("SCHEDULER_DUPEFILTER_KEY")
    if key and _SPIDER not in str(key):
        raise BadArgument(
            "SCHEDULER_DUPEFILTER_KEY",
            f"{key!r} would share known URLs between spiders: here each crawl has its own. Remove "
            "the setting; FRONTIER_CRAWL_ID names a crawl",
        )
    dupefilter = _path(settings.get("SCHEDULER_DUPEFILTER_CLASS"))
    if dupefilter not in ("", _DUPEFILTER):
        raise BadArgument(
            "SCHEDULER_DUPEFILTER_CLASS",
            f"nobody reads it, not even scrapy-redis: set DUPEFILTER_CLASS to {dupefilter!r}",
        )


def _filled(name: str, template: object, spider: str) -> str:
    try:
        filled = str(template) % {"spider": spider}
    except (KeyError, ValueError, TypeError):
        filled = ""
    if not _CRAWL_NAME.fullmatch(filled):
        raise BadArgument(
            name,
            f"{template!r} is no name of a crawl: letters, digits and . _ : - (at most 100), with "
            f"{_SPIDER} for the spider's name",
        )
    return filled


def _path(value: object) -> str:
    """The name of a class or module that a setting names, or is."""
    if not value:
        return ""
    if isinstance(value, str):
        return value
    return value.__name__ if isinstance(value, ModuleType) else global_object_name(value)
