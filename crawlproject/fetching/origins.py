"""Where a request goes, and the bytes that are sent.

A URL is sent as it is: path and query are not normalised, only what can't be part of a request line
is escaped. Headers are sent in the order and spelling in which Scrapy has them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from scrapy.exceptions import UnsupportedURLSchemeError

from crawlproject.urls.canonical import NotCrawlable, resolve

if TYPE_CHECKING:
    from scrapy import Request

    from crawlproject.fetching.connection import Connection

    Fields = tuple[tuple[bytes, bytes], ...]

# Origins that are remembered, with the headers that were sent there last.
_MAX_ORIGINS = 4096
_DEFAULT_PORTS = {"http": 80, "https": 443}
# A URL as the frontier has it: origin, path and query.
_PLAIN_URL = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]+)?)(/[!-\"$-~]*)")
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE_BREAK = re.compile(rb"[\r\n\0]")
# Methods that announce their body even if it is empty.
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# Headers that are not taken from the request: a proxy's, and ours.
_OWN = frozenset({b"Proxy-Authorization", b"Content-Length"})


class Origin:
    """A scheme, host and port, its idle connections, and the headers that were sent last."""

    __slots__ = ("_last", "host", "host_header", "idle", "is_tls", "local", "port")

    def __init__(self, url: str, local: tuple[str, int] | None = None) -> None:
        """Raises UnsupportedURLSchemeError."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise UnsupportedURLSchemeError(f"{url}: {error}") from None
        if not host or parts.scheme not in _DEFAULT_PORTS or port == 0:
            raise UnsupportedURLSchemeError(f"{url} has no host and port to connect to")
        default = _DEFAULT_PORTS[parts.scheme]
        self.is_tls = parts.scheme == "https"
        # As it is looked up and verified.
        self.host = host.rstrip(".")
        self.port = port or default
        # The address that connections are made from.
        self.local = local
        spelled = f"[{host}]" if ":" in host else host
        self.host_header = (spelled if self.port == default else f"{spelled}:{self.port}").encode()
        self.idle: list[Connection] = []
        self._last: tuple[dict[bytes, list[bytes]], Fields, bytes] | None = None

    def header_lines(self, headers: dict[bytes, list[bytes]]) -> tuple[Fields, bytes]:
        """Headers as they are sent to this origin, with Host. Raises ValueError."""
        # Nearly all requests to a host have the same.
        if self._last is None or self._last[0] != headers:
            # A copy: a middleware adds a value to the list that is there.
            kept = {name: list(values) for name, values in dict.items(headers)}
            fields = tuple(
                (name, value)
                for name, values in kept.items()
                for value in values
                if name not in _OWN
            )
            if b"Host" not in kept:
                fields = ((b"Host", self.host_header), *fields)
            self._last = kept, fields, _lines(fields)
        return self._last[1], self._last[2]


class Prepared(NamedTuple):
    origin: Origin
    # What is sent.
    data: bytes
    # The headers of it.
    fields: Fields


class Origins:
    def __init__(self, local: object = None) -> None:
        self._local = _local_address(local)
        self._origin = lru_cache(maxsize=_MAX_ORIGINS)(Origin)

    def prepare(self, request: Request) -> Prepared:
        """Raises UnsupportedURLSchemeError, and ValueError for a header that can't be sent."""
        local = _local_address(request.meta.get("bindaddress")) or self._local
        authorization = None
        if match := _PLAIN_URL.fullmatch(request.url):
            base, target = match[1], match[2]
        else:
            base, target, authorization = _split(request.url)
        origin = self._origin(base, local)
        fields, lines = origin.header_lines(request.headers)
        more: list[tuple[bytes, bytes]] = []
        if authorization and b"Authorization" not in request.headers:
            more.append((b"Authorization", authorization))
        body, method = request.body, request.method
        if body or method in _WITH_BODY:
            more.append((b"Content-Length", b"%d" % len(body)))
        if more:
            fields = (*fields, *more)
            lines += _lines(tuple(more))
        start = f"{method} {target} HTTP/1.1\r\n".encode()
        if method != "GET" and not _TOKEN.fullmatch(method.encode()):
            raise ValueError(f"{method!r} is not a method of HTTP")
        return Prepared(origin, b"%b%b\r\n%b" % (start, lines, body), fields)


def host_of_url(url: str) -> str:
    """Raises UnsupportedURLSchemeError."""
    return Origin(_split(url)[0]).host


def _split(url: str) -> tuple[str, str, bytes | None]:
    """Origin, path with query, and the value of Authorization for a URL with a password."""
    if not url.isascii():
        # A request of a spider's own, which must not follow another version of IDNA.
        try:
            url = resolve(url)
        except NotCrawlable as error:
            raise UnsupportedURLSchemeError(f"{url}: {error}") from None
    scheme, _, rest = url.partition("#")[0].partition("://")
    place, slash, path = rest.partition("/")
    place, mark, query = place.partition("?")
    if mark:
        # No slash between the host and the query.
        slash, path = "/", f"?{query}{slash}{path}"
    user, at, place = place.rpartition("@")
    authorization = b"Basic " + b64encode(unquote_to_bytes(user)) if at else None
    target = quote(f"/{path}", safe=_VISIBLE)
    return f"{scheme.lower()}://{place.lower()}", target, authorization


def _lines(fields: Fields) -> bytes:
    for name, value in fields:
        if not _TOKEN.fullmatch(name) or _LINE_BREAK.search(value):
            raise ValueError(f"header {name!r} can't be sent: a line break, or a bad name")
    return b"".join([b"%b: %b\r\n" % field for field in fields])


def _local_address(value: object) -> tuple[str, int] | None:
    """As Scrapy has it: an address, or an address and a port."""
    if not value:
        return None
    if isinstance(value, str):
        return value, 0
    if isinstance(value, bytes):
        return value.decode(), 0
    assert isinstance(value, tuple | list)
    host, port = value
    return (host.decode() if isinstance(host, bytes) else str(host)), int(port)
