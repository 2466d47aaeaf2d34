"""What a robots.txt says to us.*

A parser builds the rules of all crawlers that the file names, and a file of a megabyte can
name so many that their rules fill the memory. One crawler needs its own only: the groups
with its product token (RFC 9309, 2.2.1), or else those for all.
"""

from __future__ import annotations

import re

_USER_AGENT = re.compile(r"\s*user(?:-|\s*)agent\s*(?::|\s|$)([^#]*)", re.IGNORECASE)
# Bytes that are no UTF-8, as Python carries them along.
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_PRODUCT = re.compile(r"[a-z_-]+")
_EVERYBODY = "*"
_NOBODY = "?"


def cut(body: bytes, most_bytes: int) -> bytes:
    """The lines that fit. Half a rule may allow more than the whole one."""
    if len(body) <= most_bytes:
        return body
    body = body[: most_bytes + 1]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r"), 0)]


def excerpt(body: bytes, token: str) -> str:
    """The same file, with the other crawlers' names left out."""
    text = body.decode("utf-8-sig", "surrogateescape")
    # A path in another encoding is asked for as these bytes, percent-encoded.
    lines = _STRAY_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text).splitlines()
    token = token.lower()
    names = [_name(line, token) for line in lines]
    ours = token if token in names else _EVERYBODY
    kept: list[str] = []
    for line, name in zip(lines, names, strict=True):
        if name is not None:
            line = f"User-agent: {ours if name == ours else _NOBODY}"
            if kept and kept[-1] == line:
                continue
        kept.append(line)
    return "\n".join(kept)


def _name(line: str, token: str) -> str | None:
    """Whom a line names: us by our token, everybody, nobody of interest. None: no crawler."""
    match = _USER_AGENT.match(line)
    if match is None:
        return None
    name = match[1].strip().lower()
    if name == _EVERYBODY:
        return _EVERYBODY
    return token if name and _product(name) == _product(token) else _NOBODY


def _product(name: str) -> str:
    """'acmebot' of 'acmebot/1.0' and of 'acmebot*'."""
    match = _PRODUCT.match(name)
    return match[0] if match else name
