"""Scrapy's duplicate filter, by canonical URL: the one place that decides what a duplicate is.

With our scheduler the filter asks the frontier, which knows the URLs of all runs. With any other
scheduler it keeps fingerprints in memory.

Settings read: ``DUPEFILTER_DEBUG`` and, through the fingerprinter, ``URLS_*``.
Stats: ``dupefilter/filtered``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import RequestFingerprinter, referer_str

from crawlproject.urls.fingerprint import CanonicalFingerprinter, canonicalizer_from, identity

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

    from crawlproject.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)


class CanonicalDupeFilter(BaseDupeFilter):
    """For ``DUPEFILTER_CLASS``, in any project.

    A project with a fingerprinter of its own keeps it; Scrapy's default one gives way to
    the canonical one, or the filter would not do what its name says.
    """

    def __init__(
        self,
        fingerprinter: RequestFingerprinterProtocol,
        canonicalizer: Canonicalizer,
        debug: bool = False,
    ) -> None:
        self.fingerprinter = fingerprinter
        self._canonicalizer = canonicalizer
        self._debug = debug
        self._seen: set[str] = set()
        self._is_known: Callable[[str, int], bool] | None = None
        # Whether the fingerprint says more than the identity that the frontier knows.
        self._has_own_fingerprints = not isinstance(fingerprinter, CanonicalFingerprinter) or (
            type(self).request_fingerprint is not CanonicalDupeFilter.request_fingerprint
        )
        self._first_logged = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        fingerprinter = crawler.request_fingerprinter
        if fingerprinter is None or type(fingerprinter) is RequestFingerprinter:
            fingerprinter = CanonicalFingerprinter.from_crawler(crawler)
        canonicalizer = canonicalizer_from(crawler.settings)
        return cls(fingerprinter, canonicalizer, crawler.settings.getbool("DUPEFILTER_DEBUG"))

    def use(self, is_known: Callable[[str, int], bool]) -> None:
        """Ask a frontier from now on whether a request with this identity, at this depth, is one
        that it has.
        """
        self._is_known = is_known

    def identity(self, request: Request) -> str:
        """What requests have in common that are the same: the canonical URL of a plain GET."""
        return identity(request, self._canonicalizer)

    def request_seen(self, request: Request) -> bool:
        if self._is_known is None:
            return self._is_remembered(request)
        if self._is_known(self.identity(request), request.meta.get("depth", 0)):
            return True
        return self._has_own_fingerprints and self._is_remembered(request)

    def request_fingerprint(self, request: Request) -> str:
        """As in Scrapy's filter, for subclasses: requests with the same string are duplicates."""
        return self.fingerprinter.fingerprint(request).hex()

    def _is_remembered(self, request: Request) -> bool:
        fingerprint = self.request_fingerprint(request)
        if fingerprint in self._seen:
            return True
        self._seen.add(fingerprint)
        return False

    def close(self, reason: str) -> None:
        self._seen.clear()

    def log(self, request: Request, spider: Spider) -> None:
        if self._debug:
            logger.debug(
                "Duplicate request dropped: %s (referer: %s)",
                request,
                referer_str(request),
                extra={"spider": spider},
            )
        elif not self._first_logged:
            self._first_logged = True
            logger.debug(
                "Duplicate request dropped: %s (the first; set DUPEFILTER_DEBUG to see each)",
                request,
                extra={"spider": spider},
            )
        spider.crawler.stats.inc_value("dupefilter/filtered")
