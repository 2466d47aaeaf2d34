"""Decompress bodies. *Pure.*

- Decompression stops at a limit, however small the body is.
- A stream that ends too soon is reported. If the body ends with the connection, nothing else shows
  that a part is missing.
- Checksums are not compared, and may be missing. Browsers ignore them, so some servers get them
  wrong. Bytes behind a stream are ignored, too.
- A word that names no compression (a charset, ``none``, a typing error) is ignored, as browsers do.
  A compression that is not supported here is an error.
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

# For the Accept-Encoding header.
ENCODINGS = ("gzip", "deflate", "br", "zstd")

# Codings that change a body and can't be undone here: those that are registered at IANA, and others
# that servers use.
_UNSUPPORTED = frozenset(
    {
        *("aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"),
        *("bzip2", "x-bzip2", "lz4", "lzma", "x-lzma", "peerdist", "sdch", "snappy", "xpress"),
        *("xz", "x-xz"),
    }
)
# Compressions of one body, one inside the other. There are bodies that decompress to themselves.
_MAX_LAYERS = 4
# Streams of one body, one behind the other. Each has a cost, and may be empty.
_MAX_STREAMS = 1_000
# Bytes that are decompressed at once.
_SLICE = 1 << 18
_BROTLI_STEP = 1 << 12
_NO_LIMIT = 1 << 62
# Of a frame, and behind the first byte of a frame without data.
_ZSTD_MAGIC, _ZSTD_SKIPPABLE_MAGIC = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"


class TooLargeError(Exception):
    """The body decompresses to more than the limit."""


class UnpackError(Exception):
    """The body can't be decompressed. The message names its coding."""


class CutShortError(Exception):
    """The compressed body ends too soon."""

    def __init__(self, so_far: bytes) -> None:
        super().__init__("the compressed body ends too soon")
        self.so_far = so_far


class _Output:
    """What was decompressed so far."""

    def __init__(self, limit: int) -> None:
        self._pieces: list[bytes] = []
        # One byte more than the limit, to see whether the body exceeds it.
        self._max_size = limit + 1
        self.room = self._max_size

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self.room -= len(piece)
        if self.room <= 0:
            self.clear()
            raise TooLargeError

    def clear(self) -> None:
        self._pieces.clear()
        self.room = self._max_size

    def whole(self) -> bytes:
        return b"".join(self._pieces)


def unpack(body: bytes, encodings: Sequence[str], limit: int = 0) -> bytes:
    """Undo the encodings of a body, which are in the order in which the server applied them.

    A limit of 0 means no limit. Raises TooLargeError, UnpackError and CutShortError.
    """
    layers = list(filter(is_coding, encodings))
    if len(layers) > _MAX_LAYERS:
        raise UnpackError(f"{len(layers)} encodings")
    for name in reversed(layers):
        unpacker = _UNPACKERS.get(name)
        if unpacker is None:
            raise UnpackError(f"encoding {name!r}")
        # Servers announce an encoding for empty bodies, too.
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


def is_coding(name: str) -> bool:
    """Whether a word names a coding that changes a body, whether it is supported or not."""
    return name in _UNPACKERS or name in _UNSUPPORTED


def _gunzip(data: memoryview, output: _Output) -> bool:
    position = 0
    for _ in range(_MAX_STREAMS):
        if not b"\x1f\x8b".startswith(bytes(data[position : position + 2])):
            if position == 0:
                raise zlib.error("no gzip header")
            return True  # padding, which other programs ignore, too
        start = _after_header(data, position)
        end = None if start is None else _inflate(data, start, output)
        if end is None:
            return False
        # A checksum and a length follow each stream.
        position = end + 8
        if position >= len(data):
            return True
    raise zlib.error("too many streams")


def _after_header(data: memoryview, position: int) -> int | None:
    """The position behind a gzip header, or None if it is incomplete."""
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
    # The standard asks for a zlib header. Some servers leave it out.
    is_wrapped = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflate(data, 2 if is_wrapped else 0, output) is not None


def _inflate(data: memoryview, position: int, output: _Output) -> int | None:
    """The position behind a stream, or None if it is incomplete."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    while position < len(data):
        # A slice is consumed as a whole, unless there is no room left, which is an error.
        output.add(stream.decompress(data[position : position + _SLICE], output.room))
        position += _SLICE
        if stream.eof:
            return min(position, len(data)) - len(stream.unused_data)
    return None


def _unbrotli(data: memoryview, output: _Output) -> bool:
    # The decoder fails if bytes follow the stream, and does not say where the stream ends. If it
    # fails, smaller and smaller steps find the end.
    start, stop, step = 0, len(data), len(data)
    while True:
        output.clear()
        stream = brotli.Decompressor()
        _feed_brotli(stream, data[:start], output)
        for position in range(start, stop, step):
            try:
                _feed_brotli(stream, data[position : position + step], output)
            except brotli.error:
                if step == 1:
                    raise
                start, stop = position, min(position + step, len(data))
                break
            if stream.is_finished():
                return True
        else:
            return False
        step = _BROTLI_STEP if step > _BROTLI_STEP else 1


def _feed_brotli(stream: brotli.Decompressor, data: memoryview, output: _Output) -> None:
    piece = stream.process(data, output_buffer_limit=_SLICE)
    while piece:
        output.add(piece)
        piece = b"" if stream.is_finished() else stream.process(b"", output_buffer_limit=_SLICE)


def _unzstd(data: memoryview, output: _Output) -> bool:
    position = 0
    for _ in range(_MAX_STREAMS):
        stream = zstd.ZstdDecompressor()
        while not stream.eof:
            if position >= len(data):
                return False
            output.add(stream.decompress(data[position : position + _SLICE], output.room))
            position += _SLICE
        position = min(position, len(data)) - len(stream.unused_data)
        magic = bytes(data[position : position + 4])
        if not magic or (not _ZSTD_MAGIC.startswith(magic) and magic[1:] != _ZSTD_SKIPPABLE_MAGIC):
            return True  # the end, or padding
    raise zstd.ZstdError("too many streams")


_UNPACKERS: dict[str, Callable[[memoryview, _Output], bool]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _undeflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
