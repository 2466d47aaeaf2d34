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

Meta keys written: ``fetch_ended``, ``on_the_wire``.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, ClassVar

import aiohttp
from scrapy import signals
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.ssl import _make_ssl_context

from crawlproject.dispatch import Signals
from crawlproject.frontier.leases import FETCH_ENDED, ON_THE_WIRE, Wire
from crawlproject.politeness.client import Client, TimedResponse
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.scope.resolver import GuardedResolver

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader.handlers._base_streaming import _BaseResponseArgs
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# Seconds for which an address is remembered.
_DNS_SECONDS = 300

# Signals of the pieces of an answer.
_PIECES = (signals.headers_received, signals.bytes_received)
# The same few hosts answer again and again.
_address = lru_cache(maxsize=1024)(ip_address)


class PatientDownloadHandler(AiohttpDownloadHandler):
    # As far as it is used here, our tests have tried it.
    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        # Not that of the class between: its session is another.
        BaseStreamingDownloadHandler.__init__(self, crawler)
        self._ssl_context = _make_ssl_context(crawler.settings)

    # Made when it is needed: ``scrapy shell`` has no loop that runs before.
    @cached_property
    def _session(self) -> Client:  # type: ignore[override]
        return Client(
            aiohttp.TCPConnector(
                local_addr=self._bind_address,
                # The gate knows who may be asked, and by how many at once.
                limit=0,
                resolver=GuardedResolver(self.crawler),
                ttl_dns_cache=_DNS_SECONDS,
            )
        )

    async def close(self) -> None:
        if "_session" in vars(self):
            await self._session.close()

    async def _read_response(self, response: _ClientResponse, request: Request) -> Response:
        downloader = self.crawler.engine.downloader
        if isinstance(downloader, GatedDownloader):
            await downloader.stand_in_line()
        answer = self._as_a_whole(response, request)
        if answer is None:
            answer = await super()._read_response(response, request)
        request.meta[ON_THE_WIRE] = Wire(
            response.reason, response.request_info.headers, response.raw_headers
        )
        # One that is not read to its end goes on until its connection is closed.
        if isinstance(response, TimedResponse) and response.content.is_eof():
            request.meta[FETCH_ENDED] = response.protocol.received_at
        return answer

    def _as_a_whole(self, response: _ClientResponse, request: Request) -> Response | None:
        """An answer that is complete, unless it is too large or somebody looks at its pieces."""
        content, meta, heard = response.content, request.meta, self.crawler.signals
        if not content.is_eof() or content.exception() is not None or self._tls_verbose_logging:
            return None
        for limit in (
            meta.get("download_maxsize", self._default_maxsize),
            meta.get("download_warnsize", self._default_warnsize),
        ):
            if 0 < limit < content.total_bytes:
                return None
        if not isinstance(heard, Signals) or any(map(heard.is_heard, _PIECES)):
            return None
        headers = self._extract_headers(response)
        body = content.read_nowait()
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        known = self._build_base_response_args(response, request, headers)
        answer = kind(
            request.url,
            response.status,
            body=body,
            certificate=known["certificate"],
            ip_address=known["ip_address"],
            protocol=known["protocol"],
        )
        # They are no copy, which would cost as much as all the rest.
        answer.headers = headers
        return answer

    @staticmethod
    def _request_headers(request: Request) -> Headers:
        # A copy is needed only where something is to be taken out.
        if b"Proxy-Authorization" in request.headers:
            return BaseStreamingDownloadHandler._request_headers(request)
        return request.headers

    @staticmethod
    def _build_base_response_args(
        response: _ClientResponse, request: Request, headers: Headers
    ) -> _BaseResponseArgs:
        version, peer, tls = response.version, response._peername, response._ssl_object
        return {
            "status": response.status,
            "url": request.url,
            "headers": headers,
            "certificate": None if tls is None else tls.getpeercert(binary_form=True),
            "ip_address": None if peer is None else _address(peer[0]),
            "protocol": f"HTTP/{version.major}.{version.minor}" if version else "HTTP/1.1",
        }

    @staticmethod
    def _extract_headers(response: Any) -> Headers:
        headers = Headers()
        for name, value in response.raw_headers:
            # As Headers keeps them, without its questions what type each of them is.
            dict.setdefault(headers, name.title(), []).append(value)
        return headers
