"""A connection to an origin, and the one request that is in flight on it.

A request is never sent twice. A connection carries another request only if the response before
ended exactly where its framing says: bytes that arrive while no request is in flight close it, also
those that the kernel holds when the connection is taken from the pool.

A response is kept until it is complete. Above ``_MAX_UNREAD`` bytes reading pauses until the
downloader has time for it, so that the server waits rather than memory fills.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple, cast

from crawlproject.failures import NotHttp
from crawlproject.fetching.http1 import ResponseReader
from crawlproject.frontier.clock import now

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv6Address
    from typing import Any, Protocol

    from scrapy.exceptions import StopDownload

    from crawlproject.fetching.http1 import Head

    # Completes the future with a value, at once or when it is its turn.
    Deliver = Callable[[asyncio.Future[Any], Any], None]

    class Listener(Protocol):
        """Is told of a response while it arrives, and may stop it."""

        def head_received(self, head: Head) -> StopDownload | None: ...
        def body_received(self, piece: bytes) -> StopDownload | None: ...


_MAX_UNREAD = 256 * 1024

# The same few hosts respond again and again.
address_of = lru_cache(maxsize=1024)(ip_address)


class TooLarge(Exception):
    """More bytes than the limit; ``is_announced``: by Content-Length, before they came."""

    def __init__(self, size: int, *, is_announced: bool) -> None:
        super().__init__(f"{size} bytes")
        self.size = size
        self.is_announced = is_announced


class Fetched(NamedTuple):
    head: Head
    body: bytes
    # When its first and its last bytes came.
    began_at: float
    ended_at: float
    address: IPv4Address | IPv6Address | None
    certificate: bytes | None
    # Why the body is not complete: NotHttp if it is malformed.
    loss: Exception | None = None
    stop: StopDownload | None = None


class Exchange:
    """One request and its response. ``outcome`` is the response, or why there is none."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        deliver: Deliver,
        *,
        deadline: float | None,
        max_size: int,
        is_head: bool,
        listener: Listener | None,
    ) -> None:
        self.outcome: asyncio.Future[Fetched] = loop.create_future()
        self._reader = ResponseReader(is_head=is_head)
        self._deliver = deliver
        self._max_size = max_size
        self._listener = listener
        self._connection: Connection | None = None
        self._timer = None if deadline is None else loop.call_at(deadline, self._time_out)
        self._began_at = 0.0
        self._has_head = False
        # Pieces of the body that the listener knows.
        self._announced = 0
        self._has_paused = False

    def start(self, connection: Connection, request: bytes) -> None:
        """Raises ConnectionError."""
        self._connection = connection
        connection.send(request, self)

    def cancel(self) -> None:
        """Nobody waits for the response any more."""
        if self._timer is not None:
            self._timer.cancel()
        if (connection := self._connection) is not None:
            self._connection = None
            connection.abort()

    def received(self, data: bytes, at: float) -> None:
        reader = self._reader
        self._began_at = self._began_at or at
        try:
            reader.feed(data)
        except NotHttp as error:
            self._fail(error)
            return
        head = reader.head
        if head is None:
            return
        max_size = self._max_size
        if not self._has_head:
            self._has_head = True
            if max_size and head.length is not None and head.length > max_size:
                self._fail(TooLarge(head.length, is_announced=True))
                return
        if self._listener is not None and (stop := self._tell(self._listener, head)):
            self._finish(at, stop=stop)
        elif max_size and reader.size > max_size:
            self._fail(TooLarge(reader.size, is_announced=False))
        elif reader.is_complete or reader.error:
            self._finish(at, loss=NotHttp(reader.error) if reader.error else None)
        elif self._has_paused:
            reader.join_pieces()
            self._announced = min(self._announced, 1)
        elif max(reader.size, head.length or 0) > _MAX_UNREAD:
            self._pause()

    def lost(self, error: BaseException | None, at: float) -> None:
        """The connection has ended."""
        reader = self._reader
        if error is None:
            reader.end()
        if reader.head is None:
            if not isinstance(error, OSError):
                error = ConnectionResetError("the server closed the connection before it responded")
            self._fail(error)
        elif reader.is_complete:
            self._finish(at)
        else:
            self._finish(at, loss=EOFError(f"the connection ended after {reader.size} bytes"))

    def _tell(self, listener: Listener, head: Head) -> StopDownload | None:
        if not self._announced and (stop := listener.head_received(head)):
            return stop
        # The head counts as one.
        self._announced = max(self._announced, 1)
        for piece in self._reader.pieces[self._announced - 1 :]:
            self._announced += 1
            if stop := listener.body_received(piece):
                return stop
        return None

    def _pause(self) -> None:
        self._has_paused = True
        connection = self._connection
        assert connection is not None
        connection.pause()
        turn: asyncio.Future[None] = self.outcome.get_loop().create_future()
        turn.add_done_callback(lambda _: connection.resume(self))
        self._deliver(turn, None)

    def _finish(
        self, at: float, *, loss: Exception | None = None, stop: StopDownload | None = None
    ) -> None:
        reader, connection = self._reader, self._connection
        head = reader.head
        assert head is not None
        assert connection is not None
        if self._timer is not None:
            self._timer.cancel()
        self._connection = None
        is_clean = loss is None and stop is None and not reader.has_leftover
        connection.finish(can_reuse=is_clean and head.is_reusable)
        if self.outcome.done():
            return
        # What was announced to a listener is all that it has let pass.
        body = reader.body(max(self._announced - 1, 0) if stop else None)
        address, certificate = connection.address, connection.certificate
        fetched = Fetched(head, body, self._began_at, at, address, certificate, loss, stop)
        if self._has_paused:
            # It has had its turn.
            self.outcome.set_result(fetched)
        else:
            self._deliver(self.outcome, fetched)

    def _fail(self, error: BaseException) -> None:
        self.cancel()
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def _time_out(self) -> None:
        self._fail(TimeoutError())


class Connection(asyncio.Protocol):
    """``on_idle`` and ``on_lost`` tell the pool."""

    def __init__(
        self, on_idle: Callable[[Connection], None], on_lost: Callable[[Connection], None]
    ) -> None:
        self._on_idle = on_idle
        self._on_lost = on_lost
        self._exchange: Exchange | None = None
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self.address: IPv4Address | IPv6Address | None = None
        self.certificate: bytes | None = None

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not of that class with uvloop, but with all its methods.
        self._transport = cast("asyncio.Transport", transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        if peer := transport.get_extra_info("peername"):
            self.address = address_of(peer[0])
        tls = transport.get_extra_info("ssl_object")
        if isinstance(tls, ssl.SSLObject):
            self.certificate = tls.getpeercert(binary_form=True)

    def data_received(self, data: bytes) -> None:
        if self._exchange is None:
            self.abort()
        else:
            self._exchange.received(data, now())

    def connection_lost(self, exc: BaseException | None) -> None:
        self._transport = None
        self._on_lost(self)
        if (exchange := self._exchange) is not None:
            self._exchange = None
            exchange.lost(exc, now())

    # Called by the exchange and the pool.

    def is_usable(self) -> bool:
        """Whether a request can be sent: it is open, and nothing came unasked."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and not self._poll.poll(0)

    def send(self, request: bytes, exchange: Exchange) -> None:
        """Raises ConnectionError."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the connection is closed")
        self._exchange = exchange
        transport.write(request)

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self, exchange: Exchange) -> None:
        if self._transport is not None and self._exchange is exchange:
            self._transport.resume_reading()

    def finish(self, *, can_reuse: bool) -> None:
        """The response is complete, or the rest of it is not wanted."""
        self._exchange = None
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        # A server that responds before it has read the request may do anything with the rest.
        if can_reuse and not transport.get_write_buffer_size():
            self._on_idle(self)
        else:
            self.abort()

    def abort(self) -> None:
        self._exchange = None
        if self._transport is not None:
            self._transport.abort()
