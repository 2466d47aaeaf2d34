"""Many small sites of this machine, one at each address, that log when they are asked.

``python -m bench.polite_server HOSTS PAGES SECONDS LOG`` prints its port, and ends when its
standard input does. Every answer takes SECONDS. LOG gets a line of JSON for each request, when
it ends: host, path, start and end, by the machine's monotonic clock. ``start`` is when the
request is read, ``end`` when the answer is about to be handed to the kernel: so who waits n
seconds between an answer and the next request leaves at least n seconds between the two.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from bench.measure import PROJECT, allow_many_files
from bench.polite_log import Asked
from bench.server import NoServer, running

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROBOTS = b"User-agent: *\nDisallow: /private/\n"
_PORTS_TRIED = 5
# The addresses of this machine that no other has: each is a host of its own.
_ADDRESSES = 250
MOST_HOSTS = _ADDRESSES * 250


def address(number: int) -> str:
    """The address of a host. Nothing listens beyond this machine."""
    return f"127.0.{1 + number // _ADDRESSES}.{1 + number % _ADDRESSES}"


class Site(asyncio.Protocol):
    """A connection to one host: ``/`` leads to its other pages."""

    def __init__(self, pages: int, seconds: float, log: TextIO) -> None:
        self._pages = pages
        self._seconds = seconds
        self._log = log
        self._received = b""
        self._asked: tuple[str, float] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" not in self._received:
            return
        # Whoever asks again before the answer has not waited for it.
        self._note()
        start = time.monotonic()
        words = self._received.split(b"\r\n", 1)[0].split()
        self._received = b""
        self._asked = words[1].decode("latin-1") if len(words) > 1 else "", start
        asyncio.get_running_loop().call_later(self._seconds, self._answer)

    def connection_lost(self, exc: Exception | None) -> None:
        # Who does not wait for an answer has asked all the same.
        self._note()

    def _answer(self) -> None:
        if self._asked is None:
            return
        kind, body = self._content(self._asked[0])
        self._note()
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
            % (kind, len(body), body)
        )

    def _note(self) -> None:
        if self._asked is not None:
            path, start = self._asked
            self._asked = None
            line = {"host": self._host, "path": path, "start": start, "end": time.monotonic()}
            self._log.write(json.dumps(line) + "\n")

    def _content(self, path: str) -> tuple[bytes, bytes]:
        if path == "/robots.txt":
            return b"text/plain", _ROBOTS
        links = (f'<a href="/{page}.html">{page}</a>' for page in range(1, self._pages))
        text = " ".join(links) if path == "/" else 'One of many. <a href="/">Home</a>'
        html = f"<!DOCTYPE html><title>A page</title><p>{text}</p>"
        return b"text/html; charset=utf-8", html.encode()


@contextmanager
def serving(hosts: int, pages: int, seconds: float, log: Path) -> Iterator[str]:
    """The port of such a server in another process. Raises NoServer."""
    command = [sys.executable, "-m", "bench.polite_server"]
    with running(
        [*command, str(hosts), str(pages), str(seconds), str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    ) as process:
        port = process.stdout.readline().strip() if process.stdout else ""
        if not port.isdigit():
            raise NoServer("the server does not start")
        yield port


def requests_in(log: Path) -> list[Asked]:
    lines = log.read_text(encoding="utf-8").splitlines()
    return [Asked(**json.loads(line)) for line in lines]


async def _listen(hosts: int, pages: int, seconds: float, log: TextIO) -> int:
    """Serve all hosts at one port, which is returned."""
    loop = asyncio.get_running_loop()
    for attempt in range(1, _PORTS_TRIED + 1):
        servers: list[asyncio.Server] = []
        port = 0
        try:
            for number in range(hosts):
                server = await loop.create_server(
                    lambda: Site(pages, seconds, log), address(number), port, backlog=16
                )
                port = server.sockets[0].getsockname()[1]
                servers.append(server)
        except OSError as error:
            for server in servers:
                server.close()
            # A port that is free at one address may be taken at another.
            if error.errno != errno.EADDRINUSE or attempt == _PORTS_TRIED:
                raise
        else:
            return port
    raise AssertionError("not reached")


async def _serve(hosts: int, pages: int, seconds: float, path: Path) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, ended.set)
    with path.open("a", buffering=1, encoding="utf-8") as log:
        print(await _listen(hosts, pages, seconds, log), flush=True)
        await ended.wait()


def main(hosts: str, pages: str, seconds: str, log: str) -> None:
    # A socket that listens for each host, and one for each connection.
    allow_many_files()
    try:
        asyncio.run(_serve(int(hosts), int(pages), float(seconds), Path(log)))
    except OSError as error:
        sys.exit(f"can't listen: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
