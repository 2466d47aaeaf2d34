"""Answers in the spelling of HTTP/1.1 that nearly all servers use, read without a parser.

A whole head is taken apart by one regular expression, which costs a fraction of what a call
for each of its headers does. There is no judgement here: whatever is spelt in another way, or
may mean two things, is None or ``Odd``, and then a parser that knows all of HTTP reads it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Bytes of a head. A longer one is for the parser, which has a limit for each header.
_LONGEST_HEAD = 64 * 1024
_MOST_FIELDS = 1024
_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9][0-9]) ((?:[!-~](?:[ -~]*[!-~])?)?)\r\n")
# One line each. Nothing is tried twice, however long a line is.
_FIELD = re.compile(
    rb"^([!#$%&'*+.^_`|~0-9A-Za-z-]++):[ \t]*+([\t -~\x80-\xff]*+)(?<![ \t])\r\n",
    re.MULTILINE,
)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,7})\r\n")
_CHUNK_SO_FAR = re.compile(rb"(?:[0-9A-Fa-f]{1,7}\r?)?")
# Digits of a length.
_LONGEST_LENGTH = 9
# They may change what becomes of a connection.
_UNUSUAL = frozenset({b"Upgrade", b"Proxy-Connection", b"Sec-Websocket-Key1"})
_BODILESS = frozenset({204, 304})


class Odd(Exception):
    """An answer to be read by a parser."""


class Head(NamedTuple):
    status: int
    reason: str
    # As they came, and by their names as Scrapy writes them.
    fields: tuple[tuple[bytes, bytes], ...]
    headers: dict[bytes, list[bytes]]
    # Bytes of the body. None: it comes in chunks.
    length: int | None
    # Whether the connection ends with this answer.
    is_last: bool
    # Where the body begins.
    end: int


def read_head(data: bytes) -> Head | None:
    end = data.find(b"\r\n\r\n", 0, _LONGEST_HEAD) + 2
    first = _STATUS.match(data)
    if end < 2 or first is None:
        return None
    start = first.end()
    fields = _FIELD.findall(data, start, end)
    if len(fields) != data.count(b"\n", start, end) or len(fields) > _MOST_FIELDS:
        return None
    headers: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        headers.setdefault(name.title(), []).append(value)
    status = int(first[1])
    try:
        length, is_last = _length(status, headers), _is_last(headers)
    except Odd:
        return None
    return Head(status, first[2].decode(), tuple(fields), headers, length, is_last, end + 2)


def _length(status: int, headers: dict[bytes, list[bytes]]) -> int | None:
    lengths, encodings = headers.get(b"Content-Length"), headers.get(b"Transfer-Encoding")
    if encodings is not None:
        if lengths is not None or encodings != [b"chunked"] or status in _BODILESS:
            raise Odd
        return None
    if status in _BODILESS:
        return 0
    if lengths is None or len(lengths) > 1:
        raise Odd
    length = lengths[0]
    if len(length) > _LONGEST_LENGTH or not length.isdigit():
        raise Odd
    return int(length)


def _is_last(headers: dict[bytes, list[bytes]]) -> bool:
    if not _UNUSUAL.isdisjoint(headers):
        raise Odd
    connection = headers.get(b"Connection")
    if connection is None:
        return False
    if len(connection) > 1 or (word := connection[0].lower()) not in {b"close", b"keep-alive"}:
        raise Odd
    return word == b"close"


class Chunks:
    """A body in chunks, as far as it has come."""

    def __init__(self, start: int) -> None:
        self._parts: list[bytes] = []
        # Where the next chunk begins, and what is behind a body that is complete.
        self._place = self.end = start

    def read(self, data: bytes | bytearray) -> bytes | None:
        """The body that is complete with this; None: more has to come. May raise Odd.

        What has been given before must be at the beginning of it, too.
        """
        while line := _CHUNK.match(data, self._place):
            size, start = int(line[1], 16), line.end()
            rest = data[start + size : start + size + 2]
            if not b"\r\n".startswith(rest):
                raise Odd
            if len(rest) < 2:
                return None
            if not size:
                self.end = start + 2
                return b"".join(self._parts)
            self._parts.append(bytes(data[start : start + size]))
            self._place = start + size + 2
        if not _CHUNK_SO_FAR.fullmatch(data, self._place):
            raise Odd
        return None
