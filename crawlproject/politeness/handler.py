"""The download handler: Scrapy's, without the requests that nobody has asked for.

Twisted sends a request again at once when the server drops a connection that was kept
alive. The gate would not know of it, and the host would get it without a pause. A dropped
request is a failure like any other, and is retried in its turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class PatientDownloadHandler(HTTP11DownloadHandler):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
