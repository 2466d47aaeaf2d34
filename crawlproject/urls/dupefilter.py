"""Scrapy's filter of duplicate requests, by canonical URL. Keeps fingerprints in memory only.

Settings read: ``DUPEFILTER_DEBUG`` and, through the fingerprinter, ``URLS_*``.
Stats: ``dupefilter/filtered``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import RequestFingerprinter, referer_str

from crawlproject.urls.fingerprint import CanonicalFingerprinter

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

logger = logging.getLogger(__name__)


class CanonicalDupeFilter(BaseDupeFilter):
    """For ``DUPEFILTER_CLASS``, in any project.

    A project with a fingerprinter of its own keeps it; Scrapy's default one gives way to
    the canonical one, or the filter would not do what its name says.
    """

    def __init__(self, fingerprinter: RequestFingerprinterProtocol, debug: bool = False) -> None:
        self.fingerprinter = fingerprinter
        self._debug = debug
        self._seen: set[bytes] = set()
        self._first_logged = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        fingerprinter = crawler.request_fingerprinter
        if fingerprinter is None or type(fingerprinter) is RequestFingerprinter:
            fingerprinter = CanonicalFingerprinter.from_crawler(crawler)
        return cls(fingerprinter, crawler.settings.getbool("DUPEFILTER_DEBUG"))

    def request_seen(self, request: Request) -> bool:
        fingerprint = self.fingerprinter.fingerprint(request)
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
