"""Rewrite a response head that a strict parser refuses, as browsers and curl understand it. *Pure.*

| in the head | becomes |
|---|---|
| lines that end with LF alone | lines that end with CRLF |
| a header without a colon, or with an empty or non-ASCII name | dropped |
| a space before the colon | no space |
| a value continued on the next line | one line |
| CR or another control character in a value | a space; NUL is an error |
| the same ``Content-Length`` several times | one; different ones are an error |
| a ``Content-Length`` that is not a number | dropped: the body ends with the connection |
| ``Content-Length`` beside ``Transfer-Encoding`` | dropped; the connection is not reused |
| ``Transfer-Encoding: identity`` | dropped |
"""

from __future__ import annotations

import re

from crawlproject.failures import NotHttp

_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9])[ \t]+([0-9]{3})(?:[ \t]+(.*))?")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(rb"[\x01-\x08\x0a-\x1f\x7f]")
# Digits of a length that llhttp can count. A longer one is over every limit.
_MAX_DIGITS = 18
_CHUNKED = b"chunked"


def repair_head(raw: bytes) -> tuple[bytes, bool]:
    """The head in strict HTTP/1.x, and whether its connection must not be reused.

    Raises NotHttp.
    """
    if b"\0" in raw:
        raise NotHttp("NUL in the response head")
    first, *lines = [line.removesuffix(b"\r") for line in raw.rstrip(b"\r\n").split(b"\n")]
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        raise NotHttp("bad status line")
    version = b"0" if status[1] == b"0" else b"1"
    reason = _CONTROL.sub(b" ", status[3] or b"")
    fields: list[tuple[bytes, bytes]] = []
    lengths: list[bytes] = []
    encodings: list[bytes] = []
    for name, value in _fields(lines):
        kind = name.lower()
        if kind == b"content-length":
            lengths += [length.strip() for length in value.split(b",")]
        elif kind == b"transfer-encoding":
            encodings += [encoding.strip().lower() for encoding in value.split(b",")]
        else:
            fields.append((name, value))
    length = _length(lengths)
    encodings = [encoding for encoding in encodings if encoding not in {b"", b"identity"}]
    if encodings:
        if _CHUNKED in encodings:
            # It frames the body, wherever and however often it is named.
            encodings = [one for one in encodings if one != _CHUNKED] + [_CHUNKED]
        fields.append((b"Transfer-Encoding", b", ".join(encodings)))
    elif length is not None:
        fields.append((b"Content-Length", length))
    head = b"HTTP/1.%b %b %b\r\n" % (version, status[2], reason)
    head += b"".join([b"%b: %b\r\n" % field for field in fields]) + b"\r\n"
    return head, bool(encodings and lengths)


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, bytes]] = []
    is_dropped = True
    for line in lines:
        text = _CONTROL.sub(b" ", line)
        if text[:1] in (b" ", b"\t"):
            if not is_dropped:
                name, value = fields[-1]
                fields[-1] = name, (value + b" " + text.strip(b" \t")).strip(b" \t")
            continue
        name, colon, value = text.partition(b":")
        name = name.rstrip(b" \t")
        is_dropped = not colon or _TOKEN.fullmatch(name) is None
        if not is_dropped:
            fields.append((name, value.strip(b" \t")))
    return fields


def _length(lengths: list[bytes]) -> bytes | None:
    numbers = {length.lstrip(b"0") or b"0" for length in lengths if length.isdigit()}
    if len(numbers) > 1:
        raise NotHttp("different Content-Length headers")
    if not numbers or not all(length.isdigit() for length in lengths):
        return None
    number = numbers.pop()
    return number if len(number) <= _MAX_DIGITS else b"9" * _MAX_DIGITS
