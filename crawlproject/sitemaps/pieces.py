"""A body in pieces, unpacked. *Pure.*

Sitemaps are often gzip files, whatever their name and their content type say, and some are
packed once more on their way. However small a body is, not more is unpacked than a limit, and
never more than a piece at a time. A file that is damaged or ends too soon is unpacked up to
there, so a wrong checksum, which some have, costs nothing.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_GZIP = b"\x1f\x8b"
_AS_GZIP = zlib.MAX_WBITS | 16
_MOST_LAYERS = 2
# Files one after the other in one body: each has its cost, and may be empty.
_MOST_FILES = 1_000
# Bytes.
_PIECE = 65_536
_UNPACKED_PIECE = 8_192


class Pieces:
    """``problem`` says, when there are no more of them, why they end too soon, if they do."""

    def __init__(self, body: bytes, most_bytes: int) -> None:
        self._body = body
        self._most_bytes = most_bytes
        self.problem: str | None = None

    def __iter__(self) -> Iterator[bytes]:
        slices = (self._body[start : start + _PIECE] for start in range(0, len(self._body), _PIECE))
        pieces = self._bounded(slices)
        for layer in range(_MOST_LAYERS + 1):
            first = next(pieces, b"")
            pieces = chain((first,), pieces)
            if not first.startswith(_GZIP):
                break
            if layer == _MOST_LAYERS:
                self.problem = f"it is packed more than {_MOST_LAYERS} times"
                return
            # What a layer unpacks to is bounded at each: it may be what the next makes nothing of.
            pieces = self._bounded(self._unpacked(pieces))
        yield from filter(None, pieces)

    def _bounded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        room = self._most_bytes
        for piece in pieces:
            if len(piece) > room:
                self.problem = f"it has more than {self._most_bytes:,} bytes"
                yield piece[:room]
                return
            room -= len(piece)
            yield piece

    def _unpacked(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        files, file = 1, zlib.decompressobj(_AS_GZIP)
        for data in packed:
            is_read = False
            while not is_read:
                if file.eof:
                    if not _GZIP.startswith(data[:2]):
                        return  # as other programs do: what follows is padding
                    if files == _MOST_FILES:
                        self.problem = f"it is more than {_MOST_FILES:,} gzip files"
                        return
                    files, file = files + 1, zlib.decompressobj(_AS_GZIP)
                before = file.copy()
                try:
                    piece = file.decompress(data, _UNPACKED_PIECE)
                except zlib.error:
                    self.problem = "it is damaged gzip"
                    yield _as_far_as_it_goes(before, data)
                    return
                if piece:
                    yield piece
                data = file.unused_data or file.unconsumed_tail
                # What was taken in may still have to come out.
                is_read = not data and (file.eof or len(piece) < _UNPACKED_PIECE)
        if not file.eof and self.problem is None:
            self.problem = "it is gzip that ends too soon"


def _as_far_as_it_goes(file: zlib._Decompress, data: bytes) -> bytes:
    """What comes out before the damage, which zlib does not tell when it finds it."""
    found = bytearray()
    with suppress(zlib.error):
        for place in range(len(data)):
            found += file.decompress(data[place : place + 1], _UNPACKED_PIECE)
    return bytes(found)
