"""A crawl's frontier by its settings: in the crawl directory, or in a temporary one.

Settings read: ``JOBDIR``, ``FRONTIER_*``, ``SCOPE_*``, ``RECRAWL_*``, how hosts are to be treated,
and how pages are read.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import tempfile
import weakref
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

from scrapy.utils.misc import load_object

from crawlproject.errors import BadCrawlDirectory, BadInput
from crawlproject.frontier import clock, database
from crawlproject.frontier.limits import limits_from
from crawlproject.frontier.looking import check_content, check_spider
from crawlproject.frontier.notes import SPIDER
from crawlproject.frontier.redis.address import is_shared
from crawlproject.frontier.sqlite import SqliteFrontier
from crawlproject.frontier.visits import Recrawl
from crawlproject.recrawl.interval import Intervals
from crawlproject.scope.depth import depth_limit_from
from crawlproject.scope.domains import registered_domain
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

HOSTNAME, DOMAIN = "hostname", "domain"

# By name: it is of a later room.
_LIKENESS = "crawlproject.pipelines.likeness.Likeness"
# What pages are read by, and who gets them: who changes that wants to see all of them again.
_OF_READING = ("PAGES_", "URLS_", "RENDER_MODE", "DUPLICATES_", "STORE_BODIES")
_PIPELINES = "ITEM_PIPELINES"

# How many more pages are committed at once where nobody goes on from what is committed.
_UNHURRIED = 10

# Settings that only a shared crawl reads.
_OF_SHARED = ("FRONTIER_CRAWL_ID", "FRONTIER_WAIT_FOR_SEEDS", "REDIS_START_URLS_KEY")

# Crawl directories that were claimed when the command line was checked.
_claimed: dict[Path, database.Claim] = {}


def open_frontier(crawler: Crawler) -> Frontier:
    """One that has failed already, if the crawl directory, or Redis, can't be used."""
    settings = crawler.settings
    if is_shared(settings):
        return _open_shared(crawler)
    # Spiders of scrapy-redis have a Redis of their own.
    if not hasattr(crawler.spidercls, "setup_redis"):
        for name in filter(settings.get, _OF_SHARED):
            logger.warning("%s has no effect without a Redis: set REDIS_URL", name)
    jobdir = settings["JOBDIR"]
    return _open_lasting(Path(jobdir), crawler) if jobdir else _open_temporary(crawler)


def check_crawl_directory(settings: BaseSettings, spider: str) -> None:
    """Raise BadInput for a JOBDIR, or a Redis, that can't be used, before anything is set up."""
    if is_shared(settings):
        from crawlproject.frontier.redis.opening import check_shared

        check_shared(settings, spider)
        return
    if settings["JOBDIR"] is not None and not str(settings["JOBDIR"]).strip():
        raise BadCrawlDirectory("JOBDIR is empty: name a directory, as in -s JOBDIR=crawls/example")
    if settings["JOBDIR"]:
        folder = Path(settings["JOBDIR"])
        if database.check(folder):
            check_content(folder)
            check_spider(folder, spider)
        # It stays so until the crawl ends: of two that start at once, one is told here.
        _claimed[folder.resolve()] = database.Claim(folder)


def _open_lasting(folder: Path, crawler: Crawler) -> Frontier:
    claim = _claimed.pop(folder.resolve(), None)
    if claim is None:
        # In another project: no command of ours has looked at it before.
        try:
            if database.check(folder):
                check_spider(folder, crawler.spidercls.name)
            claim = database.Claim(folder)
        except BadCrawlDirectory as error:
            return _dead(crawler, str(error))
    path = folder / database.DATABASE
    try:
        frontier = _frontier(database.connect(folder), crawler)
        frontier.folder = folder
        frontier.watch(path)
        if frontier.recall(SPIDER) is None:
            frontier.remember(SPIDER, crawler.spidercls.name)
    except (sqlite3.Error, OSError) as error:
        frontier = _dead(crawler, f"{str(path)!r} can't be opened: {error}")
    frontier.when_closed(claim.release)
    return frontier


def _open_shared(crawler: Crawler) -> Frontier:
    from crawlproject.frontier.redis.opening import open_shared

    settings = crawler.settings
    try:
        return open_shared(
            crawler,
            host_of=host_function(settings),
            limits=limits_from(settings),
            **_rules(crawler),
        )
    except (BadInput, OSError) as error:
        dead = _dead(crawler, str(error))
        dead.place = "the shared crawl"
        return dead


def _open_temporary(crawler: Crawler) -> Frontier:
    try:
        folder = Path(tempfile.mkdtemp(prefix="crawl-"))
    except OSError as error:
        return _dead(crawler, f"no temporary directory can be made: {error.strerror}")
    try:
        # Nobody goes on from there, so nothing is spent on a power failure, nor on a kill.
        connection = database.connect(folder, is_lasting=False)
        frontier = _frontier(connection, crawler, is_lasting=False)
        frontier.folder = folder
    except (sqlite3.Error, OSError) as error:
        frontier = _dead(crawler, f"{str(folder)!r} can't be written: {error}")
    # Not when it is closed: whoever has crawled may still ask what was found.
    weakref.finalize(frontier, shutil.rmtree, folder, ignore_errors=True)
    return frontier


def _dead(crawler: Crawler, problem: str) -> SqliteFrontier:
    """Scrapy is on its way already: let it find that there is nothing to do."""
    frontier = _frontier(database.connect_to_memory(), crawler)
    frontier.fail(problem)
    return frontier


def _frontier(
    connection: sqlite3.Connection, crawler: Crawler, *, is_lasting: bool = True
) -> SqliteFrontier:
    settings = crawler.settings
    batch = settings.getint("FRONTIER_COMMIT_PAGES")
    return SqliteFrontier(
        connection,
        host_of=host_function(settings),
        hosts_by=settings["POLITENESS_HOST"],
        limits=limits_from(settings),
        now=clock.now(),
        batch=batch if is_lasting else _UNHURRIED * batch,
        is_lasting=is_lasting,
        **_rules(crawler),
    )


def _rules(crawler: Crawler) -> dict[str, Any]:
    """What decides about URLs, in every engine."""
    settings = crawler.settings
    scope = getattr(crawler.spider, "scope", None)
    return {
        "depth_limit": depth_limit_from(settings),
        "budget": settings.getint("SCOPE_MAX_PAGES") or None,
        "budgets": None if scope is None else scope.budgets,
        "capacity": settings.getint("FRONTIER_CAPACITY") or None,
        "max_redirects": settings.getint("REDIRECT_MAX_TIMES"),
        # What is in scope is known when all seeds have shown where they lead.
        "seeds_first": settings.getbool("SCOPE_FOLLOW_SEED_REDIRECTS")
        and settings["SCOPE_MODE"] != "any"
        and len(settings.getlist("SEEDS")) > 1,
        "judge": None if scope is None else scope.reason,
        "recrawl": _recrawl(crawler),
        "share": settings.getfloat("RECRAWL_SHARE"),
        "vary": partial(Random().uniform, -1.0, 1.0),  # noqa: S311 - the jitter of delays
    }


def is_lasting(settings: BaseSettings) -> bool:
    """Whether another run, or another worker, continues what this one begins."""
    return bool(settings["JOBDIR"]) or is_shared(settings)


def keeps_visits(settings: BaseSettings) -> bool:
    """Whether anybody comes back to what is fetched now."""
    return is_lasting(settings) or settings.getbool("RECRAWL_CONTINUOUS")


def _recrawl(crawler: Crawler) -> Recrawl | None:
    settings = crawler.settings
    if not keeps_visits(settings):
        return None
    return Recrawl(
        Intervals(
            least=settings.getfloat("RECRAWL_MIN_INTERVAL_SECONDS"),
            most=settings.getfloat("RECRAWL_MAX_INTERVAL_SECONDS"),
            chance=settings.getfloat("RECRAWL_CHANCE"),
            gone_visits=settings.getint("RECRAWL_GONE_VISITS"),
        ),
        cosmetic=settings.getfloat("RECRAWL_COSMETIC_SIMILARITY"),
        likeness=load_object(_LIKENESS),
        reading=_reading(settings),
        is_continuous=settings.getbool("RECRAWL_CONTINUOUS"),
    )


def _reading(settings: BaseSettings) -> int:
    """A number for how pages are read, and what comes of them: another one for any other way."""
    ways = {name: settings[name] for name in settings if name.startswith(_OF_READING)}
    pipelines = {str(load_object(one)): place for one, place in settings[_PIPELINES].items()}
    return crc32(json.dumps([ways, pipelines], default=str, sort_keys=True).encode())


def host_function(settings: BaseSettings) -> Callable[[str], str]:
    """The host of a URL, as the setting POLITENESS_HOST understands it."""
    if settings["POLITENESS_HOST"] == DOMAIN:
        return lambda url: registered_domain(host_of(url))
    return host_of
