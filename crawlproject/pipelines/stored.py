"""What is stored of a response beside its page: a row of the table ``stored``.

| key | meaning |
|---|---|
| ``url``, ``method`` | of the request: the page's URL, or another spelling of it |
| ``status``, ``reason``, ``http_version`` | the status line |
| ``request_headers`` | as sent: pairs in their order, without credentials and cookies |
| ``response_headers`` | as received: pairs in their order, decoded as latin-1 |
| ``content_hash`` | SHA-256 of the body, after decoding; null: no body is stored |
| ``content_type``, ``etag``, ``last_modified`` | the headers |
| ``content_encoding`` | what the body is still encoded with, after decoding; null: nothing |
| ``body_bytes``, ``stored_bytes`` | size of the body, decoded and as stored |
| ``store`` | null: in the crawl directory; else the STORE_URI |
| ``crawled_at``, ``ip_address``, ``error`` | as in the page; of the server; as in the page |
"""

from __future__ import annotations

import sqlite3
from types import NoneType
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.leases import ON_THE_WIRE, Wire
from crawlproject.redaction import SECRETS, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Headers, Response

    from crawlproject.items import Page

Stored = dict[str, Any]
Pairs = list[list[str]]

_HEADERS = ("request_headers", "response_headers")
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("url", "method"), (str,)),
    **dict.fromkeys(("status", "body_bytes"), (int,)),
    **dict.fromkeys(_HEADERS, (list,)),
    **dict.fromkeys(
        (
            *("reason", "http_version", "content_hash", "content_type", "content_encoding"),
            *("etag", "last_modified", "store", "crawled_at", "ip_address", "error"),
        ),
        (str, NoneType),
    ),
    "stored_bytes": (int, NoneType),
}


def stored_answer(page: Page, response: Response) -> Stored:
    """The row of a response, without its body."""
    request = response.request
    wire = None if request is None else request.meta.get(ON_THE_WIRE)
    if isinstance(wire, Wire):
        received = [[_text(name), _text(value)] for name, value in wire.response_headers]
        sent = [[_text(name), _text(value)] for name, value in wire.request_headers]
        reason = wire.reason
    else:
        # Fetched by another download handler: a browser, or a function of the caller.
        received = _pairs(response.headers)
        sent = [] if request is None else _pairs(request.headers)
        reason = None
    return {
        "url": response.url,
        "method": "GET" if request is None else request.method,
        "status": response.status,
        "reason": reason,
        "http_version": response.protocol,
        # Archives are shared, and must not contain credentials.
        "request_headers": [
            pair for pair in sent if not is_secret(pair[0]) and SECRETS.clean(pair[1]) == pair[1]
        ],
        "response_headers": received,
        "content_hash": None,
        "content_type": header(received, "content-type"),
        "etag": header(received, "etag"),
        "last_modified": header(received, "last-modified"),
        "content_encoding": _text(b", ".join(_left(response))) or None,
        "body_bytes": len(response.body),
        "stored_bytes": None,
        "store": None,
        "crawled_at": page.fetched_at,
        "ip_address": None if response.ip_address is None else str(response.ip_address),
        "error": page.error,
    }


def checked(stored: Stored) -> Stored:
    """Validate a row of an untrusted crawl directory. Raises sqlite3.DatabaseError."""
    for name, kinds in _KINDS.items():
        value = stored.get(name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise sqlite3.DatabaseError(
                f"{name} of a stored answer is not one of ours: {str(value)[:50]!r}"
            )
    for name in _HEADERS:
        for pair in stored[name]:
            if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair))):
                raise sqlite3.DatabaseError(
                    f"{name} of a stored answer has no such header: {str(pair)[:50]!r}"
                )
    return stored


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def header(pairs: Iterable[list[str]], name: str) -> str | None:
    """The last header of a name."""
    values = [value for written, value in pairs if written.lower() == name]
    return values[-1] if values else None


def _left(response: Response) -> list[bytes]:
    """Encodings that HttpCompressionMiddleware could not decode."""
    return [value for value in response.headers.getlist("Content-Encoding") if value]


def _pairs(headers: Headers) -> Pairs:
    return [[_text(name), _text(value)] for name, values in headers.items() for value in values]


def _text(value: bytes) -> str:
    return value.decode("latin-1")
