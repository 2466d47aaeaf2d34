"""Sitemaps of the sites that are crawled: found, fetched as pages are, read, and handed on.

Where a host's robots.txt says they are, and at ``/sitemap.xml``. A sitemap is a URL of the frontier
with a mark of its own: it has its turn at its host, is asked about in robots.txt, retried, and
visited again as pages are. It is no page. What it names enters as links of pages do, behind them.

Stats: ``sitemaps/read``, ``sitemaps/failed``, ``sitemaps/urls``, ``sitemaps/cut``,
``sitemaps/urls_left_out``.
"""

from __future__ import annotations

import logging
from collections import Counter
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.utils.sitemap import sitemap_urls_from_robots

from crawlproject.failures import NotNow, Verdict
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.entry import SITEMAP, address_of
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.items import Content
from crawlproject.pages.read import is_success
from crawlproject.scope.scope import Mode
from crawlproject.sitemaps.read import read_sitemap
from crawlproject.urls.canonical import NotCrawlable, host_of
from crawlproject.urls.link_bounds import LinkBounds, longest_url
from crawlproject.urls.location import location_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector
    from twisted.python.failure import Failure

    from crawlproject.frontier.base import Frontier, Lease
    from crawlproject.records import Record
    from crawlproject.scope.scope import Scope
    from crawlproject.sitemaps.hints import Hint, Sitemap
    from crawlproject.urls.link_bounds import Room

logger = logging.getLogger(__name__)

# Whether sitemaps are read: where a seed reaches as far as its host, always, or never.
AUTO, ALWAYS, NEVER = "auto", "always", "never"
MODES = (AUTO, ALWAYS, NEVER)
# Where one is that nobody speaks of.
_USUAL = "/sitemap.xml"
# Answers that say so of none.
_NONE_HERE = frozenset({401, 403, 404, 405, 410})
# The level of a sitemap that no other one names, and the lines of a robots.txt that count.
_FIRST_LEVEL, _MOST_LINES = 1, 1000


class Bounds(NamedTuple):
    """Of one sitemap: URLs, and bytes, as they are sent and as they are unpacked; how deep one may
    be in others, how many of a host are read, and characters of a URL (0: no limit).
    """

    urls: int
    bytes: int
    nesting: int
    files: int
    url_length: int = 0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Bounds:
        return cls(
            settings.getint("SITEMAPS_MAX_URLS"),
            settings.getint("SITEMAPS_MAX_BYTES"),
            settings.getint("SITEMAPS_MAX_NESTING"),
            settings.getint("SITEMAPS_MAX_FILES"),
            settings.getint("URLLENGTH_LIMIT"),
        )


def are_wanted(settings: BaseSettings) -> bool:
    mode = settings["SITEMAPS_MODE"]
    if settings.getbool("SCOPE_SEEDS_ONLY") or mode == NEVER:
        return False
    return bool(mode == ALWAYS or settings["SCOPE_MODE"] == Mode.HOST)


def is_sitemap(lease: Lease) -> bool:
    return lease.url.endswith(SITEMAP)


class Sitemaps:
    def __init__(
        self,
        canonicalize: Callable[..., str],
        scope: Scope,
        bounds: Bounds,
        crawler: Crawler,
        *,
        are_wanted: bool,
    ) -> None:
        self._canonicalize = canonicalize
        self._scope = scope
        self._bounds = bounds
        # Its stats are there when it has begun.
        self._crawler = crawler
        self.are_wanted = are_wanted
        # Origins whose robots.txt was looked at, and sitemaps that are known.
        self._origins: set[str] = set()
        self._known: set[str] = set()
        # How many of them a host has.
        self._files: Counter[str] = Counter()
        # … of which nobody has said that they are there.
        self._guesses: set[str] = set()

    @property
    def _stats(self) -> StatsCollector:
        return self._crawler.stats

    def look_at(self, origin: str, robots: bytes | None, frontier: Frontier) -> None:
        """Have the sitemaps of an origin fetched, by what its robots.txt says."""
        if not self.are_wanted or origin in self._origins:
            return
        self._origins.add(origin)
        # Other hosts have sitemaps too, and none of the crawl's pages.
        if not self._scope.has_host(host_of(f"{origin}/")):
            return
        # Not resolved there: urljoin fails on some of what may stand in such a line.
        lines = islice(sitemap_urls_from_robots(robots or b""), _MOST_LINES)
        named = self._addresses(lines, f"{origin}/")
        guessed = [url for url in self._addresses([_USUAL], f"{origin}/") if url not in named]
        self._guesses.update(guessed)
        frontier.admit([Candidate(url) for url in (*named, *guessed)], _FIRST_LEVEL)

    def request(
        self,
        lease: Lease,
        callback: Callable[[Response], None],
        errback: Callable[[Failure], None],
        headers: dict[bytes, list[bytes]] | None,
    ) -> Request:
        meta = {"verbatim_url": True, "download_maxsize": self._bounds.bytes}
        address = address_of(lease.fetch_url)
        return Request(address, callback, errback=errback, meta=meta, headers=headers)

    def read(self, response: Response, lease: Lease) -> None:
        """Note on its lease what a sitemap says, or that it can't be had."""
        target = location_of(response)
        if target is not None:
            lease.nested = self._nested([target], response.url, lease)
            return
        if lease.url in self._guesses and response.status in _NONE_HERE:
            # It may be there one day.
            lease.is_gone, lease.content = False, Content(sha256(b"").digest())
            return
        if not is_success(response):
            lease.failed = True
            self._stats.inc_value("sitemaps/failed")
            return
        try:
            found, reasons, room = time_cap_of(self._crawler).run(
                response.meta, self._parse, response
            )
        except NotNow:
            return
        except Verdict:
            # The time cap has said so.
            lease.failed = True
            self._stats.inc_value("sitemaps/failed")
            return
        self._tell(found, lease)
        self._count_left_out(room.too_long, address_of(lease.url))
        lease.content = Content(sha256(response.body).digest())
        lease.links = list(found.urls)
        lease.reasons = reasons
        lease.hints = {url: _record(hint) for url, hint in found.urls.items()}
        lease.nested = self._nested(found.nested, response.url, lease)

    def _parse(self, response: Response) -> tuple[Sitemap, dict[str, str], Room]:
        """What it says, which of its URLs may not enter, and what was left out."""
        room = LinkBounds(self._bounds.url_length, self._bounds.bytes).room()
        found = read_sitemap(
            response.body,
            response.url,
            canonicalize=self._canonicalize,
            most_urls=self._bounds.urls,
            most_bytes=self._bounds.bytes,
            content_type=(response.headers.get("Content-Type") or b"").decode("latin-1"),
            room=room,
        )
        return found, self._scope.reasons(found.urls), room

    def _tell(self, found: Sitemap, lease: Lease) -> None:
        address = address_of(lease.url)
        if not found.kind:
            # One that nobody spoke of may be an error page, or the like.
            logger.info("%s is no sitemap: %s", address, found.problem)
            if lease.url not in self._guesses:
                self._stats.inc_value("sitemaps/failed")
            return
        self._stats.inc_value("sitemaps/read")
        self._stats.inc_value("sitemaps/urls", len(found.urls))
        if found.is_cut:
            self._stats.inc_value("sitemaps/cut")
            logger.warning("The sitemap %s was read in part: %s", address, found.problem)

    def _count_left_out(self, count: int, where: str) -> None:
        """URLs that are too long. The first sitemap that has any is told of."""
        if count and not self._stats.get_value("sitemaps/urls_left_out"):
            logger.warning(
                "URLs left out of %.200s: %d longer than %d characters (URLLENGTH_LIMIT). Further "
                "sitemaps are counted: sitemaps/urls_left_out",
                where,
                count,
                longest_url(self._bounds.url_length),
            )
        if count:
            self._stats.inc_value("sitemaps/urls_left_out", count)

    def _nested(self, urls: Iterable[str], base: str, lease: Lease) -> list[str]:
        """Further sitemaps, as the frontier knows them."""
        if lease.depth - _FIRST_LEVEL >= self._bounds.nesting:
            logger.warning(
                "Sitemaps that %s names are not read: SITEMAPS_MAX_NESTING", address_of(lease.url)
            )
            return []
        home = host_of(address_of(lease.url))
        # A robots.txt may name sitemaps of any host; from there on it is not left.
        found = self._addresses(urls, base)
        return [url for url in found if self._scope.has_host(host := host_of(url)) or host == home]

    def _addresses(self, urls: Iterable[str], base: str) -> list[str]:
        found: dict[str, None] = {}
        for url in urls:
            try:
                address = self._canonicalize(url, base)
            except NotCrawlable:
                continue
            if len(address) > longest_url(self._bounds.url_length):
                self._count_left_out(1, base)
                continue
            if self._scope.refuses_host(host_of(address)):
                continue
            if address not in self._known:
                if self._files[host_of(address)] >= self._bounds.files:
                    logger.warning("%.200s is not read: SITEMAPS_MAX_FILES", address)
                    break
                self._files[host_of(address)] += 1
                self._known.add(address)
            found[f"{address}{SITEMAP}"] = None
        return list(found)


def _record(hint: Hint) -> Record:
    """What says something."""
    return {name: value for name, value in hint._asdict().items() if value not in (None, {}, [])}
