"""The life of a lease on its way through Scrapy.

``LeaseGuard`` (downloader middleware) turns a verdict into a failure, so that nothing is
fetched, and tells the frontier when the server's answer is complete. ``LeaseMiddleware``
(spider middleware) ends a lease when its response has been read and its items are through
the pipelines: the page, its links and the end of the lease are one step.

Meta keys: reads ``lease``; writes ``fetch_started`` and ``fetch_ms``.
Stats: ``downloader/request_count``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, signals

from crawlproject.failures import Verdict
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE
from crawlproject.frontier.clock import now
from crawlproject.records import kind_of, record_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawlproject.frontier.base import Lease

FETCH_STARTED = "fetch_started"
FETCH_MS = "fetch_ms"


class LeaseGuard:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        crawler.signals.connect(self._started, signals.request_reached_downloader)
        crawler.signals.connect(self._landed, signals.request_left_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LeaseGuard:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        if lease is not None and lease.verdict is not None:
            raise Verdict(lease.verdict)

    def process_exception(self, request: Request, exception: Exception) -> None:
        lease = request.meta.get(LEASE)
        if lease is not None and lease.request is not None:
            lease.failed = True
            end(lease, self._crawler)

    def _started(self, request: Request) -> None:
        request.meta[FETCH_STARTED] = now()
        self._stats.inc_value("downloader/request_count")

    def _landed(self, request: Request) -> None:
        lease = request.meta.get(LEASE)
        if lease is not None:
            moment = now()
            request.meta[FETCH_MS] = round((moment - request.meta[FETCH_STARTED]) * 1000)
            frontier_of(self._crawler).landed(lease, moment)
            if lease.request is not None:
                # A request of the spider's own: what becomes of its answer is the spider's.
                end(lease, self._crawler)


class LeaseMiddleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        for signal in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_processed, signal)
        crawler.signals.connect(self._spider_failed, signals.spider_error)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LeaseMiddleware:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        lease = response.meta.get(LEASE)
        if lease is None:
            async for output in result:
                yield output
            return
        try:
            async for output in result:
                if not isinstance(output, Request):
                    lease.pending_items += 1
                yield output
        finally:
            lease.is_read = True
            self._end_if_complete(lease)

    def _item_scraped(self, item: Any, response: Response | Failure | None) -> None:
        lease = _lease_of(response)
        kind, record = kind_of(item), record_of(item)
        if lease is None or lease.is_ended:
            url = None if lease is None else lease.url
            frontier_of(self._crawler).keep_item(kind, record, url)
        else:
            lease.records.append((kind, record))
        self._item_processed(response)

    def _item_processed(self, response: Response | Failure | None) -> None:
        lease = _lease_of(response)
        if lease is not None:
            lease.pending_items -= 1
            self._end_if_complete(lease)

    def _spider_failed(self, response: Response | Failure | None) -> None:
        lease = _lease_of(response)
        if lease is not None and not lease.pending_items:
            lease.failed = True
            end(lease, self._crawler)

    def _end_if_complete(self, lease: Lease) -> None:
        if lease.is_read and not lease.pending_items:
            end(lease, self._crawler)


def end(lease: Lease, crawler: Crawler) -> None:
    """Finish a lease, once."""
    if not lease.is_ended:
        lease.is_ended = True
        frontier_of(crawler).finish(lease)


def _lease_of(response: Response | Failure | None) -> Lease | None:
    request = getattr(response, "request", None)
    return None if request is None else request.meta.get(LEASE)
