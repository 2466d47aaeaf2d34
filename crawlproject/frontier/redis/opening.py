"""A shared crawl's frontier by its settings.

Settings read: ``REDIS_*`` and ``SCHEDULER_*`` as scrapy-redis has them, ``FRONTIER_CRAWL_ID``,
``FRONTIER_LEASE_SECONDS``, and what a crawl directory's frontier reads.
Stats: ``frontier/redis_round_trips``.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scrapy import signals

from crawlproject.errors import BadArgument
from crawlproject.frontier.notes import SPIDER
from crawlproject.frontier.redis.compatibility import crawl_name
from crawlproject.frontier.redis.connection import address_of, check, connect, servers_of
from crawlproject.frontier.redis.ending import bury
from crawlproject.frontier.redis.feeding import Feed
from crawlproject.frontier.redis.forgetting import forget_if_alone
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.keys import VERSION, prefix_of
from crawlproject.frontier.redis.names import worker_name
from crawlproject.frontier.redis.scripts import Scripts, scripts_of
from crawlproject.frontier.redis.seeding import Seeding
from crawlproject.frontier.redis.shared import in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.hosts import HostLimits

logger = logging.getLogger(__name__)

# Seconds of work at a host that a worker has with it.
_AHEAD = 4.0
# URLs that a worker has with it, for each that it may have in flight, those among them. It asks
# for more when it has half of them, so that each time it gets many, and never waits for them.
_ROOM = 4


def open_shared(
    crawler: Crawler,
    *,
    host_of: Callable[[str], str],
    limits: Callable[[str], HostLimits],
    **options: Any,
) -> RedisFrontier:
    """Raises BadInput for a Redis that can't be used."""
    settings = crawler.settings
    client = connect(settings)
    for warning in check(client):
        logger.warning(warning)
    crawl = crawl_id(settings, crawler.spider.name if crawler.spider else "", crawler)
    with in_words(client):
        scripts = shared_scripts(client, crawl, settings)
    logger.info("The crawl %r is shared, at %s", crawl, address_of(client))
    if settings.getbool("SCHEDULER_FLUSH_ON_START"):
        forget_if_alone(scripts)
    if crawler.spider is not None:
        scripts.ask("HSETNX", "meta", SPIDER, crawler.spider.name)
        _check_spider(client, crawl, crawler.spider.name)
    bury(scripts)
    frontier = RedisFrontier(
        scripts,
        worker_name(),
        host_of=host_of,
        limits=limits,
        lasts=max(
            settings.getfloat("FRONTIER_LEASE_SECONDS"), 2 * settings.getfloat("DOWNLOAD_TIMEOUT")
        ),
        ahead=_AHEAD,
        room=_ROOM * settings.getint("CONCURRENT_REQUESTS"),
        asks_robots=settings.getbool("ROBOTSTXT_OBEY"),
        time_limit=settings.getfloat("CLOSESPIDER_TIMEOUT"),
        seeding=_seeding(crawler, client),
        waits_for_seeds=settings.getbool("FRONTIER_WAIT_FOR_SEEDS"),
        is_kept=settings.getbool("SCHEDULER_PERSIST"),
        **options,
    )
    # Not weakly: nobody else holds it.
    crawler.signals.connect(
        lambda: crawler.stats.set_value("frontier/redis_round_trips", scripts.calls),
        signals.spider_closed,
        weak=False,
    )
    folder = Path(tempfile.mkdtemp(prefix="crawl-"))
    frontier.folder = folder
    weakref.finalize(frontier, shutil.rmtree, folder, ignore_errors=True)
    return frontier


def crawl_id(settings: BaseSettings, spider: str, crawler: Crawler | None = None) -> str:
    """The name of a crawl: the same for all workers that were started with the same seeds."""
    if named := settings["FRONTIER_CRAWL_ID"]:
        return str(named)
    if named := crawl_name(settings, spider):
        return named
    seeds = getattr(getattr(crawler, "spider", None), "seeds", None)
    if not seeds:
        return spider
    digest = blake2b("\n".join(sorted(seeds)).encode("utf-8", "replace"), digest_size=5)
    return f"{spider}-{digest.hexdigest()}"


def shared_scripts(client: Redis, crawl: str, settings: BaseSettings) -> Scripts:
    """Those of a crawl, be it there or new."""
    shards = settings.getint("FRONTIER_SHARDS") or len(servers_of(client))
    key = f"{prefix_of(crawl)}meta"
    # Of a crawl that is there, they stay as they are.
    client.hsetnx(key, "shards", shards)
    client.hsetnx(key, "version", VERSION)
    return scripts_of(client, crawl)


def is_fed(settings: BaseSettings) -> bool:
    """Whether seeds may come through Redis."""
    key = settings["REDIS_START_URLS_KEY"]
    return bool(key) or settings.getbool("FRONTIER_WAIT_FOR_SEEDS")


def _seeding(crawler: Crawler, client: Redis) -> Seeding | None:
    """None: nobody feeds seeds, or the spider looks for them itself."""
    seed_of = getattr(crawler.spider, "seed_of", None)
    if seed_of is None or not is_fed(crawler.settings):
        return None
    assert crawler.spider is not None
    return Seeding(Feed(client, crawler.settings, crawler.spider.name), seed_of)


def _check_spider(client: Redis, crawl: str, name: str) -> None:
    """Raise BadInput for a crawl of another spider: no other one can make its requests."""
    with in_words(client):
        owner = cast("bytes | None", client.hget(f"{prefix_of(crawl)}meta", SPIDER))
    if owner not in (None, name.encode()):
        raise BadArgument(
            "FRONTIER_CRAWL_ID",
            f"the crawl {crawl!r} at {address_of(client)} is that of the spider "
            f"{owner.decode('utf-8', 'replace')!r}: give {name!r} one of its own",
        )


def check_shared(settings: BaseSettings, spider: str) -> None:
    """Raise BadInput for what can't be shared, before anything is set up."""
    if settings.getbool("STORE_BODIES") and not settings["STORE_URI"]:
        raise BadArgument(
            "STORE_BODIES", "with REDIS_URL, say where all workers can write: STORE_URI"
        )
    client = connect(settings)
    check(client)
    named = settings["FRONTIER_CRAWL_ID"] or crawl_name(settings, spider)
    # One without a name is known by its spider.
    if named and not settings.getbool("SCHEDULER_FLUSH_ON_START"):
        _check_spider(client, str(named), spider)
    if settings["JOBDIR"]:
        logger.warning("JOBDIR is not used: the crawl is kept in Redis")
