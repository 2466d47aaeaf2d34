"""Open a TCP connection to the first of several addresses that accepts it.

Addresses are tried in order, IPv6 and IPv4 in turn. If one does not accept soon, the next one is
tried as well (Happy Eyeballs, RFC 8305), so that a broken IPv6 network costs a moment only.
"""

from __future__ import annotations

import asyncio
import socket
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Address = tuple[socket.AddressFamily, str]

# Seconds until the next address is tried beside the one before (RFC 8305, section 5).
_STAGGER = 0.25


async def connect(
    addresses: Sequence[Address], port: int, local: tuple[str, int] | None = None
) -> socket.socket:
    """Raises OSError: the first one, if all addresses fail."""
    attempts = iter(_interleaved(addresses))
    pending: set[asyncio.Task[socket.socket]] = set()
    errors: list[BaseException] = []
    loop = asyncio.get_running_loop()
    try:
        while True:
            address = next(attempts, None)
            if address is not None:
                pending.add(loop.create_task(_connect(address, port, local)))
            elif not pending:
                raise errors[0]
            done, pending = await asyncio.wait(
                pending,
                timeout=None if address is None else _STAGGER,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for attempt in done:
                error = attempt.exception()
                if error is None:
                    _close(done - {attempt})
                    return attempt.result()
                errors.append(error)
    finally:
        for attempt in pending:
            attempt.cancel()
            # It may have succeeded in the meantime.
            attempt.add_done_callback(lambda attempt: _close({attempt}))


async def _connect(address: Address, port: int, local: tuple[str, int] | None) -> socket.socket:
    family, host = address
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        if local is not None:
            connection.bind(local)
        target = (host, port) if family == socket.AF_INET else (host, port, 0, 0)
        await asyncio.get_running_loop().sock_connect(connection, target)
    except BaseException:
        connection.close()
        raise
    return connection


def _interleaved(addresses: Sequence[Address]) -> Iterable[Address]:
    if len(addresses) < 2:
        return addresses
    first = [address for address in addresses if address[0] == addresses[0][0]]
    others = [address for address in addresses if address[0] != addresses[0][0]]
    pairs = chain.from_iterable(zip_longest(first, others))
    return [address for address in pairs if address is not None]


def _close(attempts: Iterable[asyncio.Task[socket.socket]]) -> None:
    for attempt in attempts:
        if not attempt.cancelled() and attempt.exception() is None:
            attempt.result().close()
