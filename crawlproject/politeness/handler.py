"""The download handler: Scrapy's on aiohttp, kept to what the gate and the guard allow.

It takes less of the processor's time than the one on Twisted, and does not use a connection
again that an HTTP/1.0 server is about to close. Where it differs from Scrapy's own:

- aiohttp sends a request again at once when the server drops a connection that was kept
  alive. The gate would not know of it, and the host would get it without a pause. A dropped
  request is a failure like any other, and is retried in its turn.
- A name that leads into a private network is not followed (``scope/resolver.py``).
- A URL is sent as the frontier has it, and headers stay the bytes they are. A GET without a
  body says nothing of one, as browsers do.
- It is noted when the last piece of an answer came. On a busy machine that is long before
  anybody has the time to look at it, and the host's delay counts from then.

Meta keys written: ``fetch_ended``.
"""

from __future__ import annotations

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.http import Headers
from scrapy.utils.ssl import _make_ssl_context

from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.scope.resolver import GuardedResolver

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# Bytes of a header, and their number: security policies grow long.
_LONGEST_HEADER = 64 * 1024
_MOST_HEADERS = 1024
# Seconds for which an address is remembered.
_DNS_SECONDS = 300


class _TimedProtocol(ResponseHandler):
    received_at = 0.0

    def data_received(self, data: bytes) -> None:
        # aiohttp calls it without data, too, to go on with what it has.
        if data:
            self.received_at = now()
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        # The end of an answer that says nothing of its length.
        self.received_at = now()
        super().connection_lost(exc)


class _TimedResponse(_ClientResponse):
    # The connection is given back when the answer is complete; this stays.
    protocol: _TimedProtocol

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        assert isinstance(connection.protocol, _TimedProtocol)
        self.protocol = connection.protocol
        # What came unasked before is not the end of this one.
        self.protocol.received_at = now()
        return await super().start(connection)


class _Request(aiohttp.ClientRequest):
    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        # Even an empty one would be announced by a header and written by a task of its own.
        super().update_body_from_data(body or None, _stacklevel)


class PatientDownloadHandler(AiohttpDownloadHandler):
    # As far as it is used here, our tests have tried it.
    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        # Not that of the class between: its session is another.
        BaseStreamingDownloadHandler.__init__(self, crawler)
        self._ssl_context = _make_ssl_context(crawler.settings)

    # Made when it is needed: ``scrapy shell`` has no loop that runs before.
    @cached_property
    def _session(self) -> aiohttp.ClientSession:  # type: ignore[override]
        connector = aiohttp.TCPConnector(
            local_addr=self._bind_address,
            # The gate knows who may be asked, and by how many at once.
            limit=0,
            resolver=GuardedResolver(self.crawler),
            ttl_dns_cache=_DNS_SECONDS,
        )
        loop = asyncio.get_running_loop()
        connector._factory = cast("Any", partial(_TimedProtocol, loop=loop))
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=_TimedResponse,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            max_headers=_MOST_HEADERS,
        )
        session._retry_connection = False
        return session

    async def close(self) -> None:
        if "_session" in vars(self):
            await self._session.close()

    async def _read_response(self, response: _ClientResponse, request: Request) -> Response:
        downloader = self.crawler.engine.downloader
        if isinstance(downloader, GatedDownloader):
            await downloader.stand_in_line()
        answer = await super()._read_response(response, request)
        # One that is not read to its end goes on until its connection is closed.
        if isinstance(response, _TimedResponse) and response.content.is_eof():
            request.meta[FETCH_ENDED] = response.protocol.received_at
        return answer

    @staticmethod
    def _request_headers(request: Request) -> Headers:
        # A copy is needed only where something is to be taken out.
        if b"Proxy-Authorization" in request.headers:
            return BaseStreamingDownloadHandler._request_headers(request)
        return request.headers

    @staticmethod
    def _extract_headers(response: Any) -> Headers:
        headers = Headers()
        for name, value in response.raw_headers:
            # As Headers keeps them, without its questions what type each of them is.
            dict.setdefault(headers, name.title(), []).append(value)
        return headers
