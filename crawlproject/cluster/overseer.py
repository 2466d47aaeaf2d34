"""The supervisor's scheduler: it has no requests, but workers.

Opened, it starts them; while one of them lives, or is about to be replaced, the crawl goes on.
Closed, it lets them end, and copies what they have brought, for the outputs and the summary.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from redis.exceptions import RedisError
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import get_scrapy_root_handler

from crawlproject.cluster import fleet_of
from crawlproject.cluster.whole import Whole
from crawlproject.cluster.workers import BAD_ARGUMENTS, NO_WORKERS, PAUSE
from crawlproject.frontier import use_frontier
from crawlproject.frontier.engine import stop, wake
from crawlproject.frontier.idle import NothingToFetch
from crawlproject.frontier.opening import host_function
from crawlproject.frontier.redis.forgetting import forget, forget_if_alone
from crawlproject.frontier.redis.opening import crawl_id, shared_scripts
from crawlproject.frontier.redis.trouble import trouble_of
from crawlproject.monitoring.progress import AboveTheLine
from crawlproject.monitoring.streams import tell
from crawlproject.records import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawlproject.cluster.whole import Look
    from crawlproject.cluster.workers import End, Workers
    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.redis.scripts import Scripts

T = TypeVar("T")

# Seconds between two looks at the crawl.
_INTERVAL = 0.25


class Overseer(NothingToFetch):
    def __init__(
        self,
        crawler: Crawler,
        workers: Workers,
        scripts: Scripts,
        whole: Whole,
        *,
        is_own: bool,
        is_kept: bool,
    ) -> None:
        self._crawler = crawler
        self._workers = workers
        self._scripts = scripts
        self._whole = whole
        # Whether the Redis is this crawl's alone.
        self._is_own = is_own
        self._is_kept = is_kept
        self._looks = create_looping_call(self._look)
        self._is_looking = False
        # Workers that are about to be replaced.
        self._coming = 0
        self._all_ended: asyncio.Event | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Overseer:
        settings = crawler.settings
        assert crawler.spider is not None
        workers, client, is_own, _ = fleet_of(crawler)
        crawl = crawl_id(settings, crawler.spider.name, crawler)
        scripts = shared_scripts(client, crawl, settings)
        whole = Whole(scripts, host_function(settings))
        if settings.getbool("SCHEDULER_FLUSH_ON_START"):
            forget_if_alone(scripts)
        # It has what is asked of it here.
        use_frontier(crawler, cast("Frontier", whole))
        return cls(
            crawler,
            workers,
            scripts,
            whole,
            is_own=is_own,
            is_kept=settings.getbool("SCHEDULER_PERSIST"),
        )

    # --- Scrapy's face

    def open(self, spider: Spider) -> None:
        self._loop = asyncio.get_running_loop()
        self._find_earlier()
        self._all_ended = asyncio.Event()
        self._workers.hear = partial(self._soon, _show)
        self._workers.told = partial(self._soon, self._ended)
        self._workers.start()
        self._looks.start(_INTERVAL, now=True)

    def has_pending_requests(self) -> bool:
        return bool(self._workers.alive or self._coming)

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        self._workers.stop()
        assert self._all_ended is not None
        if self._workers.alive:
            await self._all_ended.wait()
        self._looks.stop()
        try:
            self._whole.last = await asyncio.to_thread(self._whole.look)
            self._whole.read_from(await asyncio.to_thread(self._whole.copy))
            if not self._is_kept and self._whole.last.is_complete:
                forget(self._scripts)
        except RedisError as error:
            self._whole.fail(trouble_of(error) or str(error))
        self._tell_seeds()

    def _find_earlier(self) -> None:
        """What is there already, before workers add to it."""
        whole = self._whole
        if self._is_own:
            # Who is left there was killed, with its supervisor.
            whole.dismiss_all()
        whole.first = whole.last = whole.look()
        if whole.first.counts.pages or whole.first.counts.open:
            whole.read_from(whole.copy())
            pages = whole.read().count_pages()
            self._crawler.stats.set_value("frontier/resumed_pages", pages)

    # --- workers

    def _soon(self, call: Callable[[T], None], value: T) -> None:
        """Have the event loop call; it may have ended, by a second Ctrl-C."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, value)

    def _ended(self, end: End) -> None:
        if not self._workers.alive and self._all_ended is not None:
            self._all_ended.set()
        if not end.status:
            wake(self._crawler)
            return
        if end.status == BAD_ARGUMENTS:
            _show(f"{end}")
            stop(self._crawler, NO_WORKERS)
            return
        self._coming += 1
        judged = self._loop.create_task(self._judge(end))
        judged.add_done_callback(lambda _: self._judged())

    def _judged(self) -> None:
        self._coming -= 1
        wake(self._crawler)

    async def _judge(self, end: End) -> None:
        """Has the crawl lost a worker, or has it ended?"""
        with suppress(RedisError):
            await asyncio.to_thread(self._whole.dismiss)
        if await self._is_complete():
            return
        await asyncio.sleep(PAUSE)
        if self._workers.replace(end):
            assert self._all_ended is not None
            self._all_ended.clear()
            _show(f"{end}: another one takes its place")
        elif not self._workers.is_stopping:
            _show(f"{end}: too many have, so nobody takes its place")
            if not self._workers.alive:
                stop(self._crawler, NO_WORKERS)

    async def _is_complete(self) -> bool:
        try:
            return (await asyncio.to_thread(self._whole.look)).is_complete
        except RedisError:
            return False

    # --- what is shown

    def _look(self) -> None:
        if self._is_looking:
            return
        self._is_looking = True
        looking = self._loop.run_in_executor(None, self._whole.look)
        looking.add_done_callback(self._seen)

    def _seen(self, looking: asyncio.Future[Look]) -> None:
        self._is_looking = False
        if not looking.cancelled() and looking.exception() is None:
            self._whole.last = looking.result()

    def _tell_seeds(self) -> None:
        """What workers know of the seeds: the exit status depends on it."""
        failures: dict[str, str] | None = getattr(self._crawler.spider, "seed_failures", None)
        reader = self._whole.read()
        if failures is None or reader.has_fetched_a_seed():
            return
        for kind, record in reader.pages(with_links=False):
            if kind == PAGE and record["depth"] == 0 and record["error"] is not None:
                failures[record["url"]] = record["error"]


def _show(line: str) -> None:
    """Above the live line, if there is one."""
    handler = get_scrapy_root_handler()
    stream = handler.stream if isinstance(handler, logging.StreamHandler) else None
    with suppress(OSError, ValueError):
        if isinstance(stream, AboveTheLine):
            stream.write(line)
        else:
            tell(line)
