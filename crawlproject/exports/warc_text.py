"""What is said in the records of a WARC, by what is kept of an answer. *Pure.*

Bodies are kept as they are after decoding. So that any reader gets them right, the headers
that speak of their encoding are renamed, as other archivists do: ``X-Archive-Orig-…``.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from crawlproject.exports.lastmod import w3c_milliseconds
from crawlproject.records import encodable

Pairs = list[tuple[str, str]]

_ORIGINAL = "X-Archive-Orig-"
# They would end a header, or a record.
_BREAKS = re.compile(r"[\r\n\0]+")
# Readers know no others; which one it was is of no use to them.
_VERSIONS = frozenset({"HTTP/1.0", "HTTP/1.1"})
# Of a page, and how Heritrix and others call them.
_FIELDS = (
    ("referrer", "via"),
    ("depth", "depth"),
    ("fetch_ms", "fetchTimeMs"),
    ("error", "error"),
    ("title", "title"),
    ("language", "language"),
    ("canonical", "canonical"),
)


def record_id(*parts: object) -> str:
    """The same for the same record: writing it again gives the same bytes."""
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, chr(10).join(map(str, parts)))}>"


def date_of(*moments: object) -> str:
    """The first moment that is one, as WARC writes it."""
    found = (w3c_milliseconds(moment) for moment in moments if isinstance(moment, str))
    return next((moment for moment in found if moment), "1970-01-01T00:00:00Z")


def status_line(stored: dict[str, Any]) -> tuple[str, str]:
    """The version of HTTP; the status and its words."""
    status = int(stored["status"])
    reason = stored.get("reason")
    if reason is None:
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = ""
    version = stored.get("http_version")
    return version if version in _VERSIONS else "HTTP/1.1", f"{status} {_line(reason)}".rstrip()


def request_line(stored: dict[str, Any]) -> str:
    parts = urlsplit(stored["url"])
    query = f"?{parts.query}" if parts.query else ""
    return _line(f"{stored['method']} {parts.path or '/'}{query} HTTP/1.1")


def request_headers(stored: dict[str, Any]) -> Pairs:
    return [(_line(name), _line(value)) for name, value in stored["request_headers"]]


def response_headers(stored: dict[str, Any], length: int) -> Pairs:
    """The headers of an answer whose body is ``length`` bytes in the archive."""
    pairs: Pairs = []
    left = stored.get("content_encoding")
    is_told = False
    for name, value in stored["response_headers"]:
        kind = name.lower()
        is_length = kind == "content-length" and value.strip() == str(length) and not is_told
        is_left = kind == "content-encoding" and left == value.strip().lower()
        is_true = is_length or is_left
        if kind in {"content-length", "content-encoding", "transfer-encoding"} and not is_true:
            name = f"{_ORIGINAL}{name}"
        is_told = is_told or is_length
        left = None if is_left else left
        pairs.append((_line(name), _line(value)))
    if left:
        pairs.append(("Content-Encoding", _line(left)))
    if not is_told:
        pairs.append(("Content-Length", str(length)))
    return pairs


def metadata(page: dict[str, Any], more: dict[str, object]) -> bytes:
    """What is known of a page besides its answer, as ``application/warc-fields``."""
    fields = [(name, page.get(field)) for field, name in _FIELDS]
    fields += [("redirectedFrom", url) for url in page.get("redirected_from") or ()]
    fields += more.items()
    # What scripts have made of a page is not what the server sent: an archivist wants to know.
    fields += [("rendered", "true")] if page.get("rendered") else []
    lines = (f"{name}: {_line(str(value))}\r\n" for name, value in fields if value is not None)
    return encodable("".join(lines)).encode()


def _line(text: str) -> str:
    return _BREAKS.sub(" ", text)
