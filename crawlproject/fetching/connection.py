"""A connection to an origin, and the one request that is in flight on it.

A request is never sent twice. A connection is reused only if the last response ended exactly where
its framing says. Bytes that arrive while no request is in flight close the connection. That
includes bytes that the kernel holds when the connection is taken from the pool.

A response is kept in memory until it is complete. Above ``_MAX_UNREAD`` bytes, reading pauses until
the downloader has time for the response: the server waits, and memory does not fill. The time limit
of the request does not run during the pause.
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

    from crawlproject.fetching.heads import Head

    # Completes the future with a value, at once or when the downloader has time for it.
    Deliver = Callable[[asyncio.Future[Any], Any], None]

    class Listener(Protocol):
        """Observes a response while it arrives, and may stop it."""

        def head_received(self, head: Head) -> StopDownload | None: ...
        def body_received(self, piece: bytes) -> StopDownload | None: ...


_MAX_UNREAD = 256 * 1024
# Bytes of a request that the kernel takes at once. A TLS transport does not say how many of them
# still wait in the transport below it.
_MAX_UNCOUNTED = 16 * 1024

# Most connections are to the same few addresses.
_address_of = lru_cache(maxsize=1024)(ip_address)


class TooLarge(Exception):
    """The body is larger than the limit. ``is_announced``: Content-Length says so."""

    def __init__(self, size: int, *, is_announced: bool) -> None:
        super().__init__(f"{size} bytes")
        self.size = size
        self.is_announced = is_announced


class Fetched(NamedTuple):
    head: Head
    body: bytes
    # When its first and its last byte arrived.
    began_at: float
    ended_at: float
    address: IPv4Address | IPv6Address | None
    certificate: bytes | None
    # Why the body is incomplete. NotHttp: it is malformed.
    loss: Exception | None = None
    stop: StopDownload | None = None


class Exchange:
    """One request and its response. ``outcome`` is the response, or the error instead of it."""

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
        self._deadline = deadline
        self._timer: asyncio.TimerHandle | None = None
        self._start_timer()
        self._began_at = 0.0
        self._has_checked_head = False
        # What the listener knows: the head, and this many of the reader's pieces.
        self._has_told_head = False
        self._told_pieces = 0
        self._has_paused = False

    def start(self, connection: Connection, request: bytes) -> None:
        """Raises ConnectionError."""
        self._connection = connection
        connection.send(request, self)

    def cancel(self) -> None:
        """Stop: the response is not needed any more."""
        self._stop_timer()
        if (connection := self._connection) is not None:
            self._connection = None
            connection.abort()

    def fail(self, error: BaseException) -> None:
        self.cancel()
        if not self.outcome.done():
            self.outcome.set_exception(error)

    def received(self, data: bytes, at: float) -> None:
        try:
            self._receive(data, at)
        except (NotHttp, TooLarge) as error:
            # Without the traceback, whose frames refer to this exchange.
            self.fail(error.with_traceback(None))
        except Exception as error:
            # A defect of ours is the failure of one request, not of the event loop.
            self.fail(error)

    def _receive(self, data: bytes, at: float) -> None:
        """Raises NotHttp and TooLarge."""
        reader = self._reader
        self._began_at = self._began_at or at
        reader.feed(data)
        head = reader.head
        if head is None:
            return
        max_size = self._max_size
        if not self._has_checked_head:
            self._has_checked_head = True
            if max_size and head.length is not None and head.length > max_size:
                raise TooLarge(head.length, is_announced=True)
        if self._listener is not None and (stop := self._tell(self._listener, head)):
            self._finish(at, stop=stop)
        elif max_size and reader.size > max_size:
            raise TooLarge(reader.size, is_announced=False)
        elif reader.is_complete or reader.error:
            self._finish(at, loss=NotHttp(reader.error) if reader.error else None)
        elif self._has_paused:
            reader.join_pieces()
            self._told_pieces = 0
        elif max(reader.size, head.length or 0) > _MAX_UNREAD:
            self._pause()

    def lost(self, error: BaseException | None, at: float) -> None:
        """The connection has ended, with or without an error."""
        reader = self._reader
        if error is None:
            reader.end()
        if reader.head is None:
            if not isinstance(error, OSError):
                error = ConnectionResetError("the server closed the connection before it responded")
            self.fail(error)
        elif reader.is_complete:
            self._finish(at)
        else:
            self._finish(at, loss=EOFError(f"the connection ended after {reader.size} bytes"))

    def _tell(self, listener: Listener, head: Head) -> StopDownload | None:
        if not self._has_told_head:
            self._has_told_head = True
            if stop := listener.head_received(head):
                return stop
        for piece in self._reader.pieces[self._told_pieces :]:
            self._told_pieces += 1
            if stop := listener.body_received(piece):
                return stop
        return None

    def _pause(self) -> None:
        self._has_paused = True
        connection = self._connection
        assert connection is not None
        connection.pause()
        seconds_left = self._stop_timer()
        turn: asyncio.Future[None] = self.outcome.get_loop().create_future()
        turn.add_done_callback(lambda _: self._resume(seconds_left))
        self._deliver(turn, None)

    def _resume(self, seconds_left: float | None) -> None:
        if self._connection is not None:
            if seconds_left is not None:
                self._deadline = self.outcome.get_loop().time() + seconds_left
                self._start_timer()
            self._connection.resume()

    def _finish(
        self, at: float, *, loss: Exception | None = None, stop: StopDownload | None = None
    ) -> None:
        reader, connection = self._reader, self._connection
        head = reader.head
        assert head is not None
        assert connection is not None
        self._stop_timer()
        self._connection = None
        is_clean = loss is None and stop is None and not reader.has_leftover
        is_reusable = is_clean and head.is_reusable
        connection.finish(head.reusable_seconds if is_reusable else 0.0)
        if self.outcome.done():
            return
        # A listener that stops a response has let pass what it was told, and no more.
        body = reader.body(self._told_pieces if stop else None)
        address, certificate = connection.address, connection.certificate
        fetched = Fetched(head, body, self._began_at, at, address, certificate, loss, stop)
        if self._has_paused:
            # The downloader has already made time for it.
            self.outcome.set_result(fetched)
        else:
            self._deliver(self.outcome, fetched)

    def _start_timer(self) -> None:
        if self._deadline is not None:
            loop = self.outcome.get_loop()
            self._timer = loop.call_at(self._deadline, self._time_out)

    def _stop_timer(self) -> float | None:
        """The seconds that are left. None: there is no time limit."""
        if self._timer is None or self._deadline is None:
            return None
        self._timer.cancel()
        self._timer = None
        return self._deadline - self.outcome.get_loop().time()

    def _time_out(self) -> None:
        self.fail(TimeoutError())


class Connection(asyncio.Protocol):
    """The pool's ``on_idle`` is called when the connection can be reused, within some seconds."""

    def __init__(
        self, on_idle: Callable[[Connection, float], None], on_lost: Callable[[Connection], None]
    ) -> None:
        self._on_idle = on_idle
        self._on_lost = on_lost
        self._exchange: Exchange | None = None
        self._transport: asyncio.Transport | None = None
        self._poll = select.poll()
        self._is_tls = False
        # Whether the transport says how much of the last request was not sent yet.
        self._reports_unsent = True
        self.address: IPv4Address | IPv6Address | None = None
        self.certificate: bytes | None = None

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have another class and the same methods.
        self._transport = cast("asyncio.Transport", transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        if peer := transport.get_extra_info("peername"):
            self.address = _address_of(peer[0])
        tls = transport.get_extra_info("ssl_object")
        if isinstance(tls, ssl.SSLObject):
            self._is_tls = True
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
        """Whether it is open and has received nothing since the last response."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and not self._poll.poll(0)

    def send(self, request: bytes, exchange: Exchange) -> None:
        """Raises ConnectionError."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the connection is closed")
        self._exchange = exchange
        self._reports_unsent = not self._is_tls or len(request) <= _MAX_UNCOUNTED
        transport.write(request)

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def finish(self, reusable_seconds: float) -> None:
        """The response is complete, or its rest is not needed. 0 seconds: close the connection."""
        self._exchange = None
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        # A server that responds before it has read the whole request may misread the rest of it.
        if reusable_seconds and self._reports_unsent and not transport.get_write_buffer_size():
            self._on_idle(self, reusable_seconds)
        else:
            self.abort()

    def fail(self, error: Exception) -> None:
        """Close the connection, with an error for the request in flight."""
        exchange = self._exchange
        self.abort()
        if exchange is not None:
            exchange.fail(error)

    def abort(self) -> None:
        self._exchange = None
        if self._transport is not None:
            self._transport.abort()
