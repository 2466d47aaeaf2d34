"""Bodies as they were before a server compressed them. *Pure.*

However small a body is, what it unpacks to is never more than a limit: reading stops there.
A stream that ends too soon is known as such. Where the connection's end is the end of the
body, that is the only sign that something is missing. Checksums are not compared, and may be
missing: browsers don't look at them either, so some servers get them wrong.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# As the Accept-Encoding header has them.
ENCODINGS = ("gzip", "deflate", "br", "zstd")

# Not encodings: servers put a charset, a MIME encoding or a word for "no encoding" there.
_NO_ENCODINGS = frozenset(
    {
        *("", "identity", "none", "null", "utf-8", "utf8", "iso-8859-1", "windows-1252"),
        *("ascii", "us-ascii", "binary", "7bit", "8bit"),
    }
)
# Encodings one on the other. A body may unpack to itself, for ever.
_MOST_LAYERS = 4
# Streams one after the other in one body: each has its cost, and may be empty.
_MOST_STREAMS = 1_000
# Bytes that are unpacked at once.
_SLICE = 1 << 18
_NO_LIMIT = 1 << 62


class TooLargeError(Exception):
    """It unpacks to more than it may."""


class UnpackError(Exception):
    """It can't be unpacked; the message says what it claims to be."""


class CutShortError(Exception):
    """It ends too soon."""

    def __init__(self, so_far: bytes) -> None:
        super().__init__("the compressed body ends too soon")
        self.so_far = so_far


class _Output:
    """What was unpacked so far."""

    def __init__(self, limit: int) -> None:
        self._pieces: list[bytes] = []
        # One byte more than may come, to see that it does.
        self.room = limit + 1

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.room -= len(piece)
        if self.room <= 0:
            self._pieces.clear()
            raise TooLargeError

    def whole(self) -> bytes:
        return b"".join(self._pieces)


def unpack(body: bytes, encodings: Sequence[str], limit: int = 0) -> bytes:
    """The body without its encodings, which are named in the order in which they were applied.

    A limit of 0 is none. Raises TooLargeError, UnpackError and CutShortError.
    """
    layers = [name for name in encodings if name not in _NO_ENCODINGS]
    if len(layers) > _MOST_LAYERS:
        raise UnpackError(f"{len(layers)} encodings")
    for name in reversed(layers):
        unpacker = _UNPACKERS.get(name)
        if unpacker is None:
            raise UnpackError(f"encoding {name[:32]!r}")
        # Servers announce an encoding for answers without a body, too.
        if body:
            output = _Output(limit or _NO_LIMIT)
            try:
                is_whole = unpacker(memoryview(body), output)
            except (zlib.error, brotli.error, zstd.ZstdError) as error:
                raise UnpackError(f"bad {name}") from error
            body = output.whole()
            if not is_whole:
                raise CutShortError(body)
    return body


def _gunzip(data: memoryview, output: _Output) -> bool:
    position = 0
    for _ in range(_MOST_STREAMS):
        if not b"\x1f\x8b".startswith(bytes(data[position : position + 2])):
            if position == 0:
                raise zlib.error("no gzip header")
            return True  # as other programs do: what follows is padding
        start = _after_header(data, position)
        end = None if start is None else _inflate(data, start, output)
        if end is None:
            return False
        # Behind each stream: a checksum and a length.
        position = end + 8
        if position >= len(data):
            return True
    raise zlib.error("too many streams")


def _after_header(data: memoryview, position: int) -> int | None:
    """Where a gzip header ends; None: there is only a part of it."""
    flags = data[position + 3] if len(data) > position + 3 else 0
    position += 10
    if flags & 4:
        position += 2 + int.from_bytes(data[position : position + 2], "little")
    for flag in (8, 16):  # a name and a comment, each with a zero at its end
        if flags & flag:
            length = bytes(data[position : position + _SLICE]).find(b"\0")
            if length < 0:
                return None
            position += length + 1
    if flags & 2:
        position += 2
    return position if position < len(data) else None


def _undeflate(data: memoryview, output: _Output) -> bool:
    # In the wrapping that the standard asks for, or without, as some servers send it.
    is_wrapped = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflate(data, 2 if is_wrapped else 0, output) is not None


def _inflate(data: memoryview, position: int, output: _Output) -> int | None:
    """Where a stream ends; None: it does not."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    while position < len(data):
        # All of a slice is taken in, unless there is no more room, which is the end.
        output.add(stream.decompress(data[position : position + _SLICE], output.room))
        position += _SLICE
        if stream.eof:
            return min(position, len(data)) - len(stream.unused_data)
    return None


def _unbrotli(data: memoryview, output: _Output) -> bool:
    stream = brotli.Decompressor()
    piece = stream.process(data, output_buffer_limit=_SLICE)
    while piece:
        output.add(piece)
        piece = b"" if stream.is_finished() else stream.process(b"", output_buffer_limit=_SLICE)
    return bool(stream.is_finished())


def _unzstd(data: memoryview, output: _Output) -> bool:
    position = 0
    for _ in range(_MOST_STREAMS):
        stream = zstd.ZstdDecompressor()
        while not stream.eof:
            if position >= len(data):
                return False
            output.add(stream.decompress(data[position : position + _SLICE], output.room))
            position += _SLICE
        position = min(position, len(data)) - len(stream.unused_data)
        if position >= len(data):
            return True
    raise zstd.ZstdError("too many streams")


_UNPACKERS: dict[str, Callable[[memoryview, _Output], bool]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
