"""The resolver of a crawl: one lookup a name, remembered for as long as its TTL says.

- Lookups of one name at the same time are one. Whoever stops waiting does not end it for others.
- An answer counts for its TTL, within bounds. A name without an address is remembered for
  ``POLITENESS_DNS_NEGATIVE_SECONDS``, a name server that failed for a few seconds.
- An answer counts for one request at least, however short its TTL: a lease waits for it outside of
  CONCURRENT_REQUESTS (``downloader.py``), and finds it here when its turn comes.
- If a later lookup gets no answer, the addresses of the last one are used for a while (RFC 8767).

Stats: ``dns/lookups``, ``dns/failed/WHY``, ``dns/put_off``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from crawlproject.failures import NameNotResolved, Unresolved
from crawlproject.fetching.lookups import SYSTEM, CaresLookup, SystemLookup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawlproject.fetching.connecting import Address
    from crawlproject.fetching.lookups import Found, Lookup

logger = logging.getLogger(__name__)

# Seconds for which a name server that failed is not asked for the same name again (RFC 9520).
_FAILURE_TTL = 5.0

_resolvers: WeakKeyDictionary[Crawler, NameResolver] = WeakKeyDictionary()


def resolver_of(crawler: Crawler) -> NameResolver:
    """The one that all download handlers of a crawl share."""
    if crawler not in _resolvers:
        _resolvers[crawler] = NameResolver.from_crawler(crawler)
    return _resolvers[crawler]


class Names(Protocol):
    """A resolver as the address guard uses it."""

    async def resolve(self, host: str) -> Sequence[Address]:
        """Raises OSError."""


@dataclass(slots=True)
class _Known:
    """What came of a lookup: addresses, or the reason why there are none."""

    found: Found | None
    reason: Unresolved | None
    found_at: float
    expires_at: float
    is_used: bool = False


class NameResolver:
    def __init__(
        self,
        lookup: Lookup,
        stats: StatsCollector,
        *,
        timeout: float,
        max_lookups: int,
        cache_size: int,
        min_ttl: float,
        max_ttl: float,
        negative_ttl: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lookup = lookup
        self._stats = stats
        self._timeout = timeout
        self._max_lookups = max_lookups
        self._is_caching = cache_size > 0
        # What lookups have found stays until it is used.
        self._cache_size = max(cache_size, max_lookups)
        self._min_ttl = min_ttl
        self._max_ttl = max_ttl
        self._negative_ttl = negative_ttl
        self._clock = clock
        self._cache: OrderedDict[str, _Known] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[_Known]] = {}
        # When the lookups that were put off so far will have begun.
        self._room_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NameResolver:
        settings = crawler.settings
        timeout = settings.getfloat("DNS_TIMEOUT")
        lookup: Lookup
        if settings["POLITENESS_RESOLVER"] == SYSTEM:
            lookup = SystemLookup(timeout)
        else:
            lookup = CaresLookup(settings.getlist("POLITENESS_NAME_SERVERS"), timeout)
        is_caching = settings.getbool("DNSCACHE_ENABLED")
        return cls(
            lookup,
            crawler.stats,
            timeout=timeout,
            max_lookups=settings.getint("POLITENESS_MAX_LOOKUPS"),
            cache_size=settings.getint("DNSCACHE_SIZE") if is_caching else 0,
            min_ttl=settings.getfloat("POLITENESS_DNS_MIN_TTL_SECONDS"),
            max_ttl=settings.getfloat("POLITENESS_DNS_MAX_TTL_SECONDS"),
            negative_ttl=settings.getfloat("POLITENESS_DNS_NEGATIVE_SECONDS"),
        )

    async def resolve(self, host: str) -> Sequence[Address]:
        """Raises NameNotResolved."""
        known = await self._known(_key(host))
        known.is_used = True
        if known.found is None or not known.found.addresses:
            raise NameNotResolved(host, known.reason or Unresolved.NO_ADDRESS)
        return known.found.addresses

    def is_known(self, host: str) -> bool:
        """Whether ``resolve`` has the answer, which may be that there is no address."""
        name = _key(host)
        return self._valid(name) is not None or _is_literal(name)

    async def look_up(self, host: str) -> None:
        """Have the answer for ``resolve``, whatever it is."""
        await self._known(_key(host))

    def failure(self, host: str) -> NameNotResolved | None:
        """What ``resolve`` would raise, as far as it is known."""
        known = self._valid(_key(host))
        if known is None or known.reason is None:
            return None
        known.is_used = True
        return NameNotResolved(host, known.reason)

    def put_off(self) -> float:
        """Seconds until one more lookup may begin; 0: now.

        Whoever is told to wait has a place behind all who were told before, at the pace of a
        crawl whose lookups all time out.
        """
        if len(self._under_way) < self._max_lookups:
            return 0.0
        moment = self._clock()
        self._room_at = max(self._room_at, moment) + self._timeout / self._max_lookups
        self._stats.inc_value("dns/put_off")
        return self._room_at - moment

    async def close(self) -> None:
        lookups = list(self._under_way.values())
        for lookup in lookups:
            lookup.cancel()
        await asyncio.gather(*lookups, return_exceptions=True)
        await self._lookup.close()

    def _valid(self, name: str) -> _Known | None:
        known = self._cache.get(name)
        if known is None or (known.is_used and self._clock() >= known.expires_at):
            return None
        return known

    async def _known(self, name: str) -> _Known:
        if (known := self._valid(name)) is not None:
            return known
        lookup = self._under_way.get(name)
        if lookup is None:
            lookup = asyncio.get_running_loop().create_task(self._find(name))
            self._under_way[name] = lookup
            lookup.add_done_callback(lambda _: self._under_way.pop(name, None))
        # Others may wait for it, too.
        return await asyncio.shield(lookup)

    async def _find(self, name: str) -> _Known:
        try:
            if name == "invalid" or name.endswith(".invalid"):
                # No name server's to answer (RFC 6761); c-ares knows localhost and onion itself.
                raise NameNotResolved(name, Unresolved.NO_SUCH_NAME)
            self._stats.inc_value("dns/lookups")
            found = await self._lookup.find(name)
        except NameNotResolved as error:
            why = error.reason.replace(" ", "_")
            self._stats.inc_value(f"dns/failed/{why}")
            known = self._failed(name, error.reason)
        except Exception as error:
            # The name must be known after it, or it would be looked up for ever.
            logger.warning("The lookup of %s failed: %r", name, error)
            known = self._failed(name, Unresolved.SERVER_FAILURE)
        else:
            moment = self._clock()
            ttl = min(max(found.ttl, self._min_ttl), self._max_ttl) if self._is_caching else 0.0
            known = _Known(found, None, moment, moment + ttl)
        self._keep(name, known)
        return known

    def _failed(self, name: str, reason: Unresolved) -> _Known:
        moment = self._clock()
        if reason.is_final:
            ttl = self._negative_ttl if self._is_caching else 0.0
            return _Known(None, reason, moment, moment + ttl)
        before = self._cache.get(name)
        if before is not None and before.found and moment < before.found_at + self._max_ttl:
            return _Known(before.found, None, before.found_at, moment + _FAILURE_TTL)
        return _Known(None, reason, moment, moment + _FAILURE_TTL)

    def _keep(self, name: str, known: _Known) -> None:
        self._cache[name] = known
        self._cache.move_to_end(name)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)


def _key(host: str) -> str:
    return host.lower().removesuffix(".")


@lru_cache(maxsize=4096)
def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
