"""How a crawl went, by its signals: the stats are kept by STATS_CLASS, if at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Outcome:
    """Make it before the crawl starts."""

    def __init__(self, crawler: Crawler) -> None:
        # Scrapy's word for why the spider was closed; None: it was not.
        self.reason: str | None = None
        self.has_sent_a_request = False
        crawler.signals.connect(self._sent, signals.request_reached_downloader)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def _sent(self) -> None:
        self.has_sent_a_request = True

    def _closed(self, reason: str) -> None:
        self.reason = reason
