"""Parse one HTTP/1.x response from the bytes of a connection. *Pure.*

llhttp (``httptools``) parses heads and chunked bodies. It is strict: a head that it refuses, or
whose framing is unusual, is rewritten first (``leniency.py``). A body with a length is counted,
and a body without one ends with the connection.

The reader knows to the byte where a response ends. Whatever follows is ``has_leftover``: the
caller must close such a connection.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from crawlproject.failures import NotHttp
from crawlproject.fetching.leniency import repair_head

# Bytes of a response head, as Chrome and curl have it, and the number of its header lines.
MAX_HEAD_BYTES = 256 * 1024
MAX_HEADERS = 1024
# 1xx responses before the final one.
_MAX_INTERIM = 16
# Bytes of chunk extensions or trailers in a row.
_MAX_CHUNK_OVERHEAD = 64 * 1024

_BLANK_LINE = re.compile(rb"\n\r?\n")
_WITHOUT_BODY = frozenset({204, 304})


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
    # Whether another request may be sent on the connection.
    is_reusable: bool


class _Events:
    """Callbacks of llhttp for one message."""

    reason = b""
    has_head = False
    size = 0
    # After a chunk's size and before its data; after the last size: in the trailers.
    is_in_chunk_line = False
    is_complete = False
    has_next_message = False

    def __init__(self) -> None:
        self.fields: list[tuple[bytes, bytes]] = []
        self.pieces: list[bytes] = []

    def on_message_begin(self) -> None:
        if self.is_complete:
            self.has_next_message = True

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        # llhttp leaves white space at the end of values.
        self.fields.append((name, value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        self.has_head = True

    def on_chunk_header(self) -> None:
        self.is_in_chunk_line = True

    def on_body(self, piece: bytes) -> None:
        if not self.is_complete:
            self.is_in_chunk_line = False
            self.pieces.append(piece)
            self.size += len(piece)

    def on_message_complete(self) -> None:
        self.is_complete = True


class ResponseReader:
    """One response. Pass what arrives to ``feed``, and call ``end`` when the connection ends."""

    head: Head | None = None
    # Bytes of the body so far.
    size = 0
    is_complete = False
    has_leftover = False
    # Why the body can't be parsed any further.
    error: str | None = None

    _buffer: bytes | bytearray = b""
    _head_bytes = 0
    _interim = 0
    _chunks: HttpResponseParser | None = None
    _events: _Events | None = None
    _overhead = 0
    _tail = b""

    def __init__(self, *, is_head: bool = False) -> None:
        # Whether it responds to a HEAD request.
        self._is_head = is_head
        # The pieces of the body that were not joined yet.
        self.pieces: list[bytes] = []
        self._joined: BytesIO | None = None

    def body(self, count: int | None = None) -> bytes:
        """What came of the body. With ``count``, all pieces after so many are dropped."""
        pieces = self.pieces
        if count is not None:
            del pieces[count:]
        if self._joined is None:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.join_pieces()
        return self._joined.getvalue()

    def join_pieces(self) -> None:
        """Keep a large body as one: small pieces take more memory than their bytes, and all of
        them together with the body twice as much.
        """
        if self._joined is None:
            self._joined = BytesIO()
        self._joined.writelines(self.pieces)
        self.pieces.clear()

    def feed(self, data: bytes) -> None:
        """Raises NotHttp if this is not the head of a response."""
        while self.head is None:
            rest = self._feed_head(data)
            if rest is None:
                return
            data = rest
        if data:
            self._feed_body(self.head, data)

    def end(self) -> None:
        """The connection has ended properly, which completes a body without a length."""
        head = self.head
        if head is not None and head.length is None and not head.is_chunked:
            self.is_complete = True

    def _feed_head(self, data: bytes) -> bytes | None:
        """What follows the head, or None: more of it is needed."""
        start = 0
        if self._buffer:
            # A line break may have been split.
            start = max(0, len(self._buffer) - 2)
            self._buffer += data
            buffer: bytes | bytearray = self._buffer
        else:
            # Some servers send an empty line too much after the body before.
            buffer = data.lstrip(b"\r\n")
            self._head_bytes += len(data) - len(buffer)
        if not buffer.startswith(b"HTTP/"[: len(buffer)]):
            raise NotHttp("the response does not begin with HTTP/")
        blank = _BLANK_LINE.search(buffer, start)
        end = len(buffer) if blank is None else blank.end()
        # Those of interim responses count, too.
        if self._head_bytes + end > 2 * MAX_HEAD_BYTES or end > MAX_HEAD_BYTES:
            raise NotHttp(f"the response head is larger than {MAX_HEAD_BYTES} bytes")
        if blank is None:
            self._buffer = bytearray(buffer) if isinstance(buffer, bytes) else buffer
            return None
        self._buffer = b""
        self._head_bytes += end
        self._parse_head(bytes(buffer[:end]))
        return bytes(buffer[end:])

    def _parse_head(self, raw: bytes) -> None:
        try:
            parser, events = _parse(raw)
            is_unusual = False
        except HttpParserError:
            is_unusual = True
        else:
            headers = _grouped(events.fields)
            codings = headers.get(b"Transfer-Encoding")
            is_unusual = codings is not None and codings != [b"chunked"]
        is_broken = False
        if is_unusual:
            raw, is_broken = repair_head(raw)
            try:
                parser, events = _parse(raw)
            except HttpParserError as error:
                raise NotHttp(str(error)) from error
            headers = _grouped(events.fields)
        if len(events.fields) > MAX_HEADERS:
            raise NotHttp(f"the response has more than {MAX_HEADERS} headers")
        status = parser.get_status_code()
        if status < 200:
            self._interim += 1
            if self._interim > _MAX_INTERIM:
                raise NotHttp(f"more than {_MAX_INTERIM} interim responses")
            return
        has_body = not self._is_head and status not in _WITHOUT_BODY
        length, is_chunked, codings_left = _framing(headers) if has_body else (0, False, ())
        version = parser.get_http_version()
        self.head = Head(
            status,
            events.reason.decode("latin-1"),
            tuple(events.fields),
            headers,
            f"HTTP/{version}",
            length,
            is_chunked,
            codings_left,
            not is_broken
            and (length is not None or is_chunked)
            and _keeps_alive(version, headers.get(b"Connection")),
        )
        if is_chunked:
            self._chunks, self._events = parser, events
            self.pieces = events.pieces
        elif length == 0:
            self.is_complete = True

    def _feed_body(self, head: Head, data: bytes) -> None:
        if self.is_complete or self.error:
            self.has_leftover = True
        elif head.is_chunked:
            self._feed_chunks(data)
        elif head.length is None:
            self.pieces.append(data)
            self.size += len(data)
        else:
            missing = head.length - self.size
            if len(data) > missing:
                data = data[:missing]
                self.has_leftover = True
            self.pieces.append(data)
            self.size += len(data)
            self.is_complete = self.size == head.length

    def _feed_chunks(self, data: bytes) -> None:
        parser, events = self._chunks, self._events
        assert parser is not None
        assert events is not None
        size = events.size
        try:
            parser.feed_data(data)
        except HttpParserError as error:
            if events.is_complete or events.is_in_chunk_line:
                # The body is complete: the error is in its trailers, or behind it.
                events.is_complete = self.has_leftover = True
            else:
                self._fail(str(error))
        self.size = events.size
        self._tail = (self._tail + data[-5:])[-5:]
        if events.is_complete:
            self.is_complete = True
            self._chunks = None
            # llhttp skips line breaks between messages. Two end the body.
            has_more_breaks = len(self._tail) == 5 and not self._tail.strip(b"\r\n")
            if events.has_next_message or has_more_breaks:
                self.has_leftover = True
            return
        self._overhead = 0 if events.size > size else self._overhead + len(data)
        if self._overhead > _MAX_CHUNK_OVERHEAD:
            self._fail("chunk extensions or trailers without end")

    def _fail(self, error: str) -> None:
        self.error = error
        # Nobody knows where the body ends.
        self.has_leftover = True


def _parse(raw: bytes) -> tuple[HttpResponseParser, _Events]:
    events = _Events()
    parser = HttpResponseParser(events)
    # Some servers pad the sizes of chunks.
    parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)
    try:
        parser.feed_data(raw)
    except HttpParserUpgrade:
        raise NotHttp("the server switches to another protocol") from None
    if not events.has_head:
        raise HttpParserError("incomplete head")
    return parser, events


def _grouped(fields: list[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    headers: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        name = name.title()
        if name in headers:
            headers[name].append(value)
        else:
            headers[name] = [value]
    return headers


def _framing(headers: dict[bytes, list[bytes]]) -> tuple[int | None, bool, tuple[str, ...]]:
    """The length of the body, whether it is chunked, and its other transfer codings."""
    if lengths := headers.get(b"Content-Length"):
        return int(lengths[0]), False, ()
    if encodings := headers.get(b"Transfer-Encoding"):
        names = [name.strip() for name in encodings[0].decode("latin-1").split(",")]
        codings = tuple(name for name in names if name != "chunked")
        return None, names[-1] == "chunked", codings
    return None, False, ()


def _keeps_alive(version: str, connection: list[bytes] | None) -> bool:
    if connection is None:
        return version != "1.0"
    if connection == [b"keep-alive"]:
        return True
    options = b",".join(connection).lower()
    return b"close" not in options and (version != "1.0" or b"keep-alive" in options)
