"""Parse the head of an HTTP/1.x response. *Pure.*

llhttp (``httptools``) is fast and strict. A head that it refuses, that has folded lines or whose
framing is unusual is rewritten first (``leniency.py``).
"""

from __future__ import annotations

import re
from math import inf
from typing import NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from crawlproject.failures import NotHttp
from crawlproject.fetching.leniency import parse_length, repair_head

_MAX_HEADERS = 1024
_SWITCHING_PROTOCOLS = 101
_WITHOUT_BODY = frozenset({204, 304})
_CHUNKED = [b"chunked"]
# llhttp takes quadratic time to join folded lines.
_FOLDED_LINE = re.compile(rb"\n[ \t]")
_KEEP_ALIVE_TIMEOUT = re.compile(rb"\btimeout[ \t]*=[ \t]*\"?([0-9]{1,9})", re.IGNORECASE)


class Head(NamedTuple):
    status: int
    reason: str
    # As received, and grouped under the capitalisation that ``scrapy.http.Headers`` uses.
    fields: tuple[tuple[bytes, bytes], ...]
    headers: dict[bytes, list[bytes]]
    protocol: str
    # Bytes of the body. None: the body is chunked or ends with the connection.
    length: int | None
    is_chunked: bool
    # Transfer codings other than chunked, in the order in which they were applied.
    codings: tuple[str, ...]
    # Whether another request may be sent on the connection, and within how many seconds.
    is_reusable: bool
    reusable_seconds: float


class _Events:
    """Callbacks of llhttp for one head, and what they have collected."""

    reason = b""
    is_complete = False
    status = 0
    version = ""

    def __init__(self) -> None:
        self.fields: list[tuple[bytes, bytes]] = []
        self.headers: dict[bytes, list[bytes]] = {}

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        # llhttp leaves white space at the end of values.
        self.fields.append((name, value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        self.is_complete = True


def parse_head(raw: bytes, *, is_head: bool = False) -> Head:
    """Parse a head with its blank line. ``is_head``: it responds to a HEAD request.

    Raises NotHttp.
    """
    length, is_doubtful = None, False
    try:
        events = _parse_strictly(raw)
    except HttpParserError:
        strict, length, is_doubtful = repair_head(raw)
        try:
            events = _parse(strict)
        except HttpParserError as error:
            raise NotHttp(str(error)) from error
    status, version, headers = events.status, events.version, events.headers
    if status < 100:
        raise NotHttp(f"{status} is not a status of HTTP")
    if len(events.fields) > _MAX_HEADERS:
        raise NotHttp(f"the response has more than {_MAX_HEADERS} headers")
    is_chunked = False
    codings: tuple[str, ...] = ()
    if is_head or status < 200 or status in _WITHOUT_BODY:
        length = 0
    elif lengths := headers.get(b"Content-Length"):
        length = parse_length(lengths[0])
    elif encodings := headers.get(b"Transfer-Encoding"):
        is_chunked, codings = _transfer_codings(encodings)
    is_framed = length is not None or is_chunked
    return Head(
        status,
        events.reason.decode("latin-1"),
        tuple(events.fields),
        headers,
        f"HTTP/{version}",
        length,
        is_chunked,
        codings,
        is_framed and not is_doubtful and _keeps_alive(version, headers),
        _reusable_seconds(headers[b"Keep-Alive"]) if b"Keep-Alive" in headers else inf,
    )


def _parse_strictly(raw: bytes) -> _Events:
    """Raises HttpParserError if the head has to be rewritten, and NotHttp."""
    if _FOLDED_LINE.search(raw):
        raise HttpParserError("folded lines")
    events = _parse(raw)
    encodings = events.headers.get(b"Transfer-Encoding")
    if encodings is not None and encodings != _CHUNKED:
        raise HttpParserError("unusual framing")
    if b"\0" in events.reason:
        raise HttpParserError("NUL in the reason")
    return events


def _parse(raw: bytes) -> _Events:
    """Raises HttpParserError and NotHttp."""
    events = _Events()
    parser = HttpResponseParser(events)
    try:
        parser.feed_data(raw)
    except (HttpParserError, HttpParserUpgrade):
        if parser.get_status_code() == _SWITCHING_PROTOCOLS:
            raise NotHttp("the server switches to another protocol") from None
        raise
    if not events.is_complete:
        raise HttpParserError("incomplete head")
    events.status, events.version = parser.get_status_code(), parser.get_http_version()
    headers = events.headers
    for name, value in events.fields:
        name = name.title()
        if name in headers:
            headers[name].append(value)
        else:
            headers[name] = [value]
    return events


def _transfer_codings(encodings: list[bytes]) -> tuple[bool, tuple[str, ...]]:
    """Whether the body is chunked, and its other codings."""
    if encodings == _CHUNKED:
        return True, ()
    names = encodings[0].decode("latin-1").split(", ")
    return "chunked" in names, tuple(name for name in names if name != "chunked")


def _keeps_alive(version: str, headers: dict[bytes, list[bytes]]) -> bool:
    is_old = version == "1.0"
    # HTTP/1.0 has no transfer codings: some proxies on the path do not know where the body ends.
    if version == "0.9" or (is_old and b"Transfer-Encoding" in headers):
        return False
    connection = headers.get(b"Connection")
    if connection is None:
        return not is_old
    if connection == [b"keep-alive"]:
        return True
    options = b",".join(connection).lower()
    return b"close" not in options and (not is_old or b"keep-alive" in options)


def _reusable_seconds(keep_alive: list[bytes]) -> float:
    """Less than the server says, or it might close the connection while a request is on its way."""
    timeout = _KEEP_ALIVE_TIMEOUT.search(b",".join(keep_alive))
    if timeout is None:
        return inf
    seconds = int(timeout[1])
    return seconds - 1 if seconds > 1 else seconds / 2
