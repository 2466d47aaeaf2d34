"""Rewrite a response head that a strict parser refuses, as browsers and curl understand it. *Pure.*

| in the head | becomes |
|---|---|
| ``http/1.1 200 ok``, ``HTTP/1.1 200OK``, ``HTTP/1 200``, ``HTTP/2 200`` | a strict status line |
| lines that end with LF alone | lines that end with CRLF |
| a header without a colon, or with an empty or non-ASCII name | dropped |
| a space before the colon | no space |
| a value continued on the next line | one line |
| CR or another control character in a value | a space |
| the same ``Content-Length`` several times | one; different ones are an error |
| a ``Content-Length`` that is not a number | dropped: the body ends with the connection |
| a ``Content-Length`` of 2⁶³ or more | the same |
| an unknown word in ``Transfer-Encoding`` | dropped; the connection is not reused |
| ``Transfer-Encoding: identity`` | dropped |
| ``Content-Length`` beside ``chunked`` | dropped; the connection is not reused |
| ``Content-Length`` beside another coding | ``length``; the connection is not reused |
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crawlproject.failures import NotHttp
from crawlproject.fetching.decoding import is_coding

TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_STATUS_LINE = re.compile(
    rb"HTTP/(0\.9|1(?:\.[0-9]+)?|2(?:\.0)?)[ \t]+([0-9]{3})(?![0-9])[ \t]*(.*)", re.IGNORECASE
)
_VERSIONS = {b"0.9": b"0.9", b"1": b"1.0", b"1.0": b"1.0", b"2": b"2.0", b"2.0": b"2.0"}
_CONTROL = re.compile(rb"[\x01-\x08\x0a-\x1f\x7f]")
# Digits of the largest length, which is that of browsers.
_MAX_DIGITS = 19
_MAX_LENGTH = 2**63 - 1
_CHUNKED = "chunked"


class RepairedHead(NamedTuple):
    """A head in strict HTTP/1.x."""

    data: bytes
    # The Content-Length beside transfer codings, which strict parsers refuse.
    length: int | None
    # Whether the end of the body is doubtful, so that the connection must not be reused.
    is_doubtful: bool


def repair_head(raw: bytes) -> RepairedHead:
    """Raises NotHttp."""
    if b"\0" in raw:
        raise NotHttp("NUL in the response head")
    first, *lines = [line.removesuffix(b"\r") for line in raw.rstrip(b"\r\n").split(b"\n")]
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        raise NotHttp("bad status line")
    fields: list[tuple[bytes, bytes]] = []
    lengths: list[bytes] = []
    words: list[str] = []
    for name, value in _fields(lines):
        kind = name.lower()
        if kind == b"content-length":
            lengths += [length.strip() for length in value.split(b",")]
        elif kind == b"transfer-encoding":
            words += [word.strip().lower() for word in value.decode("latin-1").split(",")]
        else:
            fields.append((name, value))
    codings = [word for word in words if is_coding(word)]
    # It frames the body, wherever and however often it is named.
    is_chunked = _CHUNKED in words
    length = None if is_chunked else _common_length(lengths)
    if codings or is_chunked:
        names = [*codings, _CHUNKED] if is_chunked else codings
        fields.append((b"Transfer-Encoding", ", ".join(names).encode()))
    elif length is not None:
        fields.append((b"Content-Length", b"%d" % length))
    known = {*codings, _CHUNKED, "identity", ""}
    version = _VERSIONS.get(status[1], b"1.1")
    start = b"HTTP/%b %b %b\r\n" % (version, status[2], _CONTROL.sub(b" ", status[3]))
    return RepairedHead(
        start + b"".join([b"%b: %b\r\n" % field for field in fields]) + b"\r\n",
        length,
        is_doubtful=bool((codings or is_chunked) and lengths) or not known.issuperset(words),
    )


def parse_length(digits: bytes) -> int | None:
    """The number. None: it is too large to be a length, and browsers and curl ignore it."""
    if len(digits) > _MAX_DIGITS:
        digits = digits.lstrip(b"0") or b"0"
    number = int(digits[: _MAX_DIGITS + 1])
    return number if number <= _MAX_LENGTH else None


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, list[bytes]]] = []
    is_dropped = True
    for line in lines:
        text = _CONTROL.sub(b" ", line)
        if text[:1] in (b" ", b"\t"):
            if not is_dropped:
                fields[-1][1].append(text.strip(b" \t"))
            continue
        name, colon, value = text.partition(b":")
        name = name.rstrip(b" \t")
        is_dropped = not colon or TOKEN.fullmatch(name) is None
        if not is_dropped:
            fields.append((name, [value.strip(b" \t")]))
    return [(name, b" ".join(filter(None, values))) for name, values in fields]


def _common_length(lengths: list[bytes]) -> int | None:
    """The one length that all values have. None: there is none, or one is not a number."""
    numbers = {parse_length(length) for length in lengths if length.isdigit()}
    if len(numbers) > 1:
        raise NotHttp("different Content-Length headers")
    if not numbers or not all(length.isdigit() for length in lengths):
        return None
    return numbers.pop()
