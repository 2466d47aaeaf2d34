"""The charset of a page, told as browsers tell it. *Pure.*

By the HTML and Encoding standards: a byte order mark, else the header, else a ``<meta>`` or
an XML declaration. A name counts if browsers know it, and means what it means to them:
``iso-8859-1`` is windows-1252, ``gb2312`` is gb18030, UTF-16 in a ``<meta>`` is UTF-8, and
UTF-7 is nothing at all. What is not declared is UTF-8 if it can be, else a guess. Bytes that
are no text become U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import webencodings
from charset_normalizer import from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webencodings import Encoding

UTF_8 = webencodings.UTF8
_WINDOWS_1252 = webencodings.lookup("windows-1252")
_UTF_16_LE, _UTF_16_BE = webencodings.lookup("utf-16le"), webencodings.lookup("utf-16be")
_BOMS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, _UTF_16_LE),
    (codecs.BOM_UTF16_BE, _UTF_16_BE),
)
# Of charsets that can hide markup, browsers show this instead of the page.
_REPLACEMENT = "\ufffd".encode()

# Bytes of a page in UTF-8 that was in another charset: as many as a body may have by default.
MAX_BYTES = 32 * 1024 * 1024
# Bytes that are recoded at once.
_LARGE = 1024 * 1024

# Bytes of a Content-Type; the usual ones are remembered.
_HEADER_LENGTH = 200
# Where a page declares its charset, if it does. Most do within the first kilobyte.
_SCANNED = 65_536
_FIRST_SCANNED = 1_024
_LABEL = rb"""charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;,"']++))"""
_IN_HEADER = re.compile(rb"(?:^|;)\s*+" + _LABEL, re.IGNORECASE)
_IN_CONTENT = re.compile(_LABEL, re.IGNORECASE)
_IN_XML = re.compile(rb"""\s*+<\?xml\s[^>]*?\bencoding\s*+=\s*+["']\s*+([^"'>\s]++)""")
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_ATTRIBUTES = re.compile(
    rb"""([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+"""
)
# What begins and never ends, ends with the page.
_META = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|title|textarea)(?=[\s/>]).*?(?:</\1|\Z)"
    rb"|<meta(?=[\s/])(?P<meta>(?:%b)*+)|</?[a-z][^\s/>]*+(?:%b)*+" % (_ATTRIBUTE, _ATTRIBUTE),
    re.IGNORECASE | re.DOTALL,
)
# The start of markup in UTF-16: every other byte is NUL.
_UTF_16_MARKUP = re.compile(
    rb"(?P<little>(?:\s\x00){0,64}+<\x00[!?a-zA-Z]\x00)|(?:\x00\s){0,64}+\x00<\x00[!?a-zA-Z]"
)

# Of a page that declares nothing, this much is looked at, from the first byte that is no ASCII.
_SAMPLE = 16_384
# Good characters for each bad one that UTF-8 may have.
_FAIR_SHARE = 10
# What pages without a declaration are in: those that browsers tell by looking. Fewer choices
# make better guesses, for a tenth of the time.
_GUESSES = {
    "cp1252": "windows-1252",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "gb18030": "gb18030",
    "big5": "big5",
    "cp949": "euc-kr",
    "cp1251": "windows-1251",
    "koi8_r": "koi8-r",
    "cp1250": "windows-1250",
    "cp1253": "windows-1253",
    "cp1255": "windows-1255",
}


def utf8(body: bytes, content_type: bytes) -> bytes:
    """A page in UTF-8, without a byte order mark. What is in UTF-8 is not copied or checked.

    A body of another charset may become three times as long: beyond the longer of MAX_BYTES and
    the body itself, it is cut.
    """
    encoding = encoding_of(body, content_type)
    for mark, marked in _BOMS:
        if marked is encoding and body.startswith(mark):
            return _recoded(body[len(mark) :], encoding)
    return _recoded(body, encoding)


def encoding_of(body: bytes, content_type: bytes) -> Encoding:
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return encoding
    return _in_header(content_type[:_HEADER_LENGTH]) or _in_body(body) or _guessed(body)


def _recoded(body: bytes, encoding: Encoding) -> bytes:
    if encoding is UTF_8:
        return body
    if encoding.name == "replacement":
        return _REPLACEMENT
    if len(body) > _LARGE:
        return _recoded_in_part(body, encoding)
    if encoding.name == "gbk":
        text = body.decode("gb18030", "replace")
    else:
        text, _ = encoding.codec_info.decode(body, "replace")
    return text.encode(errors="replace")


def _recoded_in_part(body: bytes, encoding: Encoding) -> bytes:
    """A large body, piece by piece: as text it would take up to four bytes a character."""
    info = codecs.lookup("gb18030") if encoding.name == "gbk" else encoding.codec_info
    assert info.incrementaldecoder is not None
    decoder = info.incrementaldecoder("replace")
    most, recoded = max(MAX_BYTES, len(body)), bytearray()
    for start in range(0, len(body), _LARGE):
        piece = decoder.decode(body[start : start + _LARGE], start + _LARGE >= len(body))
        recoded += piece.encode(errors="replace")
        if len(recoded) > most:
            del recoded[most:]
            break
    return bytes(recoded)


@lru_cache(maxsize=256)
def _in_header(content_type: bytes) -> Encoding | None:
    found = _IN_HEADER.search(content_type)
    return webencodings.lookup(_label(found)) if found else None


def _in_body(body: bytes) -> Encoding | None:
    for label in _labels(body):
        if (encoding := webencodings.lookup(label)) is not None:
            # Who can read it knows that it is none of these.
            if encoding in (_UTF_16_LE, _UTF_16_BE):
                return UTF_8
            return _WINDOWS_1252 if encoding.name == "x-user-defined" else encoding
    return None


def _labels(body: bytes) -> Iterator[str]:
    """The charsets that a page names, the one that counts first."""
    scanned = body[:_SCANNED]
    # A search is cheaper than to read the tags, and most names come early.
    if b"charset" in scanned[:_FIRST_SCANNED] or b"charset" in scanned.lower():
        for tag in _META.finditer(scanned):
            if (written := tag["meta"]) and (label := _in_meta(written)):
                yield label
    if declaration := _IN_XML.match(scanned):
        yield declaration[1].decode("latin-1")


def _in_meta(written: bytes) -> str | None:
    attributes: dict[bytes, bytes] = {}
    for name, *values in _ATTRIBUTES.findall(written):
        attributes.setdefault(name.lower(), b"".join(values))
    if b"charset" in attributes:
        return attributes[b"charset"].decode("latin-1")
    if attributes.get(b"http-equiv", b"").strip().lower() == b"content-type":
        found = _IN_CONTENT.search(attributes.get(b"content", b""))
        return _label(found) if found else None
    return None


def _label(found: re.Match[bytes]) -> str:
    return b"".join(filter(None, found.groups())).decode("latin-1")


def _guessed(body: bytes) -> Encoding:
    if found := _UTF_16_MARKUP.match(body):
        return _UTF_16_LE if found["little"] else _UTF_16_BE
    if body.isascii():
        return UTF_8
    sample = _sample(body)
    text = sample.decode(errors="replace")
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    if good >= bad * _FAIR_SHARE:
        return UTF_8
    matches = from_bytes(sample, cp_isolation=list(_GUESSES))
    best = matches.best()
    # Between two for the Latin script, the one that most pages without a declaration are in.
    if best is None or (
        best.encoding == "cp1250"
        and any("cp1252" in match.could_be_from_charset for match in matches)
    ):
        return _WINDOWS_1252
    return webencodings.lookup(_GUESSES[best.encoding]) or _WINDOWS_1252


def _sample(body: bytes) -> bytes:
    """The part of a page that tells its charset, with no character cut in two."""
    try:
        body.decode("ascii")
        start = 0
    except UnicodeDecodeError as error:
        start = error.start
    sample = body[start : start + _SAMPLE]
    if start + _SAMPLE < len(body):
        # In no charset a '<' is part of another character.
        return sample[: sample.rfind(b"<")] or sample
    return sample
