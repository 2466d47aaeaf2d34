"""Limits on what a client's connection may cost: how long it is waited for, and how many there are.

Twisted closes a connection only after a time without a single byte. A client that sends one byte
every few seconds, or reads that slowly, would hold its connection for ever. Here every phase in
which the service waits for the client has a total time:

| phase | ends after |
|---|---|
| between two requests | ``idle_seconds`` |
| request line and headers, the first from when the client has connected | ``header_seconds`` |
| body | ``body_seconds`` |
| the client takes the next 64 KB of the response, or the last of it | ``response_seconds`` |

Above ``max_connections``, the connection that has kept the service waiting longest is closed to
make room. While the service works on a response, no time runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.protocol import connectionDone
from twisted.logger import Logger
from twisted.web.http import HTTPChannel

if TYPE_CHECKING:
    from twisted.python.failure import Failure
    from twisted.web.server import Site

    from crawlproject.service.options import Options

log = Logger()

_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
# Until a connection is aborted that was told so.
_LAST_SECONDS = 1.0


class Connections:
    """All connections of a site."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.all: set[BoundedChannel] = set()
        # Those that wait for their client, longest first.
        self.waiting: dict[BoundedChannel, None] = {}
        self._is_crowded = False

    def add(self, channel: BoundedChannel) -> None:
        self.all.add(channel)
        most = self.options.max_connections
        if len(self.all) > most:
            slowest = next(iter(self.waiting), channel)
            if not self._is_crowded:
                log.warn(
                    "More than {most} connections (max_connections): the slowest are closed, "
                    "first that of {peer}",
                    most=most,
                    peer=slowest.peer,
                )
            self._is_crowded = True
            slowest.abort()
        elif len(self.all) <= most // 2:
            self._is_crowded = False

    def remove(self, channel: BoundedChannel) -> None:
        self.all.discard(channel)
        self.waiting.pop(channel, None)


class BoundedChannel(HTTPChannel):
    """A connection of a client. ``site.connections`` are all of them."""

    # Set by the site and by the reactor.
    site: Any
    transport: Any
    # The time limit of the phase, and what runs it out. No limit: the service works on a response.
    _limit: float | None = None
    _deadline: Any = None
    # Whether the next byte is the first of a request.
    _is_between_requests = False
    # Whether part of a request is here, so that a late client is to be told.
    _is_receiving = False
    # Whether the client does not take what is sent to it.
    _is_full = False

    @property
    def peer(self) -> str:
        return str(self.transport.getPeer())

    @property
    def _connections(self) -> Connections:
        connections: Connections = self.site.connections
        return connections

    def connectionMade(self) -> None:
        super().connectionMade()  # type: ignore[no-untyped-call]
        # Before it waits itself: the connection that is closed for it is another.
        self._connections.add(self)
        if self in self._connections.all:
            self._begin(self._connections.options.header_seconds)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._stop_clock()
        self._connections.remove(self)
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def abort(self) -> None:
        self._stop_clock()
        self._connections.remove(self)
        self.transport.abortConnection()

    # --- the phases of a request

    def dataReceived(self, data: bytes) -> None:
        if self._is_between_requests:
            self._is_between_requests = False
            self._begin(self._connections.options.header_seconds)
        self._is_receiving = self._limit is not None
        super().dataReceived(data)  # type: ignore[no-untyped-call]

    def allHeadersReceived(self) -> None:
        self._begin(self._connections.options.body_seconds)
        super().allHeadersReceived()  # type: ignore[no-untyped-call]

    def allContentReceived(self) -> None:
        self._begin(None)
        self._is_receiving = False
        super().allContentReceived()  # type: ignore[no-untyped-call]

    def pauseProducing(self) -> None:
        self._is_full = True
        self._start_clock(self._connections.options.response_seconds)
        super().pauseProducing()  # type: ignore[no-untyped-call]

    def resumeProducing(self) -> None:
        self._is_full = False
        self._start_clock(self._limit)
        super().resumeProducing()  # type: ignore[no-untyped-call]

    def requestDone(self, request: Any) -> None:
        options = self._connections.options
        # The next request may be here already, and is processed within the call.
        self._is_between_requests = bool(self.persistent)
        self._begin(options.idle_seconds if self.persistent else options.response_seconds)
        super().requestDone(request)  # type: ignore[no-untyped-call]

    # --- time

    def _begin(self, limit: float | None) -> None:
        """Begin a phase."""
        self._limit = limit
        # While the client takes nothing, the time for that runs on.
        if not self._is_full:
            self._start_clock(limit)

    def _start_clock(self, seconds: float | None) -> None:
        self._stop_clock()
        if seconds is not None:
            self._connections.waiting[self] = None
            self._deadline = self.callLater(seconds, self._give_up)  # type: ignore[no-untyped-call]

    def _stop_clock(self) -> None:
        self._connections.waiting.pop(self, None)
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()
        self._deadline = None

    def _give_up(self) -> None:
        log.info("Closing the connection of {peer}: it is too slow", peer=self.peer)
        if not self._is_receiving or self._is_full:
            self.abort()
            return
        self._is_receiving = False
        self._start_clock(_LAST_SECONDS)
        self.transport.write(_TOO_SLOW)
        self.loseConnection()  # type: ignore[no-untyped-call]


def bound_connections(site: Site, options: Options) -> None:
    bounded: Any = site
    bounded.connections = Connections(options)
    bounded.protocol = BoundedChannel
    # Ours are in its place: any byte starts it again.
    bounded.timeOut = None
