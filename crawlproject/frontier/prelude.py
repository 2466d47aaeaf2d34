"""Requests that are made in every run, before anything else: a login, as a rule.

What a login leaves, cookies, is in the memory of one process. So a request with ``every_run`` in
its meta is not kept in the frontier: each run, and each worker of a shared crawl, makes it anew.
Until all of them are through (callbacks, redirects and retries, too) no other request is given out.
They have their turn at the host and their line in robots.txt like any other.

Scrapy asks the scheduler for requests while ``start()`` runs. So the frontier remembers that a
crawl has such requests: a resumed run waits for the first request of ``start()``, or for its end.

Meta keys: reads ``every_run`` and ``fetch_ended``, removes ``made_by`` and ``fetch_started``;
writes ``turn``, ``download_slot``, ``download_timeout``, ``timed_by_frontier``, ``depth`` and,
where robots.txt denies it, ``lease``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.frontier.base import LEASE, TURN
from crawlproject.frontier.clock import now
from crawlproject.frontier.deadline import TIMED
from crawlproject.frontier.engine import is_starting, wake
from crawlproject.frontier.leases import FETCH_ENDED, FETCH_STARTED, MADE_BY
from crawlproject.frontier.notes import PRELUDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.turnstile import Turnstile

logger = logging.getLogger(__name__)

EVERY_RUN = "every_run"


class Prelude:
    """``timeout`` gives the seconds that a request may take now."""

    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        turnstile: Turnstile,
        timeout: Callable[[], float],
    ) -> None:
        self._crawler = crawler
        self._frontier = frontier
        self._turnstile = turnstile
        self._timeout = timeout
        # Requests that wait for their turn, that have it, and that the engine has, with the host
        # whose turn they have.
        self._waiting: set[asyncio.Task[None]] = set()
        self._ready: deque[Request] = deque()
        self._out: dict[Request, str | None] = {}
        # Whether an earlier run had such requests, and ``start()`` has yielded no request yet.
        self._is_expected = False

    def open(self) -> None:
        self._is_expected = bool(self._frontier.recall(PRELUDE))

    @property
    def is_open(self) -> bool:
        """Whether all other requests have to wait."""
        if self._is_expected and not is_starting(self._crawler):
            self._is_expected = False
        return bool(self._is_expected or self._waiting or self._ready or self._out)

    def has_begun(self) -> None:
        """A request was enqueued, so ``start()`` need not be waited for."""
        self._is_expected = False

    def add(self, request: Request) -> None:
        # Connecting it twice has no effect.
        self._crawler.signals.connect(self._landed, signals.request_left_downloader)
        if not self._frontier.recall(PRELUDE):
            self._frontier.remember(PRELUDE, "yes")
        task = asyncio.get_running_loop().create_task(self._prepare(request))
        self._waiting.add(task)
        task.add_done_callback(self._prepared)

    def next(self) -> Request | None:
        if not self._ready:
            return None
        request = self._ready.popleft()
        self._out[request] = request.meta.get(TURN)
        return request

    def end(self, request: Request) -> None:
        """Scrapy has finished with a request."""
        if request in self._out:
            self._release(request, now())
            del self._out[request]

    def close(self) -> None:
        for task in self._waiting:
            task.cancel()

    async def _prepare(self, request: Request) -> None:
        meta = request.meta
        # A retry or a redirect has them from the request before.
        for name in (MADE_BY, TURN, LEASE, FETCH_STARTED):
            meta.pop(name, None)
        lease = self._turnstile.lease_for(request)
        refusal = await self._turnstile.enter(lease)
        if refusal is None:
            meta[TURN] = lease.host
        else:
            logger.warning("%s is not fetched: %s", request.url, refusal)
            lease.verdict, lease.is_ended = refusal, True
            # Makes a failure of it, for its errback.
            meta[LEASE] = lease
        meta["download_slot"] = lease.host
        if "download_timeout" not in meta or meta["download_timeout"] == meta.get(TIMED):
            meta["download_timeout"] = meta[TIMED] = self._timeout()
        meta["depth"] = 0
        self._ready.append(request)

    def _prepared(self, task: asyncio.Task[None]) -> None:
        self._waiting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("A request of every run was lost", exc_info=error)
        wake(self._crawler)

    def _landed(self, request: Request) -> None:
        self._release(request, request.meta.get(FETCH_ENDED) or now())

    def _release(self, request: Request, moment: float) -> None:
        if (host := self._out.get(request)) is not None:
            self._out[request] = None
            self._frontier.release_turn(host, moment)
