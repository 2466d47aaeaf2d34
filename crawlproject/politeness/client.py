"""The HTTP client: aiohttp, with the last byte of an answer timed and a short way for pages.

A session of aiohttp's is for everything: cookies, redirects, middlewares, traces. A page needs
none of it, nor does robots.txt, so a plain GET goes to the connection without it, which halves
what aiohttp adds to a request. Whatever else there is (a body, a proxy, a password in a URL)
goes the long way.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import aiohttp
import yarl
from aiohttp.client_proto import ResponseHandler
from aiohttp.hdrs import CONTENT_TYPE
from aiohttp.helpers import TimeoutHandle
from multidict import CIMultiDict
from scrapy.core.downloader.handlers._aiohttp import _ClientResponse

from crawlproject.frontier.clock import now

if TYPE_CHECKING:
    from ssl import SSLContext

    from aiohttp.connector import Connection

# Bytes of a header, and their number: security policies grow long.
_LONGEST_HEADER = 64 * 1024
_MOST_HEADERS = 1024
# The time for a request is counted as a whole, not for its parts.
_WHOLE = aiohttp.ClientTimeout(total=None)


class TimedProtocol(ResponseHandler):
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


class TimedResponse(_ClientResponse):
    # The connection is given back when the answer is complete; this stays.
    protocol: TimedProtocol

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        assert isinstance(connection.protocol, TimedProtocol)
        self.protocol = connection.protocol
        # What came unasked before is not the end of this one.
        self.protocol.received_at = now()
        return await super().start(connection)


class _Request(aiohttp.ClientRequest):
    # Scrapy has settings for all headers; what they leave out is not sent.
    _skip_auto_headers = CIMultiDict({CONTENT_TYPE: None})

    def update_auto_headers(self, skip_auto_headers: Any) -> None:
        pass

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        # Even an empty one would be announced by a header and written by a task of its own.
        super().update_body_from_data(body or None, _stacklevel)


class Client:
    """Called as Scrapy's handler calls a session."""

    def __init__(self, connector: aiohttp.TCPConnector) -> None:
        self._loop = asyncio.get_running_loop()
        connector._factory = cast("Any", partial(TimedProtocol, loop=self._loop))
        self._connector = connector
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=TimedResponse,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
            max_headers=_MOST_HEADERS,
        )
        self._session._retry_connection = False

    async def request(
        self, method: str, url: str | yarl.URL, **options: Any
    ) -> aiohttp.ClientResponse:
        if (
            method == "GET"
            and not options["data"]
            and options["proxy"] is None
            # Else it is one that has to be escaped.
            and isinstance(url, yarl.URL)
            and url.raw_user is None
        ):
            return await self._get(
                url, options["headers"], options["timeout"].total, options["ssl"]
            )
        return await self._session.request(method, url, **options)

    async def _get(
        self, url: yarl.URL, headers: list[tuple[str, str]], seconds: float | None, ssl: SSLContext
    ) -> aiohttp.ClientResponse:
        if self._session.closed:
            raise RuntimeError("Session is closed")
        limit = TimeoutHandle(self._loop, seconds)
        timer = limit.timer()
        request = _Request(
            "GET",
            url,
            headers=headers,
            loop=self._loop,
            response_class=TimedResponse,
            timer=timer,
            session=self._session,
            ssl=ssl,
        )
        alarm = limit.start()
        try:
            with timer:
                connection = await self._connector.connect(request, [], _WHOLE)
                response = await self._send(request, connection)
        except BaseException as error:
            limit.close()
            if alarm is not None:
                alarm.cancel()
            if not isinstance(error, OSError) or isinstance(
                error, aiohttp.ClientError | TimeoutError
            ):
                raise
            raise aiohttp.ClientOSError(*error.args) from error
        if alarm is not None:
            # The time is up until the last byte has come, which may have been the first.
            if response.connection is None:
                alarm.cancel()
            else:
                response.connection.add_callback(alarm.cancel)
        return response

    async def _send(self, request: _Request, connection: Connection) -> aiohttp.ClientResponse:
        try:
            protocol = connection.protocol
            assert protocol is not None
            protocol.set_response_params(
                timer=request._timer,
                read_until_eof=True,
                auto_decompress=False,
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
                max_headers=_MOST_HEADERS,
            )
            response = await request.send(connection)
            try:
                return await response.start(connection)
            except BaseException:
                response.close()
                raise
        except BaseException:
            connection.close()
            raise

    async def close(self) -> None:
        await self._session.close()
