"""``python -m bench.service_load PORT RATE SECONDS PATH…``: so many requests a second, in turns.

Each is sent at its time, whether the one before is answered or not. What came of them is printed
as JSON: ``sent``, ``errors`` and the milliseconds that half, 99 % and all of the answers took.

It shares the processors with what it asks, so it is written to need little of them.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PATIENCE = 10.0
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._come = b""
        self._began = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes) -> None:
        assert self._transport is not None
        self._began = perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._come += data
        head, found, body = self._come.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not found or length is None or len(body) < int(length[1]):
            return
        is_fine = head.startswith(b"HTTP/1.1 200 ") and body.startswith(b"{")
        self._come = b""
        self._load.answered(self, perf_counter() - self._began, None if is_fine else str(head))

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.lost(self, str(exc or "the service has hung up"))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.abort()


class Load:
    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._is_ending = self._is_over = False
        self._all_answered = asyncio.Event()
        self.times: list[float] = []
        self.errors: list[str] = []

    async def send(self, path: str) -> None:
        connection = self._idle.pop() if self._idle else await self._connect()
        self._busy.add(connection)
        connection.ask(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(self), "127.0.0.1", self._port
        )
        return connection

    def answered(self, connection: Connection, seconds: float, problem: str | None) -> None:
        self.times.append(seconds)
        self._busy.discard(connection)
        self._idle.append(connection)
        if problem is not None:
            self.errors.append(problem)
        if self._is_ending and not self._busy:
            self._all_answered.set()

    def lost(self, connection: Connection, problem: str) -> None:
        if connection in self._busy and not self._is_over:
            self.errors.append(problem)
        elif connection in self._idle:
            self._idle.remove(connection)

    async def end(self) -> None:
        """Wait for what is still to come."""
        self._is_ending = True
        if self._busy:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._all_answered.wait(), _PATIENCE)
        self.errors += ["no answer"] * len(self._busy)
        self._is_over = True
        for connection in [*self._idle, *self._busy]:
            connection.close()

    def figures(self) -> dict[str, object]:
        times = sorted(self.times) or [0.0]
        return {
            "sent": len(self.times),
            "errors": len(self.errors),
            "first_error": next(iter(self.errors), None),
            "median_ms": round(1000 * times[len(times) // 2], 2),
            "p99_ms": round(1000 * times[len(times) * 99 // 100], 2),
            "slowest_ms": round(1000 * times[-1], 2),
        }


async def load(port: int, rate: float, seconds: float, paths: Sequence[str]) -> dict[str, object]:
    sent = Load(port)
    began = perf_counter()
    for number in range(round(rate * seconds)):
        await asyncio.sleep(began + number / rate - perf_counter())
        await sent.send(paths[number % len(paths)])
    await sent.end()
    return sent.figures()


if __name__ == "__main__":
    where, per_second, duration, *asked = sys.argv[1:]
    print(json.dumps(asyncio.run(load(int(where), float(per_second), float(duration), asked))))
