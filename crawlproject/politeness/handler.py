"""The download handler: Scrapy's on aiohttp, kept to what the gate and the guard allow.

It takes less of the processor's time than the one on Twisted, and does not use a connection
again that an HTTP/1.0 server is about to close. Where it differs from Scrapy's own:

- aiohttp sends a request again at once when the server drops a connection that was kept
  alive. The gate would not know of it, and the host would get it without a pause. A dropped
  request is a failure like any other, and is retried in its turn.
- No connection is made into a private network (``guard.py``).
- A URL is sent as the frontier has it, and headers stay the bytes they are. A GET without a
  body says nothing of one, as browsers do.
- It is noted when the last piece of an answer came: the host's delay counts from then.
- A plain GET goes a short way (``client.py``), if nobody listens for pieces of its answer.

Meta keys written: ``fetch_ended``, ``on_the_wire``.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import aiohttp
from scrapy import signals
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler, _ClientResponse
from scrapy.core.downloader.handlers._base_streaming import BaseStreamingDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.ssl import _make_ssl_context

from crawlproject.dispatch import Signals
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED, ON_THE_WIRE, Wire
from crawlproject.politeness.client import Client, TimedResponse
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.politeness.exchange import address_of
from crawlproject.politeness.guard import GuardedConnector, use_guard
from crawlproject.politeness.resolver import resolver_of

if TYPE_CHECKING:
    import asyncio

    from scrapy import Request
    from scrapy.core.downloader.handlers._base_streaming import _BaseResponseArgs
    from scrapy.crawler import Crawler

    from crawlproject.politeness.client import Get
    from crawlproject.politeness.exchange import Answer

# Headers by which a request is no plain one.
_LONG_WAY = frozenset({b"Host", b"Expect", b"Proxy-Authorization"})

# Signals of the pieces of an answer.
_PIECES = (signals.headers_received, signals.bytes_received)
# The same few types, too.
_kind_of = lru_cache(maxsize=256)(responsetypes.from_content_type)


class PatientDownloadHandler(AiohttpDownloadHandler):
    # As far as it is used here, our tests have tried it.
    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        # Not that of the class between: its session is another.
        BaseStreamingDownloadHandler.__init__(self, crawler)
        self._ssl_context = _make_ssl_context(crawler.settings)
        self.names = resolver_of(crawler)
        self._guard = use_guard(crawler, self.names)

    # Made when it is needed: ``scrapy shell`` has no loop that runs before.
    @cached_property
    def _session(self) -> Client:  # type: ignore[override]
        return Client(
            GuardedConnector(
                self._guard,
                self.crawler,
                local_addr=self._bind_address,
                # The gate knows who may be asked, and by how many at once.
                limit=0,
                # The resolver has one of its own, which honours TTLs.
                use_dns_cache=False,
            ),
            self._ssl_context,
        )

    async def close(self) -> None:
        if "_session" in vars(self):
            await self._session.close()
        self._guard.close()
        await self.names.close()

    async def download_request(self, request: Request) -> Response:
        plain = self._plain(request)
        if plain is None:
            return await super().download_request(request)
        meta = request.meta
        seconds: float | None = meta.get("download_timeout", self._DEFAULT_CONNECT_TIMEOUT)
        limits = (
            meta.get("download_maxsize", self._default_maxsize),
            meta.get("download_warnsize", self._default_warnsize),
        )
        most = min(filter(None, limits), default=0)
        began_at = now()
        try:
            answer = await self._session.get(plain, seconds, most, self._hand_out)
            if isinstance(answer, TimedResponse):
                async with answer:
                    meta["download_latency"] = now() - began_at
                    return await self._read_response(answer, request)
        except TimeoutError as error:
            raise DownloadTimeoutError(
                f"Getting {request.url} took longer than {seconds} seconds."
            ) from error
        except aiohttp.ClientError as error:
            raise _meaning(error)(str(error)) from error
        meta["download_latency"] = answer.began_at - began_at
        meta[ON_THE_WIRE] = Wire(answer.head.reason, plain.fields, answer.head.fields)
        meta[FETCH_ENDED] = answer.ended_at
        return _response(request.url, answer)

    def _plain(self, request: Request) -> Get | None:
        """How to get it in the short way, if nobody wants more than that."""
        meta, headers, heard = request.meta, request.headers, self.crawler.signals
        if (
            request.method != "GET"
            or request.body
            or not meta.get("verbatim_url")
            or meta.get("proxy")
            or meta.get("bindaddress")
            or self._tls_verbose_logging
            or not _LONG_WAY.isdisjoint(headers)
            or not isinstance(heard, Signals)
            or heard.is_heard(*_PIECES)
        ):
            return None
        return self._session.plain(request.url, headers)

    def _hand_out(self, waiting: asyncio.Future[Answer | None], answer: Answer) -> None:
        downloader = self.crawler.engine.downloader
        if isinstance(downloader, GatedDownloader):
            downloader.line_up(waiting, answer)
        else:
            waiting.set_result(answer)

    async def _read_response(self, response: _ClientResponse, request: Request) -> Response:
        downloader = self.crawler.engine.downloader
        if isinstance(downloader, GatedDownloader):
            await downloader.stand_in_line()
        answer = await super()._read_response(response, request)
        sent = response.request_info.headers.items()
        request.meta[ON_THE_WIRE] = Wire(
            response.reason,
            tuple((name.encode(), value.encode()) for name, value in sent),
            response.raw_headers,
        )
        # One that is not read to its end goes on until its connection is closed.
        if isinstance(response, TimedResponse) and response.content.is_eof():
            request.meta[FETCH_ENDED] = response.protocol.received_at
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
            "ip_address": None if peer is None else address_of(peer[0]),
            "protocol": f"HTTP/{version.major}.{version.minor}" if version else "HTTP/1.1",
        }

    @staticmethod
    def _extract_headers(response: Any) -> Headers:
        headers = Headers()
        for name, value in response.raw_headers:
            # As Headers keeps them, without its questions what type each of them is.
            dict.setdefault(headers, name.title(), []).append(value)
        return headers


def _response(url: str, answer: Answer) -> Response:
    head, body = answer.head, answer.body
    headers = Headers()
    # As Headers keeps them, without its questions what type each of them is.
    dict.update(headers, head.headers)
    response = _kind(headers, url, body)(
        url,
        head.status,
        body=body,
        certificate=answer.certificate,
        ip_address=answer.address,
        protocol="HTTP/1.1",
    )
    # They are no copy, which would cost as much as all the rest.
    response.headers = headers
    return response


def _kind(headers: Headers, url: str, body: bytes) -> type[Response]:
    """The class of a response: that of its type if there is one, else Scrapy's guess."""
    types = dict.get(headers, b"Content-Type")
    if types and not dict.get(headers, b"Content-Encoding"):
        kind = _kind_of(types[-1])
        if kind is not Response:
            return kind
    return responsetypes.from_args(headers=headers, url=url, body=body)


def _meaning(error: aiohttp.ClientError) -> type[Exception]:
    """Scrapy's error for one of aiohttp's."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return CannotResolveHostError
    if isinstance(error, aiohttp.ClientConnectorError):
        return DownloadConnectionRefusedError
    return DownloadFailedError
