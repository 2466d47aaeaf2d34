"""Scrapy's scheduler over a frontier: leases become requests when their host is ready.

Requests come in on two ways. Links of a page are admitted by the spider as plain URLs,
without a Request, and finished together with the page (``leases.py``). What else a spider
yields is admitted here, one Request at a time, after the dupe filter.

Meta keys written: ``lease``, ``download_slot`` (the host), ``retry_times``, ``depth``,
``download_timeout``.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, cast

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.frontier import use_frontier
from crawlproject.frontier.base import LEASE, Candidate
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.engine import is_busy, wake
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.scope.depth import depth_limit_from
from crawlproject.urls.canonical import host_of
from crawlproject.urls.fingerprint import canonicalizer_from, identity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.settings import BaseSettings
    from scrapy.utils.asyncio import CallLaterResult

    from crawlproject.frontier.base import Frontier, Gatekeeper, Lease
    from crawlproject.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)


class LeaseSpider(Protocol):
    """A spider whose links go to the frontier as plain URLs says how to fetch one."""

    def request_for(self, lease: Lease) -> Request: ...


def limits_from(settings: BaseSettings) -> Callable[[str], HostLimits]:
    """How hosts are treated that have not said anything themselves."""
    delay = settings.getfloat("DOWNLOAD_DELAY")
    throttled = settings.getbool("AUTOTHROTTLE_ENABLED")
    limits = HostLimits(
        delay=delay,
        concurrency=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
        start_delay=settings.getfloat("AUTOTHROTTLE_START_DELAY") if throttled else 0.0,
    )
    return lambda host: limits


def frontier_from(settings: BaseSettings) -> Frontier:
    return MemoryFrontier(
        host_of=host_of,
        limits=limits_from(settings),
        depth_limit=depth_limit_from(settings),
        budget=settings.getint("SCOPE_MAX_PAGES") or None,
        capacity=settings.getint("FRONTIER_CAPACITY") or None,
        max_redirects=settings.getint("REDIRECT_MAX_TIMES"),
        # What is in scope is known when all seeds have shown where they lead.
        seeds_first=settings.getbool("SCOPE_FOLLOW_SEED_REDIRECTS")
        and settings["SCOPE_MODE"] != "any"
        and len(settings.getlist("SEEDS")) > 1,
    )


class FrontierScheduler(BaseScheduler):
    def __init__(
        self,
        crawler: Crawler,
        frontier: Frontier,
        gatekeeper: Gatekeeper,
        dupefilter: BaseDupeFilter,
        canonicalizer: Canonicalizer,
        *,
        retry_backoff: float,
        deadline: Deadline,
    ) -> None:
        self._crawler = crawler
        self._frontier = frontier
        self._gatekeeper = gatekeeper
        self._dupefilter = dupefilter
        self._canonicalizer = canonicalizer
        self._retry_backoff = retry_backoff
        self._deadline = deadline
        # Leases about which the gatekeeper is finding out.
        self._questions: set[asyncio.Future[None]] = set()
        self._beginning = 0
        self._alarm: tuple[float, CallLaterResult] | None = None
        self._unfiltered = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        settings = crawler.settings
        frontier = frontier_from(settings)
        use_frontier(crawler, frontier)
        return cls(
            crawler,
            frontier,
            build_from_crawler(load_object(settings["FRONTIER_GATEKEEPER"]), crawler),
            build_from_crawler(load_object(settings["DUPEFILTER_CLASS"]), crawler),
            canonicalizer_from(settings),
            retry_backoff=settings.getfloat("FRONTIER_RETRY_BACKOFF_SECONDS"),
            deadline=Deadline.from_settings(settings),
        )

    def open(self, spider: Spider) -> None:
        self._spider = spider
        self._dupefilter.open()

    def close(self, reason: str) -> None:
        if self._alarm:
            self._alarm[1].cancel()
        for question in self._questions:
            question.cancel()
        self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        return not self._frontier.exhausted()

    def next_request(self) -> Request | None:
        now = monotonic()
        # Questions are requests too, and the engine does not see them come.
        while not is_busy(self._crawler, self._beginning):
            lease = self._frontier.take(now)
            if lease is None:
                self._set_alarm(now)
                return None
            verdict = lease.verdict or self._gatekeeper.verdict(lease)
            if verdict is None or isinstance(verdict, str):
                lease.verdict = verdict
                return self._request(lease)
            self._ask(lease, verdict)
        return None

    def enqueue_request(self, request: Request) -> bool:
        lease = request.meta.pop(LEASE, None)
        retries = request.meta.get("retry_times", 0)
        if lease is not None and not lease.is_ended and retries > lease.attempts:
            lease.attempts = retries
            until = monotonic() + self._retry_backoff * 2 ** (retries - 1)
            self._frontier.release(lease, until)
            return True
        url = identity(request, self._canonicalizer)
        if request.dont_filter:
            self._unfiltered += 1
            url = f"{url}#{self._unfiltered}"
        elif self._dupefilter.request_seen(request) or self._frontier.known(url):
            self._dupefilter.log(request, self._spider)
            return False
        candidate = Candidate(url, None, request)
        return bool(self._frontier.admit([candidate], request.meta.get("depth", 0)))

    def _request(self, lease: Lease) -> Request:
        request: Request | None = lease.request
        if request is None:
            request = cast("LeaseSpider", self._spider).request_for(lease)
        meta: dict[str, Any] = request.meta
        meta[LEASE] = lease
        meta["download_slot"] = lease.host
        meta["depth"] = lease.depth
        if lease.attempts:
            meta["retry_times"] = lease.attempts
        # What is in flight when the crawl's time is up is cut off, and stays queued.
        meta.setdefault("download_timeout", self._deadline.timeout())
        return request

    def _ask(self, lease: Lease, question: Awaitable[None]) -> None:
        task = asyncio.ensure_future(self._wait(lease, question))
        self._questions.add(task)
        task.add_done_callback(self._questions.discard)
        # From the next turn of the loop on, the downloader counts it.
        self._beginning += 1
        asyncio.get_running_loop().call_soon(self._begun)

    def _begun(self) -> None:
        self._beginning -= 1

    async def _wait(self, lease: Lease, question: Awaitable[None]) -> None:
        try:
            await question
        finally:
            now = monotonic()
            if self._gatekeeper.asks_the_host:
                self._frontier.landed(lease, now)
            self._frontier.release(lease, now)
            wake(self._crawler)

    def _set_alarm(self, now: float) -> None:
        """Wake the engine when the next host gets ready."""
        ready_at = self._frontier.next_ready(now)
        if ready_at is None or (self._alarm and now < self._alarm[0] <= ready_at):
            return
        if self._alarm:
            self._alarm[1].cancel()
        self._alarm = ready_at, call_later(max(0, ready_at - now), wake, self._crawler)
