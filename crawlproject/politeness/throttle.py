"""AutoThrottle within the gate: a host that responds slowly gets fewer requests.

Settings and formula are Scrapy's (AUTOTHROTTLE_*): a request starts every latency / target seconds,
which keeps ``AUTOTHROTTLE_TARGET_CONCURRENCY`` requests in flight on average. Scrapy's extension
changes the delay of a downloader slot; this one changes the gate's interval between starts. The
delay, which counts from the completion of a request, and Crawl-delay hold besides.

Responses to requests that are not queued count, too: files of media pipelines, robots.txt.

Meta keys read: ``lease``, ``turn``, ``download_latency``, ``autothrottle_dont_adjust_delay``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE, TURN
from crawlproject.frontier.limits import limits_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


def next_delay(
    current: float, latency: float, *, target_concurrency: float, maximum: float, is_ok: bool
) -> float:
    """Half-way to the interval that keeps ``target_concurrency`` requests in flight; if that is
    longer, at once.

    Errors are fast, which is no reason to send more requests.
    """
    target = latency / target_concurrency
    delay = min(max(target, (current + target) / 2), maximum)
    return delay if is_ok else max(delay, current)


class GateThrottle:
    def __init__(
        self,
        crawler: Crawler,
        *,
        target_of: Callable[[str], float],
        maximum: float,
        is_logged: bool = False,
    ) -> None:
        self._crawler = crawler
        self._target_of = target_of
        self._maximum = maximum
        self._is_logged = is_logged
        crawler.signals.connect(self._response_downloaded, signals.response_downloaded)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GateThrottle:
        settings = crawler.settings
        if not settings.getbool("AUTOTHROTTLE_ENABLED"):
            # No reason: Scrapy would log it as a warning, and this is what the user wants.
            raise NotConfigured
        if settings.getfloat("AUTOTHROTTLE_TARGET_CONCURRENCY") <= 0:
            raise NotConfigured("AUTOTHROTTLE_TARGET_CONCURRENCY must be above 0")
        limits = limits_from(settings)
        return cls(
            crawler,
            target_of=lambda host: limits(host).target,
            maximum=settings.getfloat("AUTOTHROTTLE_MAX_DELAY"),
            is_logged=settings.getbool("AUTOTHROTTLE_DEBUG"),
        )

    def _response_downloaded(self, response: Response, request: Request) -> None:
        meta = request.meta
        lease = meta.get(LEASE)
        host = meta.get(TURN) if lease is None else lease.host
        latency = meta.get("download_latency")
        if host is None or latency is None or meta.get("autothrottle_dont_adjust_delay") is True:
            return
        frontier = frontier_of(self._crawler)
        before = frontier.throttle_delay(host)
        delay = next_delay(
            before,
            latency,
            target_concurrency=self._target_of(host),
            maximum=self._maximum,
            is_ok=response.status == 200,
        )
        frontier.set_throttle(host, delay)
        if self._is_logged:
            logger.info(
                "AutoThrottle on %s: delay %d ms (%+d), latency %d ms, %d bytes",
                host,
                delay * 1000,
                (delay - before) * 1000,
                latency * 1000,
                len(response.body),
            )
