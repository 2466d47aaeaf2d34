"""Scrapy's scheduler over a frontier: leases become requests when their host is ready.

Requests come in on two ways. The site spider notes the links of a page on its lease as plain
URLs, without a Request, and they are finished together with the page (``leases.py``). What else
a spider yields comes through ``enqueue_request``, one Request at a time (``own_requests.py``).

It has the methods and honours the settings of ``scrapy_redis.scheduler.Scheduler`` (the table is
in ``docs/extending.md``). It is no subclass: that class is a Redis queue and a Redis set, of which
every method would be overridden, and a crawl without Redis would have to import both.

Meta keys written: ``lease``, ``download_slot`` (the host), ``retry_times``, ``depth``,
``download_timeout``, ``timed_by_frontier`` (nobody else has set that timeout).
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.errors import BadInput
from crawlproject.frontier import use_frontier
from crawlproject.frontier.base import LEASE, NOT_ASKED
from crawlproject.frontier.clock import now
from crawlproject.frontier.configuration import Refusal, check_configuration
from crawlproject.frontier.deadline import TIMED, Deadline
from crawlproject.frontier.engine import fail, is_busy, look_ahead, observe_ends, stop, wake
from crawlproject.frontier.idle_timeout import IdleTimeout
from crawlproject.frontier.leases import FETCH_STARTED, LeasesOut
from crawlproject.frontier.notes import STARTED_AT, UNSETTLED
from crawlproject.frontier.opening import is_lasting, open_frontier
from crawlproject.frontier.own_filters import build_dupefilter
from crawlproject.frontier.own_requests import OwnRequests
from crawlproject.frontier.prelude import EVERY_RUN, Prelude
from crawlproject.frontier.redis.compatibility import guard_redis_spider, idle_seconds
from crawlproject.frontier.rounds import end_round
from crawlproject.frontier.time_cap import CPU_SECONDS, time_cap_of
from crawlproject.frontier.turnstile import Turnstile

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

    from crawlproject.frontier.base import Frontier, Gatekeeper, Lease

logger = logging.getLogger(__name__)

# Leases in one turn of the event loop.
_SHARE = 8
# Seconds in which a page is read, about.
_SOON = 0.002
# Seconds between two commits.
_LEAST_INTERVAL = 0.005


class LeaseSpider(Protocol):
    """A spider whose links go to the frontier as plain URLs says how to fetch one."""

    def request_for(self, lease: Lease) -> Request: ...


class FrontierScheduler(BaseScheduler):
    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        gatekeeper: Gatekeeper,
        dupefilter: BaseDupeFilter,
        *,
        retry_backoff: float,
        commit_interval: float,
        deadline: Deadline,
        idle_before_close: float = 0,
        is_lasting: bool = False,
    ) -> None:
        self._crawler = crawler
        self._frontier = frontier
        self._gatekeeper = gatekeeper
        self._dupefilter = dupefilter
        self._commit_interval = commit_interval
        self._commits = create_looping_call(frontier.commit)
        self._out = LeasesOut(frontier)
        self._own = own = OwnRequests(
            crawler,
            frontier,
            dupefilter,
            self._out,
            retry_backoff=retry_backoff,
            is_lasting=is_lasting,
        )
        # For who notes links on a lease without a Request, where a project has a filter of its own.
        self.leave_out_duplicates = own.leave_out_duplicates
        self._deadline = deadline
        turnstile = Turnstile(frontier, self._verdict)
        # A context in which a request that is not queued has its turn, for the downloader.
        self.turn = turnstile.turn
        self._prelude = Prelude(crawler, frontier, turnstile, deadline.timeout)
        self._idle_timeout = IdleTimeout(crawler, idle_before_close)
        # Leases about which the gatekeeper is finding out.
        self._questions: set[asyncio.Future[None]] = set()
        self._beginning = 0
        self._alarm: tuple[float, asyncio.TimerHandle] | None = None
        # Leases asked for in this turn of the event loop.
        self._given = 0
        # Whether there may be more in the next one.
        self._has_more = False
        self._is_stopping = False
        # Not weakly: the engine lets go of its scheduler before it stops.
        crawler.signals.connect(self._let_go, signals.engine_stopped, weak=False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        settings = crawler.settings
        try:
            check_configuration(crawler)
        except BadInput as error:
            return cast("FrontierScheduler", Refusal(crawler, error))
        frontier = open_frontier(crawler)
        use_frontier(crawler, frontier)
        # Before the spider is opened: then its clock starts.
        time_cap_of(crawler)
        gatekeeper = build_from_crawler(load_object(settings["FRONTIER_GATEKEEPER"]), crawler)
        return cls(
            crawler,
            frontier,
            gatekeeper,
            build_dupefilter(crawler),
            retry_backoff=settings.getfloat("FRONTIER_RETRY_BACKOFF_SECONDS"),
            commit_interval=settings.getfloat("FRONTIER_COMMIT_SECONDS"),
            deadline=Deadline.from_crawler(crawler),
            idle_before_close=idle_seconds(settings),
            is_lasting=is_lasting(settings),
        )

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._loop = asyncio.get_running_loop()
        observe_ends(self._crawler, self._out.end)
        observe_ends(self._crawler, self._prelude.end)
        self._frontier.go_live(partial(wake, self._crawler))
        guard_redis_spider(self._crawler, self._frontier.commit)
        self._own.open()
        self._prelude.open()
        if self._frontier.recall(STARTED_AT) is None:
            self._frontier.remember(STARTED_AT, datetime.now(UTC).isoformat())
        self._commits.start(max(self._commit_interval, _LEAST_INTERVAL), now=False)

    def close(self, reason: str) -> None:
        if self._alarm:
            self._alarm[1].cancel()
        for question in self._questions:
            question.cancel()
        self._prelude.close()
        self._idle_timeout.reset()
        self._commits.stop()
        # Before the outputs are written.
        with self._frontier.at_once():
            end_round(self._frontier, reason, now())
        self._own.close(reason)

    def _let_go(self) -> None:
        # The connection would hold the whole crawler.
        self._crawler.signals.disconnect(self._let_go, signals.engine_stopped, weak=False)
        # After the outputs, which are written from the frontier.
        self._frontier.close()

    def __len__(self) -> int:
        """Queued URLs, as far as this process knows: about, where the crawl is shared."""
        return self._frontier.counts().queued

    def __bool__(self) -> bool:
        return True

    @property
    def df(self) -> BaseDupeFilter:
        """The dupe filter, under scrapy-redis' name."""
        return self._dupefilter

    def flush(self) -> None:
        """Remove a shared crawl from Redis once its last worker has left.

        scrapy-redis does so at once, while requests are in flight that would enter it again.
        """
        forget_at_end = getattr(self._frontier, "forget_at_end", None)
        if forget_at_end is None:
            raise NotImplementedError(
                f"{self._frontier.place} can't be flushed while it is in use: delete it afterwards"
            )
        forget_at_end()

    def has_pending_requests(self) -> bool:
        if self._prelude.is_open:
            return True
        if self._frontier.exhausted() and self._frontier.recall(UNSETTLED):
            # Links have gone: what is too deep now, or not any more?
            self._frontier.settle(now())
        return not self._frontier.exhausted()

    def next_request(self) -> Request | None:
        if self._frontier.failure is not None or self._frontier.stop_reason is not None:
            self._stop()
            return None
        if self._out.is_ending:
            return None
        if self._prelude.is_open:
            return self._prelude.next()
        # Questions are requests too, and the engine, which has just seen that there is room,
        # does not see them come.
        while not (self._beginning and is_busy(self._crawler, self._beginning)) and (
            self._has_share()
        ):
            moment = now()
            lease = self._frontier.take(moment)
            if lease is None:
                self._has_more = False
                self._set_alarm(moment)
                return None
            if lease.verdict is None and (lookup := look_ahead(self._crawler, lease.fetch_url)):
                self._hold_back(lease, lookup)
                continue
            verdict = lease.verdict or self._verdict(lease)
            if verdict is None or isinstance(verdict, str):
                lease.verdict = verdict
                if (request := self._made(lease)) is not None:
                    return self._give_out(request, lease)
            else:
                self._ask(lease, verdict)
        return None

    def _verdict(self, lease: Lease) -> str | Awaitable[float | None] | None:
        try:
            return self._gatekeeper.verdict(lease)
        except Exception as error:
            # The lease must not be lost, and who can't decide lets nobody in.
            logger.warning("No verdict on %s: %s", lease.url, error, exc_info=True)
            return f"failed: the gatekeeper raised {type(error).__name__}"

    def has_more(self, pages: int = 1) -> bool:
        """Whether there are leases to be given out now, or before so many pages would be read."""
        return self._has_more or (
            self._alarm is not None and self._alarm[0] < now() + _SOON * pages
        )

    def _has_share(self) -> bool:
        """Whether more may be given out in this turn of the event loop.

        Answers come in between turns. If all requests left in one turn, their answers would
        come at once too, and be late, for ever in step.
        """
        if self._given == 0:
            self._loop.call_soon(self._next_turn)
        self._given += 1
        return self._given <= _SHARE

    def _next_turn(self) -> None:
        self._has_more = self._given > _SHARE
        self._given = 0
        if self._has_more:
            wake(self._crawler)

    def enqueue_request(self, request: Request) -> bool:
        self._prelude.has_begun()
        if request.meta.get(EVERY_RUN):
            self._prelude.add(request)
            return True
        return self._own.enqueue(request)

    def _made(self, lease: Lease) -> Request | None:
        if lease.request is None:
            return cast("LeaseSpider", self._spider).request_for(lease)
        return self._own.make(lease)

    def _give_out(self, request: Request, lease: Lease) -> Request:
        self._idle_timeout.reset()
        meta = request.meta
        meta[LEASE] = lease
        # A retry has it from before.
        meta.pop(FETCH_STARTED, None)
        meta.pop(CPU_SECONDS, None)
        meta["download_slot"] = lease.host
        meta["depth"] = lease.depth
        lease.attempts = max(lease.attempts, meta.get("retry_times", 0))
        if lease.attempts:
            meta["retry_times"] = lease.attempts
        # What is in flight when the crawl's time is up is cut off, and stays queued.
        if "download_timeout" not in meta or meta["download_timeout"] == meta.get(TIMED):
            meta["download_timeout"] = meta[TIMED] = self._deadline.timeout()
        self._out.add(request, lease)
        return request

    def _hold_back(self, lease: Lease, lookup: Awaitable[float] | float) -> None:
        """Until the name of its host is known. It takes no place of a request meanwhile."""
        if isinstance(lookup, float):
            moment = now()
            self._frontier.hold(lease.host, moment + lookup)
            self._frontier.release(lease, moment)
        else:
            self._begin_wait(lease, lookup)

    def _begin_wait(self, lease: Lease, question: Awaitable[float | None]) -> None:
        task = self._loop.create_task(self._wait(lease, question))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)

    def _ask(self, lease: Lease, question: Awaitable[float | None]) -> None:
        self._begin_wait(lease, question)
        # From the next turn of the loop on, the downloader counts it.
        self._beginning += 1
        self._loop.call_soon(self._begun)

    def _begun(self) -> None:
        self._beginning -= 1

    async def _wait(self, lease: Lease, question: Awaitable[float | None]) -> None:
        answered_at = None
        try:
            answered_at = await question
        finally:
            moment = now()
            if self._gatekeeper.asks_the_host and answered_at != NOT_ASKED:
                self._frontier.landed(lease, answered_at or moment)
            self._frontier.release(lease, moment)
            wake(self._crawler)

    def _stop(self) -> None:
        """End a crawl whose state can't be kept, or that somebody has ended for all workers."""
        if self._is_stopping:
            return
        self._is_stopping = True
        if self._frontier.failure is not None:
            place = self._frontier.place.capitalize()
            logger.error("%s can't be used: %s", place, self._frontier.failure)
            fail(self._crawler)
            stop(self._crawler, "crawl directory")
        elif self._frontier.stop_reason is not None:
            logger.info("The whole crawl is to end: %s", self._frontier.stop_reason)
            stop(self._crawler, self._frontier.stop_reason)

    def _set_alarm(self, moment: float) -> None:
        """Wake the engine when the next host gets ready."""
        ready_at = self._frontier.next_ready(moment)
        if ready_at is None or (self._alarm and moment < self._alarm[0] <= ready_at):
            return
        if self._alarm:
            self._alarm[1].cancel()
        self._alarm = ready_at, self._loop.call_later(max(0, ready_at - moment), self._ring)

    def _ring(self) -> None:
        # It may be early by a millisecond, as timers are: then another one is needed.
        self._alarm = None
        wake(self._crawler)
