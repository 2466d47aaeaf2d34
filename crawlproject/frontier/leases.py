"""The life of a lease on its way through Scrapy.

``LeaseGuard`` (downloader middleware) turns a verdict into a failure, so that nothing is
fetched, and tells the frontier when the server's answer is complete. ``LeaseMiddleware``
(spider middleware) notes on the lease what came of it. ``LeasesOut`` ends a lease when
Scrapy has finished with its request (``engine.observe_ends``): then its callback or errback has
ended, its items are through the pipelines, and its requests are admitted. Scrapy finishes with
every request, whatever raises or is dropped, so every lease ends; and none ends before, so a
kill in between costs one more fetch and nothing else.

Meta keys: reads ``lease`` and ``fetch_ended``; writes ``fetch_started``, ``fetch_ms``,
``dont_retry`` (of a request to a host that can't be reached) and ``made_by`` (of a request that is
not to be filtered: which callback made it, or ``start()``, and as which of its requests; the next
run makes the same ones again); ``lease`` and ``depth`` of the other request by which a middleware
has got a response.
Stats: ``downloader/request_count``.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from crawlproject.failures import unsent
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE
from crawlproject.frontier.clock import now
from crawlproject.frontier.entry import address_of
from crawlproject.frontier.flags import set_flags, take_back
from crawlproject.records import PAGE, kind_of, known_of, record_of, with_class

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawlproject.frontier.base import Frontier, Lease

logger = logging.getLogger(__name__)

FETCH_STARTED = "fetch_started"
# When its last byte came, as far as the download handler says.
FETCH_ENDED = "fetch_ended"
FETCH_MS = "fetch_ms"
# The headers of both sides as they were, as far as the download handler says.
ON_THE_WIRE = "on_the_wire"
MADE_BY = "made_by"
_START = "start"
FIRST_START = f"{_START} 1"


class Wire(NamedTuple):
    # The words behind the status.
    reason: str | None
    request_headers: tuple[tuple[bytes, bytes], ...]
    response_headers: tuple[tuple[bytes, bytes], ...]


def refusal(request: Request, error: str) -> Exception:
    """The failure of a request that is not sent, for this reason."""
    exception = unsent(error)
    if not isinstance(exception, IgnoreRequest):
        # robots.txt was asked for several times: that is enough.
        set_flags(request.meta, "dont_retry")
    return exception


class LeaseGuard:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        crawler.signals.connect(self._started, signals.request_reached_downloader)
        crawler.signals.connect(self._landed, signals.request_left_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LeaseGuard:
        return cls(crawler)

    @cached_property
    def _frontier(self) -> Frontier:
        # It is made after the downloader.
        return frontier_of(self._crawler)

    def process_request(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        if lease is not None and lease.verdict is not None:
            raise refusal(request, lease.verdict)

    def process_response(self, request: Request, response: Response) -> Response:
        got_by = response.request
        # A middleware may have got it by another request: what comes of it is ours.
        lease = request.meta.get(LEASE)
        if lease is not None and got_by is not None and got_by is not request:
            got_by.meta[LEASE] = lease
            got_by.meta["depth"] = lease.depth
        return response

    def _started(self, request: Request) -> None:
        meta = request.meta
        meta[FETCH_STARTED] = now()
        meta.pop(FETCH_ENDED, None)
        self._stats.inc_value("downloader/request_count")

    def _landed(self, request: Request) -> None:
        meta = request.meta
        lease = meta.get(LEASE)
        if lease is not None:
            moment = meta.get(FETCH_ENDED) or now()
            meta[FETCH_MS] = round((moment - meta[FETCH_STARTED]) * 1000)
            self._frontier.landed(lease, moment)


class LeaseMiddleware(BaseSpiderMiddleware):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # How often ``start()`` has asked for URLs that are not to be filtered.
        self._started: dict[str, int] = {}
        self._has_warned = False
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self._spider_failed, signals.spider_error)

    def process_spider_input(self, response: Response) -> None:
        if response.request is not None:
            take_back(response.request.meta)
        lease = _lease_of(response)
        if lease is not None:
            lease.failed = False

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        lease = _lease_of(response)
        if response is None and request.dont_filter:
            # Scrapy asks so for all of ``start_urls``, in every run.
            number = self._started[request.url] = self._started.get(request.url, 0) + 1
            request.meta[MADE_BY] = f"{_START} {number}"
        if response is not None and lease is not None and request.dont_filter:
            # Not the lease's attempts: a retry that the callback asks for is counted at once.
            attempt = f"{response.meta.get('retry_times', 0)}.{lease.bounces}"
            request.meta[MADE_BY] = f"{lease.url} {attempt} {lease.unfiltered}"
            lease.unfiltered += 1
        return request

    def _item_scraped(self, item: Any, response: Response | Failure | None) -> None:
        lease = _lease_of(response)
        if item is None and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "A pipeline has returned None in place of an item%s, so its fields are lost: its "
                "process_item() has to end with `return item` (the first such item)",
                "" if lease is None else f" of {address_of(lease.url)}",
            )
        kind = kind_of(item)
        if lease is None or lease.is_ended:
            url = None if lease is None else lease.url
            frontier_of(self.crawler).keep_item(kind, with_class(item, record_of(item)), url)
        elif kind == PAGE and item.url == lease.url and not _has_page(lease):
            # Not another page that the callback has made of it, nor a second one.
            lease.content, lease.stored = item.content, item.stored
            record = known_of(item, is_scripted=lease.is_scripted)
            lease.records.append((kind, with_class(item, record)))
        else:
            lease.records.append((kind, with_class(item, record_of(item))))
        if kind == PAGE:
            # The pipelines have seen it. Who keeps pages shall not keep their bodies.
            item.response = item.content = item.stored = item.own_text = None

    def _spider_failed(self, response: Response | Failure | None) -> None:
        lease = _lease_of(response)
        if lease is not None and not lease.is_reported:
            lease.failed = True


def _has_page(lease: Lease) -> bool:
    return any(kind == PAGE and record["url"] == lease.url for kind, record in lease.records)


class LeasesOut:
    """The leases whose requests Scrapy has."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        # A middleware may give the same request to Scrapy again, for another lease.
        self._out: dict[Request, list[Lease]] = {}
        # Whether one was put back, because the crawl is about to end.
        self.is_ending = False

    def __len__(self) -> int:
        return sum(map(len, self._out.values()))

    def add(self, request: Request, lease: Lease) -> None:
        # Until a response gets to the spider.
        lease.failed = True
        self._out.setdefault(request, []).append(lease)

    def request_of(self, lease: Lease) -> Request | None:
        # Few are out at a time, and only retries ask.
        for request, leases in self._out.items():
            if any(one is lease for one in leases):
                return request
        return None

    def end(self, request: Request) -> None:
        """End the lease of a request that Scrapy has finished with."""
        leases = self._out.get(request)
        if leases is None:
            return
        lease = leases.pop(0)
        if not leases:
            del self._out[request]
        if lease.is_ended:
            return
        if lease.is_put_back:
            self.is_ending = True
            # All that came of it comes again.
            lease.records.clear()
            self.release(lease, now())
            return
        lease.is_ended = True
        self._frontier.finish(lease)

    def release(self, lease: Lease, until: float) -> None:
        """Have it tried again. What else came of it stays, except for the page: it comes again."""
        lease.is_ended = True
        for kind, record in lease.records:
            if kind != PAGE:
                self._frontier.keep_item(kind, record, lease.url)
        self._frontier.release(lease, until)


def _lease_of(response: Response | Failure | None) -> Lease | None:
    request = getattr(response, "request", None)
    return None if request is None else request.meta.get(LEASE)
