"""HTTP authentication for exactly the origins that it is meant for.

Scrapy's middleware compares ``HTTPAUTH_DOMAIN`` with the host and port of a request: a domain
includes its subdomains, and http as well as https. Here the value may also be an origin, or several
with spaces between: ``https://staging.example:8443``. Then scheme, host and port must be the same.
That is what the seeds' origins are, where the user says nothing (``spiders/arguments.py``).

Settings read: ``HTTPAUTH_USER``, ``HTTPAUTH_PASS``, ``HTTPAUTH_DOMAIN``. Meta keys read, as Scrapy
has them: ``http_user``, ``http_pass``, ``http_auth_domain``; and ``without_credentials``, of a
request that a page of another origin has asked for. A request with an ``Authorization`` header of
its own is left as it is. The header is added last before the download, and removed when the
response is there: no retry, redirect or cache writes it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from w3lib.http import basic_auth_header

from crawlproject.errors import BadArgument
from crawlproject.urls.canonical import NotCrawlable, canonicalize, origin_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response


WITHOUT_CREDENTIALS = "without_credentials"


class OriginAuth(HttpAuthMiddleware):
    # Of Scrapy's: what it sends, and for which domain. There is no other way to know them.
    _auth: bytes | None
    _domain: str | None
    _origins: frozenset[str] | None = None

    def __init__(self) -> None:
        super().__init__()
        # Requests on the wire that have the header from here.
        self._added: WeakSet[Request] = WeakSet()

    def spider_opened(self, spider: Spider) -> None:
        super().spider_opened(spider)
        self._origins = origins_from("HTTPAUTH_DOMAIN", self._domain)

    # Without the argument that Scrapy has no more use for, and warns of.
    def process_request(self, request: Request) -> None:  # type: ignore[override]
        if b"Authorization" in request.headers:
            return
        self._add(request)
        if b"Authorization" in request.headers:
            self._added.add(request)

    def process_response(self, request: Request, response: Response) -> Response:
        self._remove(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self._remove(request)

    def _remove(self, request: Request) -> None:
        if request in self._added:
            self._added.discard(request)
            request.headers.pop(b"Authorization", None)

    def _add(self, request: Request) -> None:
        meta = request.meta
        if "http_user" in meta or "http_pass" in meta:
            self._add_own(request)
        elif self._auth is None or WITHOUT_CREDENTIALS in meta:
            return
        elif self._origins is None:
            super().process_request(request)
        elif origin_of_request(request) in self._origins:
            request.headers[b"Authorization"] = self._auth

    def _add_own(self, request: Request) -> None:
        meta = request.meta
        origins = origins_from("http_auth_domain", meta.get("http_auth_domain"))
        if origins is None:
            super().process_request(request)
        elif origin_of_request(request) in origins:
            user, password = meta.get("http_user", ""), meta.get("http_pass", "")
            request.headers[b"Authorization"] = basic_auth_header(user, password)


def origins_from(name: str, value: object) -> frozenset[str] | None:
    """The origins that a HTTPAUTH_DOMAIN names; None: it is a domain. Raises BadArgument."""
    words = str(value or "").replace(",", " ").split()
    if not any("://" in word for word in words):
        return None
    origins = set()
    for word in words:
        try:
            origins.add(origin_of(canonicalize(word)))
        except NotCrawlable:
            raise BadArgument(
                name,
                f"{word!r} is not an origin such as https://staging.example:8443 (a domain such as "
                "staging.example stands alone)",
            ) from None
    return frozenset(origins)


def origin_of_request(request: Request) -> str | None:
    try:
        return origin_of(canonicalize(request.url))
    except NotCrawlable:
        return None
