"""Markup that a parser can read, of which elements and text are left. *Pure.*

Comments, processing instructions and document types are taken out. So no entity is ever
declared, and none can be looked up: neither a file nor a bomb.

What generators forget is put right: an ``&`` or a ``<`` that starts nothing is the character
(``?a=1&b=2``), and a name that only HTML knows (``&eacute;``) is the one it stands for. Other
names stand for what nobody knows: U+FFFD. Within CDATA nothing is touched.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from crawlproject.sitemaps.encoded import UNREADABLE
from crawlproject.sitemaps.hints import MOST_PARTS, Cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Attributes of one element. A parser takes two hundred bytes for each.
_MOST_ATTRIBUTES = 100_000

# What can't be left as it is. A name or a number that is longer than any starts nothing.
_TOKEN = re.compile(
    rb"<!--|<\?|<!\[CDATA\[|<!(?i:doctype)|<!|<(?![A-Za-z_:/\x80-\xff])|\]++>?+"
    rb"|&(?!(?:amp|lt|gt|quot|apos);)"
    rb"(?:#(?P<decimal>[0-9]{1,7});|#[xX](?P<hex>[0-9A-Fa-f]{1,6});"
    rb"|(?P<name>[A-Za-z_:][\w:.-]{0,30};))?"
)
_LONGEST_TOKEN = 33

# What a token opens, and where that ends. Within a document type, declarations are in brackets.
_CDATA, _DOCTYPE, _DECLARATIONS = b"<![CDATA[", b"<!DOCTYPE", b"["
_ENDS = {
    b"<!--": re.compile(rb"-->"),
    b"<?": re.compile(rb"\?>"),
    _CDATA: re.compile(rb"\]\]>"),
    _DOCTYPE: re.compile(rb"[\[>]"),
    _DECLARATIONS: re.compile(rb"\]"),
}
_BEGUN_END = re.compile(rb"[-?\]]")
_LONGEST_END = 3
_NEXT = {b"[": _DECLARATIONS, b"]": _DOCTYPE}

_is_character = re.compile("[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").fullmatch


def mended(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same markup, in other pieces, of whole characters if they are. Raises Cut."""
    mender = _Mender()
    for piece in pieces:
        yield mender.mend(piece)
    yield mender.mend(b"", is_end=True)


class _Mender:
    def __init__(self) -> None:
        # What can't be told before more of the text is known.
        self._rest = b""
        # What we are in, by the token that opened it.
        self._opened = b""
        self._tokens = 0
        # Since the last tag began.
        self._equals = 0

    def mend(self, piece: bytes, is_end: bool = False) -> bytes:
        text = self._rest + piece
        kept: list[bytes] = []
        place, is_known = 0, True
        while is_known and place < len(text):
            if self._opened:
                place, is_known = self._pass_through(text, place, kept)
                continue
            token = _TOKEN.search(text, place)
            start = token.start() if token else len(text)
            kept.append(text[place:start])
            place = start
            if token:
                is_known = is_end or start <= len(text) - _LONGEST_TOKEN
                if is_known:
                    kept.append(self._replacement(token))
                    place = token.end()
        self._rest = text[place:]
        result = b"".join(kept)
        self._count_attributes(result)
        return result

    def _pass_through(self, text: bytes, place: int, kept: list[bytes]) -> tuple[int, bool]:
        """To where that ends, or as far as it is seen; whether it ends."""
        end = _ENDS[self._opened].search(text, place)
        begun = None if end else _BEGUN_END.search(text, max(place, len(text) - _LONGEST_END + 1))
        until = end.end() if end else begun.start() if begun else len(text)
        if self._opened == _CDATA:
            kept.append(text[place:until])
            if not end:
                # A parser waits for its end, and there may be none.
                kept.append(b"]]>" + _CDATA)
        if end:
            self._count()
            self._opened = _NEXT.get(end[0], b"")
        return until, end is not None

    def _replacement(self, token: re.Match[bytes]) -> bytes:
        self._count()
        written = token[0]
        if written.upper() in _ENDS:
            self._opened = written.upper()
            return written if written == _CDATA else b""
        if digits := token["decimal"] or token["hex"]:
            code = int(digits, 10 if token["decimal"] else 16)
            is_character = code < 0x110000 and _is_character(chr(code))
            return b"&#%d;" % code if is_character else UNREADABLE.encode()
        if name := token["name"]:
            return escape(html5.get(name.decode(), UNREADABLE)).encode()
        return escape(written.decode()).encode()

    def _count(self) -> None:
        self._tokens += 1
        if self._tokens > MOST_PARTS:
            raise Cut(f"it has more than {MOST_PARTS:,} comments and entities")

    def _count_attributes(self, text: bytes) -> None:
        tag = text.rfind(b"<")
        if tag >= 0:
            self._equals = 0
        self._equals += text.count(b"=", max(tag, 0))
        if self._equals > _MOST_ATTRIBUTES:
            raise Cut(f"it has an element with more than {_MOST_ATTRIBUTES:,} attributes")
