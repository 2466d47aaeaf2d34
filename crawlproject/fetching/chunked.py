"""Decode a chunked body (RFC 9112, section 7.1). *Pure.*

llhttp refuses chunk lines that browsers and curl accept, and does not say where the body ends. This
decoder knows the end to the byte. It accepts lines that end with LF alone, any bytes in chunk
extensions, and white space around a size. Trailers are skipped.

Chunks that are whole in one piece of data take a short path, and a run of chunks of a few bytes
each is decoded at once. Otherwise tiny chunks would cost far more time to decode than to send.
"""

from __future__ import annotations

import re

from crawlproject.failures import NotHttp

# Bytes of one chunk line, and of all trailers.
MAX_OVERHEAD = 64 * 1024

# A chunk line as nearly all servers write it.
_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]{0,8}(?:;[^\n]{0,64})?\r?\n")
# A chunk line up to its extensions, or the beginning of one.
_SIZE = re.compile(rb"[ \t]{0,64}(?:0{0,64}([0-9A-Fa-f]{1,15})[ \t]{0,64}\r?\n?)?")
_MAX_SMALL = 15
_ANY_SMALL = b"|".join(
    rb"[%x%X]\r\n.{%d}\r\n" % (size, size, size) for size in range(1, _MAX_SMALL + 1)
)
_SMALL_CHUNK = re.compile(_ANY_SMALL, re.DOTALL)
_SMALL_CHUNKS = re.compile(rb"(?:%b)+" % _ANY_SMALL, re.DOTALL)
_DATA_OF_SMALL = slice(len(b"1\r\n"), -len(b"\r\n"))
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CR, _LF = b"\r\n"


class ChunkedBody:
    """Pass what arrives to ``feed`` until it returns a position."""

    # Bytes of data so far.
    size = 0
    # Whether the chunk of size 0 has come. Trailers may follow.
    has_last_chunk = False

    # Bytes of the current chunk that are missing.
    _missing = 0
    # Whether the line break behind the current chunk is missing.
    _needs_line_break = False
    # The part that matters of an unfinished line, and the number of its bytes.
    _pending = b""
    _overhead = 0

    def feed(self, data: bytes, pieces: list[bytes]) -> int | None:
        """Append data of the body to ``pieces``, and return the position where the body ends.

        None: it does not end here. Raises NotHttp.
        """
        position = 0
        while position < len(data):
            if self._missing:
                piece = data[position : position + self._missing]
                self._add(piece, pieces)
                self._missing -= len(piece)
                position += len(piece)
            elif self._needs_line_break:
                self._parse_line_break(data[position])
                position += 1
            elif self.has_last_chunk:
                return self._skip_trailers(data, position)
            elif not self._pending and (line := _LINE.match(data, position)):
                position = self._take_chunks(data, line, pieces)
            else:
                position = self._parse_line(data, position)
        return None

    def _add(self, piece: bytes, pieces: list[bytes]) -> None:
        pieces.append(piece)
        self.size += len(piece)

    def _take_chunks(self, data: bytes, line: re.Match[bytes] | None, pieces: list[bytes]) -> int:
        """Take chunks that are whole, and begin the one that is not."""
        position = 0
        while line is not None:
            start = line.end()
            size = int(line[1], 16)
            position = start + size
            line_break = data[position : position + 2]
            if not size or (line_break != b"\r\n" and line_break[:1] != b"\n"):
                self._begin_chunk(size)
                return start
            if size <= _MAX_SMALL and (run := _SMALL_CHUNKS.match(data, line.start())):
                position = run.end()
                chunks = _SMALL_CHUNK.findall(data, line.start(), position)
                self._add(b"".join([chunk[_DATA_OF_SMALL] for chunk in chunks]), pieces)
            else:
                self._add(data[start:position], pieces)
                position += 2 if line_break == b"\r\n" else 1
            line = _LINE.match(data, position)
        return position

    def _begin_chunk(self, size: int) -> None:
        self._missing = size
        self._needs_line_break = size > 0
        self.has_last_chunk = size == 0
        self._overhead = 0
        # Trailers end with an empty line: the line break of the chunk line may be the one before.
        self._pending = b"\n" if size == 0 else b""

    def _parse_line(self, data: bytes, position: int) -> int:
        """Parse a chunk line, or what there is of it."""
        line_feed = data.find(b"\n", position)
        end = len(data) if line_feed < 0 else line_feed + 1
        self._overhead += end - position
        if self._overhead > MAX_OVERHEAD:
            raise NotHttp(f"a chunk line is longer than {MAX_OVERHEAD} bytes")
        text, semicolon, _ = (self._pending + data[position:end]).partition(b";")
        size = _SIZE.fullmatch(text)
        if size is None or (semicolon and size[1] is None):
            raise NotHttp(f"bad chunk size {text[:20]!r}")
        if line_feed < 0:
            self._pending = text + semicolon
        else:
            self._begin_chunk(int(size[1], 16))
        return end

    def _parse_line_break(self, byte: int) -> None:
        if byte == _LF:
            self._needs_line_break = False
            self._pending = b""
        elif byte == _CR and not self._pending:
            self._pending = b"\r"
        else:
            raise NotHttp("a chunk is longer than its size")

    def _skip_trailers(self, data: bytes, position: int) -> int | None:
        """Find the empty line behind trailers. Trailers beyond the limit are not of the body."""
        if self._pending == b"\n" and data.startswith(b"\r\n", position):
            return position + 2
        text = self._pending + data[position:]
        limit = position + MAX_OVERHEAD - self._overhead
        if blank_line := _BLANK_LINE.search(text):
            return min(position + blank_line.end() - len(self._pending), limit)
        if len(data) > limit:
            return limit
        self._overhead += len(data) - position
        self._pending = text[-2:]
        return None
