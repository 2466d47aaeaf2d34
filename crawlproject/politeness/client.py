"""The HTTP client: aiohttp, with a short way for pages.

A session of aiohttp's is for everything: cookies, redirects, middlewares, traces. A page needs
none of it, nor does robots.txt, so a plain GET is written to a connection as it is
(``exchange.py``). Connections are aiohttp's on both ways: names, TLS, which are kept and how
long. Whatever else there is (a body, a proxy, a password in a URL) goes the long way.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import aiohttp
import yarl
from aiohttp.hdrs import CONTENT_TYPE, HOST
from multidict import CIMultiDict, CIMultiDictProxy
from scrapy.core.downloader.handlers._aiohttp import _ClientResponse

from crawlproject.frontier.clock import now
from crawlproject.politeness.exchange import (
    LONGEST_HEADER,
    MOST_HEADERS,
    Answer,
    Exchange,
    Protocol,
)
from crawlproject.urls.canonical import NotCrawlable, resolve

if TYPE_CHECKING:
    from ssl import SSLContext

    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.connector import Connection

    from crawlproject.politeness.exchange import HandOut

    Fields = tuple[tuple[bytes, bytes], ...]

# The time for a request is counted as a whole, not for its parts.
_WHOLE = aiohttp.ClientTimeout(total=None)
# Its path and query are sent as they are. aiohttp leaves out a fragment, and an empty query.
_PLAIN_URL = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]+)?)(/[!-\"$-~]*)(?<!\?)")
# Hosts of which is remembered how to get there, and what they are asked.
_ORIGINS = 4096


class TimedResponse(_ClientResponse):
    # The connection is given back when the answer is complete; this stays.
    protocol: Protocol

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        assert isinstance(connection.protocol, Protocol)
        # What came unasked before is not the end of this one.
        connection.protocol.received_at = now()
        return await self.go_on(connection)

    async def go_on(self, connection: Connection) -> aiohttp.ClientResponse:
        """As ``start``, when some of the answer has come."""
        assert isinstance(connection.protocol, Protocol)
        self.protocol = connection.protocol
        self._peername, self._ssl_object = self.protocol.peer, self.protocol.tls
        # Not Scrapy's: its asks a connection that may be gone.
        return await aiohttp.ClientResponse.start(self, connection)


class _Request(aiohttp.ClientRequest):
    # Scrapy has settings for all headers; what they leave out is not sent.
    _skip_auto_headers = CIMultiDict({CONTENT_TYPE: None})

    def update_auto_headers(self, skip_auto_headers: Any) -> None:
        pass

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        # Even an empty one would be announced by a header and written by a task of its own.
        super().update_body_from_data(body or None, _stacklevel)


class Get(NamedTuple):
    """A request that goes the short way."""

    url: str
    origin: _Origin
    head: bytes
    fields: Fields


class _Asked(NamedTuple):
    """Headers, and what is written of them. No lines: they have to go the long way."""

    headers: dict[bytes, list[bytes]]
    fields: Fields
    lines: bytes | None


@dataclass(slots=True)
class _Origin:
    """How to get to a host, what to call it, and what it was asked last."""

    request: _Request
    key: ConnectionKey
    host: tuple[bytes, bytes]
    asked: _Asked | None = None

    def ask(self, headers: dict[bytes, list[bytes]]) -> _Asked:
        # Nearly all requests to a host have the same.
        if self.asked is None or self.asked.headers != headers:
            # A copy: who adds a value adds it to the list that is there.
            kept = {name: values.copy() for name, values in dict.items(headers)}
            pairs = [(name, value) for name, values in kept.items() for value in values]
            fields = (self.host, *pairs)
            self.asked = _Asked(kept, fields, _lines(fields))
        return self.asked


class Client:
    """Also called as Scrapy's handler calls a session."""

    def __init__(self, connector: aiohttp.TCPConnector, ssl: SSLContext) -> None:
        self._loop = asyncio.get_running_loop()
        connector._factory = cast("Any", partial(Protocol, loop=self._loop))
        self._connector = connector
        self._ssl = ssl
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=TimedResponse,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            max_headers=MOST_HEADERS,
        )
        self._session._retry_connection = False
        self._origin = lru_cache(maxsize=_ORIGINS)(self._find_origin)

    async def request(
        self, method: str, url: str | yarl.URL, **options: Any
    ) -> aiohttp.ClientResponse:
        if not (spelled := str(url)).isascii():
            # A request of a spider's own. yarl would follow another version of IDNA.
            try:
                url = yarl.URL(resolve(spelled), encoded=True)
            except NotCrawlable as error:
                raise aiohttp.InvalidUrlClientError(spelled, str(error)) from None
        return await self._session.request(method, url, **options)

    def plain(self, url: str, headers: dict[bytes, list[bytes]]) -> Get | None:
        """A GET of a URL that is sent as it is. None: it has to go the long way."""
        parts = _PLAIN_URL.fullmatch(url)
        if parts is None:
            return None
        origin = self._origin(parts[1])
        _, fields, lines = origin.ask(headers)
        if lines is None:
            return None
        head = b"GET %b HTTP/1.1\r\n%b\r\n" % (parts[2].encode(), lines)
        return Get(url, origin, head, fields)

    async def get(
        self, request: Get, seconds: float | None, most: int, hand_out: HandOut
    ) -> Answer | TimedResponse:
        """Its answer. aiohttp's, not yet read, where it is not as most are (``Exchange``)."""
        if self._connector.closed:
            raise RuntimeError("Session is closed")
        origin = request.origin
        exchange = Exchange(self._loop, seconds, most, hand_out)
        connection = None
        try:
            connection = await self._connector._get(origin.key, [])
            if connection is None:
                with exchange:
                    connection = await self._connector.connect(origin.request, [], _WHOLE)
            exchange.begin(connection, request.head)
            answer = await exchange.answer
            if answer is None:
                return await self._go_on(request, connection, exchange)
        except BaseException as error:
            exchange.stop_the_clock()
            # It holds the error, which holds this frame.
            del exchange
            if connection is not None:
                connection.close()
            if not isinstance(error, OSError) or isinstance(
                error, aiohttp.ClientError | TimeoutError
            ):
                raise
            raise aiohttp.ClientOSError(*error.args) from error
        return answer

    async def _go_on(
        self, request: Get, connection: Connection, exchange: Exchange
    ) -> TimedResponse:
        url = yarl.URL(request.url, encoded=True)
        sent = CIMultiDict((name.decode(), value.decode()) for name, value in request.fields)
        response = TimedResponse(
            "GET",
            url,
            writer=None,
            continue100=None,
            timer=exchange,
            request_info=aiohttp.RequestInfo(url, "GET", CIMultiDictProxy(sent), url),
            traces=[],
            loop=self._loop,
            session=self._session,
            stream_writer=cast("Any", _Written(len(request.head))),
        )
        try:
            await response.go_on(connection)
        except BaseException:
            response.close()
            raise
        # The time is up until the last byte has come, which may have been the first.
        if response.connection is None:
            exchange.stop_the_clock()
        else:
            response.connection.add_callback(exchange.stop_the_clock)
        return response

    def _find_origin(self, origin: str) -> _Origin:
        request = _Request(
            "GET",
            yarl.URL(origin + "/", encoded=True),
            loop=self._loop,
            response_class=TimedResponse,
            session=self._session,
            ssl=self._ssl,
        )
        host = request.headers[HOST].encode()
        return _Origin(request, request.connection_key, (HOST.encode(), host))

    async def close(self) -> None:
        await self._session.close()


def _lines(fields: Fields) -> bytes | None:
    # aiohttp has its errors for what would break a line, and its ways for other letters.
    joined = b"".join([name + value for name, value in fields])
    if not joined.isascii() or not joined.decode().isprintable():
        return None
    return b"".join([b"%b: %b\r\n" % field for field in fields])


class _Written(NamedTuple):
    """What a response of aiohttp's wants to know of who has written its request."""

    output_size: int
