"""Has a worker's exchanges with Redis done in the background, and its commits.

The event loop never waits for Redis: two threads do, one for exchanges and one for commits.
What they need is collected in the event loop, and what comes of it is taken in there.

While Redis can't be reached, what is here goes on as long as the session lasts for sure; then
nothing is begun until it answers again.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawlproject.frontier import clock
from crawlproject.frontier.redis.session import Gone
from crawlproject.frontier.redis.trouble import trouble_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.redis.frontier import RedisFrontier
    from crawlproject.frontier.redis.session import Reply, Report

logger = logging.getLogger(__name__)

# Seconds until something new is told: by who has nothing else to do, and by who has.
_SOON, _LATER = 0.02, 0.1
# Answers that are told at once.
_MANY = 32
# Seconds until Redis is asked again for URLs that were not there, at first and at most; and
# when it can't be reached.
_FIRST_BREAK, _LONGEST_BREAK = 0.02, 0.5
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class Pump:
    """``renewal`` seconds at most pass between two exchanges."""

    def __init__(
        self, frontier: RedisFrontier, wake: Callable[[], None], *, renewal: float
    ) -> None:
        self._frontier = frontier
        self._desk = frontier.desk
        self._wake = wake
        self._renewal = renewal
        self._loop = asyncio.get_running_loop()
        self._exchanges = ThreadPoolExecutor(1, "frontier-exchange")
        self._commits = ThreadPoolExecutor(1, "frontier-commit")
        self._exchange: tuple[float, Report, Future[Reply]] | None = None
        self._commit: Future[int] | None = None
        self._timer: tuple[float, asyncio.TimerHandle] | None = None
        self._is_starved = False
        self._break = _FIRST_BREAK
        self._pause = 0.0
        self._is_stopped = False
        self.poke(0)

    # --- what has happened here

    def poke(self, delay: float) -> None:
        """Have an exchange within ``delay`` seconds."""
        at = self._loop.time() + (delay if not self._pause else max(delay, self._pause))
        if self._is_stopped or (self._timer and self._timer[0] <= at):
            return
        if self._timer:
            self._timer[1].cancel()
        self._timer = at, self._loop.call_at(at, self._begin)

    def has_news(self) -> None:
        """There is something to tell."""
        if self._desk.backlog >= _MANY:
            self.poke(0)
        else:
            self.poke(_SOON if self._desk.is_low() else _LATER)

    def is_low(self) -> None:
        """URLs were taken: there may be few left."""
        if not self._is_starved and self._desk.is_low():
            self.poke(0)

    # --- exchanges

    def _begin(self) -> None:
        self._timer = None
        if self._exchange is not None or self._is_stopped:
            # Its end brings the next one.
            return
        moment = clock.now()
        report = self._desk.report(moment, self._desk.wanted())
        future = self._exchanges.submit(self._frontier.session.exchange, report)
        self._exchange = moment, report, future
        future.add_done_callback(self._call_back)

    def _call_back(self, future: Future[Reply]) -> None:
        self._loop.call_soon_threadsafe(self._ended, future)

    def _ended(self, future: Future[Reply]) -> None:
        if self._exchange is None or self._exchange[2] is not future:
            # Somebody has waited for it.
            return
        self._take_in(future)
        if self._frontier.failure is not None or self._is_stopped:
            self._wake()
            return
        self._plan()
        self._commit_if_needed()
        self._wake()

    def _take_in(self, future: Future[Reply]) -> None:
        assert self._exchange is not None
        (told_at, report, _), self._exchange = self._exchange, None
        try:
            reply = future.result()
        except Exception as error:
            self._desk.put_back(report, clock.now())
            self._trouble(error)
            return
        if self._pause:
            logger.warning("Redis can be used again: the crawl goes on")
            self._pause = 0.0
        given = sum(len(grant.items) for grant in reply.grants)
        self._is_starved = given < report.wanted
        self._break = _FIRST_BREAK if given else min(2 * self._break, _LONGEST_BREAK)
        try:
            self._frontier.absorb(reply, told_at)
        except Exception as error:
            # Nobody would ever ask again.
            self._trouble(error)

    def _plan(self) -> None:
        """When the next exchange is due."""
        self.poke(self._renewal)
        if self._pause:
            self.poke(self._pause)
            return
        if self._desk.has_news():
            self.has_news()
        if self._is_starved and self._desk.wanted():
            next_in = self._frontier.next_in
            self.poke(self._break if next_in is None else min(self._break, max(next_in, 0.001)))

    def _trouble(self, error: Exception) -> None:
        words = trouble_of(error) if isinstance(error, RedisError) else None
        if words is None:
            logger.debug("An exchange failed", exc_info=error)
            is_told = isinstance(error, Gone)
            self._frontier.fail(str(error) if is_told else f"{type(error).__name__}: {error}")
            return
        if not self._pause:
            logger.warning("Redis can't be used, so the crawl waits for it: %s", words)
        self._pause = min(max(_FIRST_PAUSE, 2 * self._pause), _LONGEST_PAUSE)

    # --- commits

    def _commit_if_needed(self) -> None:
        term = self._frontier.term
        if term is None or self._commit is not None or self._pause:
            return
        if self._frontier.has_to_commit():
            self._commit = self._commits.submit(self._frontier.commit_some, term)
            self._commit.add_done_callback(
                lambda future: self._loop.call_soon_threadsafe(self._committed, future)
            )

    def _committed(self, future: Future[int]) -> None:
        if self._commit is not future:
            return
        self._commit = None
        if self._is_stopped:
            return
        try:
            future.result()
        except Exception as error:
            self._trouble(error)
            if self._frontier.failure is not None:
                self._wake()
                return
        # There may be more to take now, and to commit.
        self._is_starved = False
        self.poke(0 if self._desk.is_low() else _LATER)

    # --- the end

    def wait(self) -> None:
        """Wait until nothing is under way, and take in what came."""
        if self._commit is not None:
            self._commit.exception()
            self._commit = None
        if self._exchange is not None:
            self._exchange[2].exception()
            self._take_in(self._exchange[2])

    def stop(self) -> None:
        self._is_stopped = True
        if self._timer:
            self._timer[1].cancel()
        self.wait()
        self._exchanges.shutdown()
        self._commits.shutdown()
