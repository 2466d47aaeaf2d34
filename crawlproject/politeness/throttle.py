"""AutoThrottle within the gate: a host that answers slowly is asked more slowly.

The settings are Scrapy's (AUTOTHROTTLE_*). Scrapy's extension moves the delay of its own
slots, which counts from the start of a request; this one moves the gate's, which counts
from its end and never goes below what the host or the user asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


def next_delay(
    current: float, latency: float, *, target_concurrency: float, maximum: float, is_ok: bool
) -> float:
    """Half-way to the delay that keeps ``target_concurrency`` requests busy; at once if longer.

    Errors answer fast, which is no reason to ask faster.
    """
    target = latency / target_concurrency
    delay = min(max(target, (current + target) / 2), maximum)
    return delay if is_ok else max(delay, current)


class GateThrottle:
    def __init__(self, crawler: Crawler, *, target_concurrency: float, maximum: float) -> None:
        self._crawler = crawler
        self._target_concurrency = target_concurrency
        self._maximum = maximum
        crawler.signals.connect(self._response_downloaded, signals.response_downloaded)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GateThrottle:
        settings = crawler.settings
        if not settings.getbool("AUTOTHROTTLE_ENABLED"):
            # No reason: Scrapy would log it as a warning, and this is what the user wants.
            raise NotConfigured
        target_concurrency = settings.getfloat("AUTOTHROTTLE_TARGET_CONCURRENCY")
        if target_concurrency <= 0:
            raise NotConfigured("AUTOTHROTTLE_TARGET_CONCURRENCY must be above 0")
        return cls(
            crawler,
            target_concurrency=target_concurrency,
            maximum=settings.getfloat("AUTOTHROTTLE_MAX_DELAY"),
        )

    def _response_downloaded(self, response: Response, request: Request) -> None:
        lease = request.meta.get(LEASE)
        latency = request.meta.get("download_latency")
        if lease is None or latency is None:
            return
        frontier = frontier_of(self._crawler)
        delay = next_delay(
            frontier.pace(lease.host),
            latency,
            target_concurrency=self._target_concurrency,
            maximum=self._maximum,
            is_ok=response.status == 200,
        )
        frontier.slow(lease.host, delay)
