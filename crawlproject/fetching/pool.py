"""The connections of a crawl. They are opened to addresses that the guard allows, and reused.

The gate limits the requests of each host, and so the number of connections. An idle connection is
closed after ``_IDLE_SECONDS``, or when there are more than ``_MAX_IDLE``. It is not reused shortly
before the server closes it, if the server has said when (``Keep-Alive: timeout=5``).
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import CannotResolveHostError

from crawlproject.fetching.connecting import connect
from crawlproject.fetching.connection import Connection
from crawlproject.fetching.guard import RefusedAddressError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from crawlproject.fetching.guard import Guard
    from crawlproject.fetching.origins import Origin

logger = logging.getLogger(__name__)

_IDLE_SECONDS = 15.0
_MAX_IDLE = 256


class _Idle(NamedTuple):
    origin: Origin
    since: float
    reusable_until: float


class Pool:
    def __init__(
        self,
        guard: Guard,
        tls: Callable[[], ssl.SSLContext],
        *,
        logs_tls: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._guard = guard
        # Called when the first TLS connection is made.
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None
        self._logs_tls = logs_tls
        self._clock = clock
        self._open: set[Connection] = set()
        # In the order in which they became idle.
        self._idle: dict[Connection, _Idle] = {}
        self._sweep: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._all_closed = asyncio.Event()

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection on which a request can be sent, or None."""
        while origin.idle:
            connection = origin.idle[-1]
            idle = self._remove(connection)
            assert idle is not None
            if self._clock() < idle.reusable_until and connection.is_usable():
                return connection
            connection.abort()
        return None

    async def connect(self, origin: Origin) -> Connection:
        """Raises Verdict, CannotResolveHostError, and OSError, which includes ssl.SSLError."""
        if self._is_closed:
            raise RuntimeError("The download handler is closed")
        try:
            addresses = await self._guard.addresses(origin.host)
        except RefusedAddressError as error:
            raise self._guard.refuse(error) from None
        except OSError as error:
            raise CannotResolveHostError(str(error)) from error
        sock = await connect(addresses, origin.port, origin.local)
        context = None
        if origin.is_tls:
            context = self._tls = self._tls or self._make_tls()
        try:
            transport, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(partial(self._put, origin), self._forget),
                sock=sock,
                ssl=context,
                server_hostname=origin.host if context else None,
            )
        except BaseException:
            sock.close()
            raise
        if self._is_closed:
            transport.abort()
            raise RuntimeError("The download handler is closed")
        self._open.add(connection)
        if self._logs_tls and context:
            _log_tls(origin, transport)
        return connection

    def _put(self, origin: Origin, connection: Connection, seconds: float) -> None:
        """Keep a connection that can be reused within some seconds."""
        if self._is_closed:
            connection.abort()
            return
        since = self._clock()
        origin.idle.append(connection)
        self._idle[connection] = _Idle(origin, since, since + min(seconds, _IDLE_SECONDS))
        if len(self._idle) > _MAX_IDLE:
            self._drop(next(iter(self._idle)))
        if self._sweep is None:
            loop = asyncio.get_running_loop()
            self._sweep = loop.call_later(_IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._sweep = None
        for connection, idle in list(self._idle.items()):
            left = idle.since + _IDLE_SECONDS - self._clock()
            if left > 0:
                self._sweep = asyncio.get_running_loop().call_later(left, self._close_idle)
                return
            self._drop(connection)

    def _remove(self, connection: Connection) -> _Idle | None:
        """Take a connection out of the idle ones. None: it is not one of them."""
        idle = self._idle.pop(connection, None)
        if idle is not None:
            idle.origin.idle.remove(connection)
        return idle

    def _drop(self, connection: Connection) -> None:
        self._remove(connection)
        connection.abort()

    def _forget(self, connection: Connection) -> None:
        """A connection has ended."""
        self._remove(connection)
        self._open.discard(connection)
        if self._is_closed and not self._open:
            self._all_closed.set()

    async def close(self) -> None:
        """Close all connections. Requests in flight fail at once."""
        self._is_closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in list(self._open):
            connection.fail(ConnectionAbortedError("the download handler is closed"))
        if self._open:
            await self._all_closed.wait()


def _log_tls(origin: Origin, transport: asyncio.BaseTransport) -> None:
    tls = transport.get_extra_info("ssl_object")
    cipher, certificate = tls.cipher(), tls.getpeercert()
    logger.debug(
        "TLS connection to %s: %s, %s", origin.host, tls.version(), cipher[0] if cipher else None
    )
    if certificate:
        logger.debug(
            "TLS certificate: issuer %s, subject %s", certificate["issuer"], certificate["subject"]
        )
