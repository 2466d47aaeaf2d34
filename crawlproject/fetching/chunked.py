"""Decode a chunked body (RFC 9112, section 7.1). *Pure.*

llhttp refuses chunk lines that browsers and curl accept, and does not say where the body ends. This
decoder knows the end to the byte. It accepts lines that end with LF alone, any bytes in chunk
extensions, and white space around a size. Trailers are skipped.

Chunks that are whole in one piece of data take a short path, and a run of chunks of a few bytes
each is decoded at once. Otherwise tiny chunks would cost far more time to decode than to send.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawlproject.failures import NotHttp

# Bytes of one chunk line, and of all trailers.
MAX_OVERHEAD = 64 * 1024

# A chunk line as nearly all servers write it, without its LF, and the bytes that it has at most.
_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?")
_MAX_LINE = 32
# A chunk line without extensions and without the white space at its end, or the beginning of one.
_SIZE = re.compile(rb"[ \t]{0,64}(?:0{0,64}([0-9A-Fa-f]{1,15}))?")
_WHITE_SPACE = b" \t\r\n"
_MAX_SMALL = 15
_ANY_SMALL = b"|".join(
    rb"[%x%X]\r\n.{%d}\r\n" % (size, size, size) for size in range(1, _MAX_SMALL + 1)
)
_SMALL_CHUNK = re.compile(_ANY_SMALL, re.DOTALL)
_SMALL_CHUNKS = re.compile(rb"(?:%b)+" % _ANY_SMALL, re.DOTALL)
_DATA_OF_SMALL = slice(len(b"1\r\n"), -len(b"\r\n"))
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CR, _LF = b"\r\n"


@lru_cache(maxsize=1024)
def _size_of(line: bytes) -> int:
    """The size in a chunk line. -1: it is not written as usual, or incomplete.

    Most chunks of a body have the same size.
    """
    match = _LINE.fullmatch(line)
    return -1 if match is None else int(match[1], 16)


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
                size = len(piece)
                pieces.append(piece)
                self.size += size
                self._missing -= size
                position += size
            elif self._needs_line_break:
                position = self._parse_line_break(data, position)
            elif self.has_last_chunk:
                return self._skip_trailers(data, position)
            else:
                start = position
                if not self._pending:
                    position = self._take_chunks(data, position, pieces)
                if position == start:
                    position = self._parse_line(data, position)
        return None

    def _take_chunks(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        """Take chunks that are whole, and begin the one that is not.

        Returns the position of a chunk line that is not written as usual, or is incomplete.
        """
        last_line = None
        while True:
            line, line_feed, _ = data[position : position + _MAX_LINE].partition(b"\n")
            size = _size_of(line) if line_feed else -1
            if size < 0:
                return position
            start = position + len(line) + 1
            end = start + size
            if line == last_line and size > _MAX_SMALL:
                # There are often many chunks of the same size.
                separator = b"\r\n%b\n" % line
                while data[end : end + len(separator)] == separator:
                    pieces.append(data[start:end])
                    self.size += size
                    start = end + len(separator)
                    end = start + size
            line_break = data[end : end + 2]
            if not size or (line_break != b"\r\n" and line_break[:1] != b"\n"):
                self._begin_chunk(size)
                return start
            if size <= _MAX_SMALL and (run := _SMALL_CHUNKS.match(data, position)):
                position = run.end()
                chunks = _SMALL_CHUNK.findall(data, run.start(), position)
                piece = b"".join([chunk[_DATA_OF_SMALL] for chunk in chunks])
            else:
                position = end + 2 if line_break == b"\r\n" else end + 1
                piece = data[start:end]
            pieces.append(piece)
            self.size += len(piece)
            last_line = line

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
        number = text.rstrip(_WHITE_SPACE)
        size = _SIZE.fullmatch(number)
        # Without a digit, this can only be white space in front of one.
        if size is None or (size[1] is None and (semicolon or text.strip(b" \t"))):
            raise NotHttp(f"bad chunk size {text[:20]!r}")
        if line_feed < 0:
            # However long the white space is.
            self._pending = number + text[len(number) :][:1] + semicolon
        else:
            self._begin_chunk(int(size[1], 16))
        return end

    def _parse_line_break(self, data: bytes, position: int) -> int:
        if data[position] == _CR and not self._pending:
            self._pending = b"\r"
            position += 1
            if position == len(data):
                return position
        if data[position] != _LF:
            raise NotHttp("a chunk is longer than its size")
        self._needs_line_break = False
        self._pending = b""
        return position + 1

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
