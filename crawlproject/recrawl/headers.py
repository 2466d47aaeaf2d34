"""What the headers of an answer say of when to come back. *Pure.*"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlproject.moments import seconds_of
from crawlproject.recrawl.visit import Visit

if TYPE_CHECKING:
    # By name, as Scrapy writes them, and as its Headers keep them.
    Values = dict[bytes, list[bytes]]

# RFC 9110: quoted, and nothing in it that would end a header. Longer ones are nobody's.
_ETAG = re.compile(rb'(?:W/)?"[!#-~\x80-\xff]{0,1000}"')
_DIRECTIVE = re.compile(rb'([a-z-]+)(?:\s*=\s*"?([0-9]{1,10})"?)?', re.IGNORECASE)
# It has no use for what may come back as it is.
_DATE_CHARS = 64


def visit_of(headers: Values, at: float, reading: int = 0) -> Visit:
    """What an answer that came at a time says of itself."""
    modified = _one(headers, b"Last-Modified")[:_DATE_CHARS].decode("latin-1")
    modified_at = seconds_of(modified) if modified else None
    etag = _one(headers, b"Etag")
    return Visit(
        at,
        etag.decode("latin-1") if _ETAG.fullmatch(etag) else None,
        modified if modified_at is not None and modified.isprintable() else None,
        modified_at,
        _fresh_until(headers, at),
        reading,
    )


def conditions(etag: str | None, last_modified: str | None) -> dict[bytes, list[bytes]]:
    """The headers of a request for a page, unless it is still the one that said this."""
    headers: dict[bytes, list[bytes]] = {}
    if etag is not None:
        headers[b"If-None-Match"] = [etag.encode("latin-1")]
    if last_modified is not None:
        headers[b"If-Modified-Since"] = [last_modified.encode("latin-1")]
    return headers


def _fresh_until(headers: Values, at: float) -> float | None:
    directives = {
        name.lower(): value
        for line in dict.get(headers, b"Cache-Control", ())
        for name, value in _DIRECTIVE.findall(line)
    }
    if b"no-cache" in directives or b"no-store" in directives:
        return None
    if age := directives.get(b"max-age"):
        passed = _one(headers, b"Age")
        return at + int(age) - (int(passed) if passed.isdigit() and len(passed) < 10 else 0)
    expires = _one(headers, b"Expires")[:_DATE_CHARS]
    # By the server's own clock, if it tells.
    then, now = (
        seconds_of(value.decode("latin-1")) if value else None
        for value in (expires, _one(headers, b"Date")[:_DATE_CHARS])
    )
    return None if then is None else at + then - (at if now is None else now)


def _one(headers: Values, name: bytes) -> bytes:
    values = dict.get(headers, name)
    return values[-1].strip() if values else b""
