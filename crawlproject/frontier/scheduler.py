"""Scrapy's scheduler over a frontier: leases become requests when their host is ready.

Requests come in on two ways. Links of a page are admitted by the spider as plain URLs,
without a Request, and finished together with the page (``leases.py``). What else a spider
yields is admitted here, one Request at a time, after the dupe filter, and so before the
lease ends that it came from.

Meta keys written: ``lease``, ``download_slot`` (the host), ``retry_times``, ``depth``,
``download_timeout``, ``timed_by_frontier`` (nobody else has set that timeout).
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol, cast

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.errors import BadInput
from crawlproject.frontier import alone, requests, use_frontier
from crawlproject.frontier.base import LEASE, NOT_ASKED, Candidate, Lease
from crawlproject.frontier.clock import now
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.engine import is_busy, look_ahead, stop, wake
from crawlproject.frontier.leases import (
    FETCH_STARTED,
    FIRST_START,
    MADE_BY,
    ON_THE_WIRE,
    LeasesOut,
)
from crawlproject.frontier.notes import STARTED_AT, UNSETTLED
from crawlproject.frontier.opening import open_frontier
from crawlproject.frontier.restore import NOT_KEPT
from crawlproject.frontier.rounds import end_round
from crawlproject.frontier.short_way import take_short_way
from crawlproject.frontier.time_cap import CPU_SECONDS, time_cap_of
from crawlproject.urls.dupefilter import CanonicalDupeFilter
from crawlproject.urls.fingerprint import canonicalizer_from, identity

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

    from crawlproject.frontier.base import Frontier, Gatekeeper
    from crawlproject.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)

# Leases in one turn of the event loop.
_SHARE = 8
# Seconds in which a page is read, about.
_SOON = 0.002
# Seconds between two commits.
_LEAST_INTERVAL = 0.005
_TIMED = "timed_by_frontier"


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
        canonicalizer: Canonicalizer,
        *,
        listeners: list[object],
        retry_backoff: float,
        commit_interval: float,
        deadline: Deadline,
    ) -> None:
        self._crawler = crawler
        self._frontier = frontier
        self._gatekeeper = gatekeeper
        self._dupefilter = dupefilter
        self._canonicalizer = canonicalizer
        # Nobody else holds them, and signals don't.
        self._listeners = listeners
        self._retry_backoff = retry_backoff
        self._commit_interval = commit_interval
        self._commits = create_looping_call(self._commit)
        self._out = LeasesOut(crawler, frontier)
        self._deadline = deadline
        # Leases about which the gatekeeper is finding out.
        self._questions: set[asyncio.Future[None]] = set()
        self._beginning = 0
        self._alarm: tuple[float, asyncio.TimerHandle] | None = None
        # Leases asked for in this turn of the event loop.
        self._given = 0
        # Whether there may be more in the next one.
        self._has_more = False
        self._is_stopping = False
        self._has_unkept = False
        # Not weakly: the engine lets go of its scheduler before it stops.
        crawler.signals.connect(self._let_go, signals.engine_stopped, weak=False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        settings = crawler.settings
        try:
            alone.complete(crawler)
        except BadInput as error:
            return cast("FrontierScheduler", alone.Refusal(crawler, error))
        frontier = open_frontier(crawler)
        use_frontier(crawler, frontier)
        # Before the spider is opened: then its clock starts.
        time_cap_of(crawler)
        gatekeeper = build_from_crawler(load_object(settings["FRONTIER_GATEKEEPER"]), crawler)
        return cls(
            crawler,
            frontier,
            gatekeeper,
            build_from_crawler(load_object(alone.dupefilter_class(settings)), crawler),
            canonicalizer_from(settings),
            listeners=alone.join(crawler, gatekeeper),
            retry_backoff=settings.getfloat("FRONTIER_RETRY_BACKOFF_SECONDS"),
            commit_interval=settings.getfloat("FRONTIER_COMMIT_SECONDS"),
            deadline=Deadline.from_settings(settings),
        )

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._loop = asyncio.get_running_loop()
        take_short_way(self._crawler)
        self._frontier.go_live(partial(wake, self._crawler))
        alone.guard_feeding(self._crawler, self._frontier.commit)
        self._dupefilter.open()
        if self._frontier.recall(STARTED_AT) is None:
            self._frontier.remember(STARTED_AT, datetime.now(UTC).isoformat())
        self._commits.start(max(self._commit_interval, _LEAST_INTERVAL), now=False)

    def close(self, reason: str) -> None:
        if self._alarm:
            self._alarm[1].cancel()
        for question in self._questions:
            question.cancel()
        self._commits.stop()
        # Scrapy has let go of all requests by now.
        self._out.end_complete()
        # Before the outputs are written.
        with self._frontier.at_once():
            end_round(self._frontier, reason, now())
        self._dupefilter.close(reason)

    def _commit(self) -> None:
        # The engine may have asked for nothing since: it is busy, or paused.
        if self._out.end_complete():
            wake(self._crawler)
        self._frontier.commit()

    def _let_go(self) -> None:
        # After the outputs, which are written from the frontier.
        self._frontier.close()

    def has_pending_requests(self) -> bool:
        if self._frontier.exhausted() and self._frontier.recall(UNSETTLED):
            # Links have gone: what is too deep now, or not any more?
            self._frontier.settle(now())
        return not self._frontier.exhausted()

    def next_request(self) -> Request | None:
        if self._frontier.failure is not None or self._frontier.stop_reason is not None:
            self._stop()
            return None
        if self._given == 0:
            self._out.end_complete()
        if self._out.is_ending:
            return None
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
        lease = request.meta.pop(LEASE, None)
        if not isinstance(lease, Lease):
            # Somebody else's word, or what somebody has fed.
            lease = None
        made_by = request.meta.pop(MADE_BY, None)
        # Who copies the meta of a response copies what is only true of that one.
        request.meta.pop(ON_THE_WIRE, None)
        url = identity(request, self._canonicalizer)
        if lease is not None and _is_retry(request, url, lease):
            lease.attempts = request.meta["retry_times"]
            if lease.request is not None:
                lease.request = self._kept(request)
            wait = self._retry_backoff * 2 ** (lease.attempts - 1)
            self._out.release(lease, now() + wait)
            return True
        if request.dont_filter:
            if made_by is None and lease is not None:
                # A middleware has made it of another one: a redirect.
                made_by = f"{lease.url} instead"
            url = f"{url}#{_mark(made_by)}"
        elif self._is_duplicate(request, url):
            self._dupefilter.log(request, self._spider)
            return False
        candidate = Candidate(url, None, self._kept(request))
        return bool(self._frontier.admit([candidate], request.meta.get("depth", 0)))

    def _is_duplicate(self, request: Request, url: str) -> bool:
        # Scrapy does not filter what a spider starts with, but that is no reason to ask again.
        if self._is_known(url) or self._is_known(f"{url}#{_START_MARK}"):
            return True
        # Ours would keep in memory what the frontier knows better.
        is_ours = type(self._dupefilter) is CanonicalDupeFilter
        return not is_ours and self._dupefilter.request_seen(request)

    def _is_known(self, url: str) -> bool:
        return self._frontier.facts(url) is not None

    def _kept(self, request: Request) -> str | Request:
        """The request as text, or itself if it can't be written down."""
        text = requests.to_text(request, self._spider)
        if text is None and not self._has_unkept:
            self._has_unkept = True
            logger.info(
                "%s can't be kept in the crawl directory, nor others like it: its callback is "
                "no method of the spider, or its meta has what JSON has not",
                request,
            )
        return request if text is None else text

    def _made(self, lease: Lease) -> Request | None:
        if lease.request is None:
            return cast("LeaseSpider", self._spider).request_for(lease)
        if not isinstance(lease.request, str):
            return cast("Request", lease.request)
        try:
            return requests.from_text(lease.request, self._spider)
        except Exception as error:
            # A run before this one kept it, and the spider may have changed in any way since.
            logger.warning("The request for %s can't be made again: %s", lease.url, error)
            lease.skip = NOT_KEPT
            self._frontier.finish(lease)
            return None

    def _give_out(self, request: Request, lease: Lease) -> Request:
        meta = request.meta
        meta[LEASE] = lease
        # A retry has it from before.
        meta.pop(FETCH_STARTED, None)
        meta.pop(CPU_SECONDS, None)
        meta["download_slot"] = lease.host
        meta["depth"] = lease.depth
        # The frontier's spelling is the one that was meant.
        meta["verbatim_url"] = True
        lease.attempts = max(lease.attempts, meta.get("retry_times", 0))
        if lease.attempts:
            meta["retry_times"] = lease.attempts
        # What is in flight when the crawl's time is up is cut off, and stays queued.
        if "download_timeout" not in meta or _TIMED in meta:
            meta["download_timeout"] = self._deadline.timeout()
            meta[_TIMED] = True
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


def _mark(made_by: str | None) -> str:
    """What tells apart requests for the same URL, also those of different runs."""
    if made_by is None:
        return token_hex(8)
    return blake2b(made_by.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _is_retry(request: Request, url: str, lease: Lease) -> bool:
    """Whether a request is its lease's own, tried once more.

    Who copies the meta of a response or request copies its lease too: a redirect, or what a
    callback asks for next.
    """
    if lease.is_ended or request.meta.get("retry_times", 0) <= lease.attempts:
        return False
    # One that was not to be filtered has a number behind its URL.
    return lease.request is None or lease.url == url or lease.url.startswith(f"{url}#")


_START_MARK = _mark(FIRST_START)
