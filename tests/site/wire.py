"""HTTP/1.1 on the wire, as the test site speaks it: also where that means breaking it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.spec import Page

LINE_LIMIT = 1 << 20
# So many bytes the kernel surely takes in one go.
AT_ONCE = 1 << 14
BODILESS = {204, 304}
REASONS = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    400: "Bad Request",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class ClientGoneError(Exception):
    """The client closed the connection before it had its answer."""


class BadRequestError(Exception):
    """What the client sent is not HTTP as this server speaks it."""


class Request(NamedTuple):
    start: float
    method: str
    path: str
    version: str
    headers: dict[str, str]
    body: bytes

    @property
    def keep_alive(self) -> bool:
        connection = self.headers.get("connection", "").lower()
        if self.version == "HTTP/1.0":
            return "keep-alive" in connection
        return "close" not in connection


class Protocol(asyncio.StreamReaderProtocol):
    """Notes when the client has gone, also while nothing is being read."""

    def __init__(self, reader: asyncio.StreamReader, connected: Any) -> None:
        super().__init__(reader, connected)
        self.gone = asyncio.Event()

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


async def wait(writer: asyncio.StreamWriter, seconds: float | None) -> None:
    """Wait so long (None: for ever), unless the client goes."""
    protocol = writer.transport.get_protocol()
    assert isinstance(protocol, Protocol)
    try:
        async with asyncio.timeout(seconds):
            await protocol.gone.wait()
    except TimeoutError:
        return
    raise ClientGoneError


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request, or None when the client has no more."""
    line = b"\r\n"
    while line in {b"\r\n", b"\n"}:
        line = await read_line(reader)
    start = time.monotonic()
    if not line:
        return None
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/"):
        raise BadRequestError("not a request line")
    method, path, version = words
    if not path.startswith("/"):  # a proxy's spelling: http://host/path
        path = "/" + path.partition("://")[2].partition("/")[2]
    headers: dict[str, str] = {}
    while (line := await read_line(reader)) not in {b"\r\n", b"\n"}:
        if not line:
            return None
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = b""
    if "transfer-encoding" in headers:
        raise BadRequestError("request bodies must have a Content-Length")
    if length := headers.get("content-length"):
        if not (length.isascii() and length.isdigit()):
            raise BadRequestError("not a Content-Length")
        try:
            body = await reader.readexactly(int(length))
        except asyncio.IncompleteReadError:
            return None
    return Request(start, method, path, version, headers, body)


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """A line with its end, or nothing at the end of the input."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError as error:
        raise BadRequestError("line too long") from error


async def send(
    writer: asyncio.StreamWriter,
    page: Page,
    request: Request | None = None,
    before_last: Callable[[], None] = lambda: None,
) -> bool:
    """Write an answer. Returns whether the connection may have another.

    ``before_last`` is called when all but the last bytes are with the kernel.
    """
    # HTTP/1.0 has no chunks: there the end of the connection ends the body.
    framed = page.chunked and request is not None and request.version != "HTTP/1.0"
    keep_alive = (
        request is not None
        and request.keep_alive
        and framed == page.chunked
        and not _breaks_framing(page)
    )
    head = _head(page, framed, keep_alive)
    if page.status in BODILESS or (request is not None and request.method == "HEAD"):
        last = head
    elif page.chunked or page.stall_after is not None:
        writer.write(head)
        last = await _send_piecemeal(writer, page, framed)
    else:
        last = head + page.body
        if len(last) > AT_ONCE:
            writer.write(last[:-1])
            await writer.drain()
            last = last[-1:]
    before_last()
    writer.write(last)
    await writer.drain()
    return keep_alive


def _breaks_framing(page: Page) -> bool:
    """Whether headers of the spec's own leave unclear where the body ends."""
    given = {name.lower(): value for name, value in page.headers.items()}
    return (
        str(given.get("connection")).lower() == "close"
        or "transfer-encoding" in given
        or given.get("content-length", str(len(page.body))) != str(len(page.body))
    )


def _head(page: Page, framed: bool, keep_alive: bool) -> bytes:
    headers: dict[str, str | list[str]] = {"Connection": "keep-alive" if keep_alive else "close"}
    if page.status not in BODILESS:
        headers["Content-Type"] = page.content_type
        if framed:
            headers["Transfer-Encoding"] = "chunked"
        elif not page.chunked:
            headers["Content-Length"] = str(len(page.body))
    given = {name.lower() for name in page.headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in given}
    lines = [f"HTTP/1.1 {page.status} {REASONS.get(page.status, 'As Told')}"]
    for name, value in (headers | page.headers).items():
        lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value])]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send_piecemeal(writer: asyncio.StreamWriter, page: Page, framed: bool) -> bytes:
    """Write the body in parts. Returns the last of them, still to be written."""

    def chunk(data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if framed else data

    if page.stall_after is not None:
        if part := page.body[: page.stall_after]:
            writer.write(chunk(part))
        await writer.drain()
        await wait(writer, None)
    while page.endless:
        writer.write(chunk(page.body))
        await writer.drain()
        await asyncio.sleep(0)  # a client that reads fast must not keep the others waiting
    third = len(page.body) // 3
    for part in (page.body[:third], page.body[third : 2 * third]):
        if part:
            writer.write(chunk(part))
            await writer.drain()
    rest = page.body[2 * third :]
    if rest and framed:
        writer.write(chunk(rest))
        await writer.drain()
    return chunk(b"") if framed else rest
