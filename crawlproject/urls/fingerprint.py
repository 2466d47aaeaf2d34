"""When two requests are the same: the fingerprint of the canonical URL.

Settings read: ``URLS_TRACKING_PARAMS``, ``URLS_JOIN_SCHEMES``.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from crawlproject.urls.canonical import (
    DEFAULT_TRACKING_PARAMS,
    Canonicalizer,
    NotCrawlable,
    canonicalize,
)

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_DIGEST_BYTES = 20


def canonicalizer_from(settings: BaseSettings) -> Canonicalizer:
    """The canonicalizer that a project's settings ask for."""
    tracking_params = DEFAULT_TRACKING_PARAMS
    if settings.get("URLS_TRACKING_PARAMS") is not None:
        listed = settings.getlist("URLS_TRACKING_PARAMS")
        tracking_params = tuple(name for item in listed if (name := str(item).strip()))
    return Canonicalizer(tracking_params, join_schemes=settings.getbool("URLS_JOIN_SCHEMES"))


def identity(request: Request, canonicalizer: Canonicalizer = canonicalize) -> str:
    """The canonical URL; with the method and a digest of the body unless it is a plain GET.

    What is not crawlable (``data:``, ``s3:``) is identified by the URL as it is.
    """
    try:
        url = canonicalizer(request.url)
    except NotCrawlable:
        url = request.url
    if request.method == "GET" and not request.body:
        return url
    return f"{request.method} {url} {_digest(request.body).hex()}"


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


class CanonicalFingerprinter:
    """For ``REQUEST_FINGERPRINTER_CLASS``: requests for one canonical URL are the same."""

    def __init__(self, canonicalizer: Canonicalizer = canonicalize) -> None:
        self.canonicalizer = canonicalizer
        # Several components ask for the same request's fingerprint.
        self._known: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(canonicalizer_from(crawler.settings))

    def identity(self, request: Request) -> str:
        return identity(request, self.canonicalizer)

    def fingerprint(self, request: Request) -> bytes:
        known = self._known.get(request)
        if known is None:
            known = self._known[request] = _digest(self.identity(request).encode())
        return known
