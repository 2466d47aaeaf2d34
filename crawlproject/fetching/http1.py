"""Read one HTTP/1.x response from the bytes of a connection. *Pure.*

The head comes first (``heads.py``). The body is chunked (``chunked.py``), has a length, or ends
with the connection. The reader knows to the byte where a response ends. If more bytes follow,
``has_leftover`` is true, and the caller must close the connection.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING

from crawlproject.failures import NotHttp
from crawlproject.fetching.chunked import ChunkedBody
from crawlproject.fetching.heads import parse_head

if TYPE_CHECKING:
    from crawlproject.fetching.heads import Head

# Bytes of a response head, the same as in Chrome.
MAX_HEAD_BYTES = 256 * 1024
# 1xx responses before the final one.
_MAX_INTERIM = 16

# Programs on Windows that write CRLF themselves end each line with CR CR LF.
_BLANK_LINE = re.compile(rb"\n\r{0,2}\n")


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
    _chunks: ChunkedBody | None = None

    def __init__(self, *, is_head: bool = False) -> None:
        # Whether it responds to a HEAD request.
        self._is_head = is_head
        # The pieces of the body that were not joined yet.
        self.pieces: list[bytes] = []
        self._joined: BytesIO | None = None

    def body(self, count: int | None = None) -> bytes:
        """The body so far. With ``count``, only that many of its pieces."""
        pieces = self.pieces
        if count is not None:
            del pieces[count:]
        if self._joined is None:
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.join_pieces()
        return self._joined.getvalue()

    def join_pieces(self) -> None:
        """Keep a large body in one buffer. Small pieces take more memory than their bytes, and
        joining all of them at the end takes twice the memory of the body.
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
        """The connection has ended without an error.

        That completes a body without a length, and one of which only trailers are missing.
        """
        if self._chunks is not None:
            self.is_complete = self.is_complete or self._chunks.has_last_chunk
        elif self.head is not None and self.head.length is None:
            self.is_complete = True

    def _feed_head(self, data: bytes) -> bytes | None:
        """The bytes behind the head, or None if it is incomplete."""
        start = 0
        if self._buffer:
            # A blank line may be split.
            start = max(0, len(self._buffer) - 3)
            self._buffer += data
            buffer: bytes | bytearray = self._buffer
        else:
            # Some servers send an empty line before a response.
            buffer = data.lstrip(b"\r\n")
            self._head_bytes += len(data) - len(buffer)
        if buffer[:5].upper() != b"HTTP/"[: len(buffer)]:
            raise NotHttp("the response does not begin with HTTP/")
        blank = _BLANK_LINE.search(buffer, start)
        end = len(buffer) if blank is None else blank.end()
        # Heads of interim responses count, too.
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
        head = parse_head(raw, is_head=self._is_head)
        if head.status < 200:
            self._interim += 1
            if self._interim > _MAX_INTERIM:
                raise NotHttp(f"more than {_MAX_INTERIM} interim responses")
            return
        self.head = head
        if head.is_chunked:
            self._chunks = ChunkedBody()
        elif head.length == 0:
            self.is_complete = True

    def _feed_body(self, head: Head, data: bytes) -> None:
        if self.is_complete or self.error:
            self.has_leftover = True
        elif self._chunks is not None:
            self._feed_chunks(self._chunks, data)
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

    def _feed_chunks(self, chunks: ChunkedBody, data: bytes) -> None:
        try:
            end = chunks.feed(data, self.pieces)
        except NotHttp as error:
            self.error = str(error)
            # The end of the body is unknown.
            self.has_leftover = True
        else:
            self.is_complete = end is not None
            self.has_leftover = end is not None and end < len(data)
        self.size = chunks.size
