"""Pieces of a text in UTF-8. *Pure.*

The charset is told as for pages (``urls/charset.py``), but an XML declaration is not
overruled by a ``<meta>`` that a feed quotes. What is no text becomes U+FFFD; control
characters and a byte order mark are left out.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import webencodings

from crawlproject.urls.charset import encoding_of

if TYPE_CHECKING:
    from collections.abc import Iterator

UNREADABLE = "\ufffd"

_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r")
# Characters that UTF-8 can write and XML forbids.
_NONCHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_DECLARATION = re.compile(rb"\s*+<\?xml\s[^>]*+>")


def in_utf8(pieces: Iterator[bytes], content_type: str) -> Iterator[bytes]:
    first = next(pieces, b"")
    declaration = _DECLARATION.match(first)
    is_declared = declaration is not None and b"encoding" in declaration[0]
    encoding = encoding_of(
        declaration[0] if declaration and is_declared else first,
        content_type.encode("latin-1", "replace"),
    )
    decoder = webencodings.IncrementalDecoder(encoding)
    for piece in chain((first,), pieces):
        yield _cleaned(decoder.decode(piece))
    yield _cleaned(decoder.decode(b"", final=True))


def _cleaned(text: str) -> bytes:
    data = text.encode(errors="replace").translate(None, _CONTROLS)
    for character in _NONCHARACTERS:
        data = data.replace(character, UNREADABLE.encode())
    return data
