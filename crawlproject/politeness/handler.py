"""The download handler: Scrapy's, without the requests that nobody has asked for, and
without encoding the same host's name again for each.

Twisted sends a request again at once when the server drops a connection that was kept
alive. The gate would not know of it, and the host would get it without a pause. A dropped
request is a failure like any other, and is retried in its turn.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from twisted.internet import endpoints

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# Host names whose encoding is remembered.
_HOSTS = 4096


class PatientDownloadHandler(HTTP11DownloadHandler):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
        # Scrapy has put its own in the place of Twisted's just now.
        module: Any = endpoints
        if not hasattr(module._idnaBytes, "cache_info"):
            module._idnaBytes = lru_cache(maxsize=_HOSTS)(module._idnaBytes)
