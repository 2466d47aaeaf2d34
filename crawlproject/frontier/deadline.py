"""How long a request may take, when the whole crawl has its time too."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from crawlproject.spider_attributes import download_limit

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# The time-out of a request, where the frontier has set it: who copies meta may set another one.
TIMED = "timed_by_frontier"
# Seconds that a request gets at the end of a crawl's time.
_LEAST = 0.5


class Deadline:
    def __init__(self, request_timeout: float, crawl_timeout: float) -> None:
        self._request_timeout = request_timeout
        self._ends_at = monotonic() + crawl_timeout if crawl_timeout else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Deadline:
        return cls(
            download_limit(crawler, "DOWNLOAD_TIMEOUT"),
            crawler.settings.getfloat("CLOSESPIDER_TIMEOUT"),
        )

    def timeout(self) -> float:
        """Seconds for a request that starts now."""
        if self._ends_at is None:
            return self._request_timeout
        return min(self._request_timeout, max(_LEAST, self._ends_at - monotonic()))

    def has_passed(self, grace: float) -> bool:
        """Whether the crawl's time was up ``grace`` seconds ago."""
        return self._ends_at is not None and monotonic() >= self._ends_at + grace
