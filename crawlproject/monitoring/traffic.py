"""What comes back from the servers, counted as Scrapy's DownloaderStats does.

But for the bytes of requests and headers: to find them out, it writes every request and
every header a second time, which costs more than the gate and the frontier's ``take``.

Stats: ``downloader/response_count``, ``downloader/response_status_count/<status>``,
``downloader/response_bytes`` (of bodies, as they were sent), ``downloader/exception_count``,
``downloader/exception_type_count/<type>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector


class Traffic:
    """A downloader middleware, next to the downloader: retried answers count too."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Traffic:
        return cls(crawler.stats)

    def process_response(self, request: Request, response: Response) -> Response:
        self._stats.inc_value("downloader/response_count")
        self._stats.inc_value(f"downloader/response_status_count/{response.status}")
        self._stats.inc_value("downloader/response_bytes", len(response.body))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        kind = global_object_name(type(exception))
        self._stats.inc_value("downloader/exception_count")
        self._stats.inc_value(f"downloader/exception_type_count/{kind}")
