"""A connection of aiohttp's, on which a plain request and its answer take a short way.

The request is written as it is, and its answer is taken as it comes (``answer.py``): no object
for each of their parts, and nobody is woken before it is time to read the answer. As soon as an
answer is not of the ordinary kind, is long, or its connection breaks, all that has come of it
goes to aiohttp's parser, and from there on everything is aiohttp's, errors included.

When the last piece came is noted. On a busy machine that is long before anybody has the time
to look at it.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import ClientConnectionResetError
from aiohttp.client_proto import ResponseHandler
from aiohttp.helpers import TimerContext

from crawlproject.frontier.clock import now
from crawlproject.politeness.answer import Chunks, Head, Odd, read_head

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv6Address

    from aiohttp.connector import Connection

    HandOut = Callable[[asyncio.Future["Answer | None"], "Answer"], None]

# Bytes of a header, and their number: security policies grow long.
LONGEST_HEADER = 64 * 1024
MOST_HEADERS = 1024
# Bytes of an answer that is kept until it is complete. With a longer one, aiohttp lets the
# server wait until somebody reads it.
_AT_ONCE = 256 * 1024

# The same few hosts answer again and again.
address_of = lru_cache(maxsize=1024)(ip_address)


class Answer(NamedTuple):
    head: Head
    body: bytes
    # When the first piece came, and when the last.
    began_at: float
    ended_at: float
    address: IPv4Address | IPv6Address | None
    certificate: bytes | None


class Exchange(TimerContext):
    """A request and its answer, with aiohttp's time limit for what is left to aiohttp.

    An answer with more than ``most`` bytes is (0: with more than are kept at once). Another is
    given to ``hand_out``, with who waits for it.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds: float | None, most: int, hand_out: HandOut
    ) -> None:
        super().__init__(loop)
        self.most = min(most or _AT_ONCE, _AT_ONCE)
        self._hand_out = hand_out
        # None: aiohttp is to read it.
        self.answer: asyncio.Future[Answer | None] = loop.create_future()
        self.connection: Connection | None = None
        self._alarm = loop.call_later(seconds, self.timeout) if seconds and seconds > 0 else None

    def begin(self, connection: Connection, request: bytes) -> None:
        protocol = connection._protocol
        assert isinstance(protocol, Protocol)
        self.connection = connection
        protocol.ask(request, self)

    def timeout(self) -> None:
        super().timeout()
        # Before there is a connection, nobody waits for an answer.
        if self.connection is not None and not self.answer.done():
            self.answer.set_exception(TimeoutError())

    def stop_the_clock(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def complete(self, answer: Answer) -> None:
        assert self.connection is not None
        self.stop_the_clock()
        # The next request may use it while this answer waits for its turn.
        self.connection.release()
        self._hand_out(self.answer, answer)


class Protocol(ResponseHandler):
    received_at = 0.0
    # Of the request that is on the short way, and what has come of its answer.
    _exchange: Exchange | None = None
    _most = 0
    _come: bytes | bytearray = b""
    _head: Head | None = None
    _chunks: Chunks | None = None
    _began_at = 0.0
    # Whose connection it is, also when it is no more.
    peer: tuple[str, int] | None = None
    tls: ssl.SSLObject | None = None
    _address: IPv4Address | IPv6Address | None = None
    _certificate: bytes | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.peer = transport.get_extra_info("peername")
        if self.peer is not None:
            self._address = address_of(self.peer[0])
        tls = transport.get_extra_info("ssl_object")
        if isinstance(tls, ssl.SSLObject):
            self.tls = tls
            self._certificate = tls.getpeercert(binary_form=True)

    def is_connected(self) -> bool:
        # What came unasked is not taken for the answer to the next request.
        transport = self.transport
        idle = not self._tail and not self._buffer
        return idle and transport is not None and not transport.is_closing()

    def ask(self, request: bytes, exchange: Exchange) -> None:
        transport = self.transport
        if transport is None or transport.is_closing():
            raise ClientConnectionResetError("Cannot write to closing transport")
        transport.write(request)
        self._exchange = exchange
        self._most = exchange.most
        self._parser = None
        if self._tail:
            # The server did not wait for a request.
            self._hand_over()

    def data_received(self, data: bytes) -> None:
        # aiohttp calls it without data, too, to go on with what it has.
        if data:
            self.received_at = now()
        if self._exchange is None:
            super().data_received(data)
            return
        if not self._come:
            self._come = data
            self._began_at = self.received_at
            self._head = read_head(data)
        else:
            if isinstance(self._come, bytes):
                self._come = bytearray(self._come)
            self._come += data
        try:
            body = self._body()
        except Odd:
            self._hand_over()
        else:
            if body is not None:
                self._hand_out(body)

    def connection_lost(self, exc: BaseException | None) -> None:
        # The end of an answer that says nothing of its length.
        self.received_at = now()
        if self._exchange is not None:
            self._hand_over()
        super().connection_lost(exc)

    def _body(self) -> bytes | None:
        """The body if it is complete. May raise Odd."""
        head, come = self._head, self._come
        if head is None:
            raise Odd
        if head.length is None:
            if self._chunks is None:
                self._chunks = Chunks(head.end)
            body = self._chunks.read(come)
            if len(come) > head.end + self._most:
                raise Odd
            end = self._chunks.end
        else:
            if head.length > self._most:
                raise Odd
            end = head.end + head.length
            body = bytes(come[head.end : end]) if len(come) >= end else None
        if body is not None and len(come) > end:
            # As browsers do, however many pieces it came in: the answer stands. What the server
            # says behind it answers nothing, nor does what it says next.
            self.force_close()
        return body

    def _hand_out(self, body: bytes) -> None:
        exchange, head, began_at = self._exchange, self._head, self._began_at
        assert exchange is not None
        assert head is not None
        self._forget()
        if head.is_last:
            self.force_close()
        if not exchange.answer.done():
            exchange.complete(
                Answer(head, body, began_at, self.received_at, self._address, self._certificate)
            )

    def _hand_over(self) -> None:
        exchange, come = self._exchange, self._come
        assert exchange is not None
        self._forget()
        if exchange.answer.done():
            # Time is up: nobody reads it, and a parser would keep it until garbage is collected.
            return
        self.set_response_params(
            timer=exchange,
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            max_headers=MOST_HEADERS,
        )
        if come:
            super().data_received(bytes(come))
        exchange.answer.set_result(None)

    def _forget(self) -> None:
        self._exchange = self._head = self._chunks = None
        self._come = b""
