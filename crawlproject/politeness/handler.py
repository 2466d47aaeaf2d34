"""The download handler: Scrapy's on aiohttp, kept to what the gate and the guard allow.

It takes less of the processor's time than the one on Twisted, and does not use a connection
again that an HTTP/1.0 server is about to close. Where it differs from Scrapy's own:

- aiohttp sends a request again at once when the server drops a connection that was kept
  alive. The gate would not know of it, and the host would get it without a pause. A dropped
  request is a failure like any other, and is retried in its turn.
- A name that leads into a private network is not followed (``scope/resolver.py``).
- A URL is sent as the frontier has it, and headers stay the bytes they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import aiohttp
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.http import Headers
from scrapy.utils.ssl import _make_ssl_context

from crawlproject.scope.resolver import GuardedResolver

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

# Bytes of a header, and their number: security policies grow long.
_LONGEST_HEADER = 64 * 1024
_MOST_HEADERS = 1024
# Seconds for which an address is remembered.
_DNS_SECONDS = 300


class PatientDownloadHandler(AiohttpDownloadHandler):
    # As far as it is used here, our tests have tried it.
    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        # Not that of the class between: its session is another.
        BaseStreamingDownloadHandler.__init__(self, crawler)
        self._ssl_context = _make_ssl_context(crawler.settings)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                local_addr=self._bind_address,
                # The gate knows who may be asked, and by how many at once.
                limit=0,
                resolver=GuardedResolver(crawler),
                ttl_dns_cache=_DNS_SECONDS,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=_ClientResponse,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            max_headers=_MOST_HEADERS,
        )
        self._session._retry_connection = False

    @staticmethod
    def _request_headers(request: Request) -> Headers:
        # A copy is needed only where something is to be taken out.
        if b"Proxy-Authorization" in request.headers:
            return BaseStreamingDownloadHandler._request_headers(request)
        return request.headers

    @staticmethod
    def _extract_headers(response: Any) -> Headers:
        return Headers(response.raw_headers)
