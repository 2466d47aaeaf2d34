"""A resolver that does not let a public site lead the crawler into a private network.

A name in scope may still resolve to an internal address. Unless a seed is on such an
address, the look-up of any host that is not a seed's fails then, before a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.resolver import CachingThreadedResolver

from crawlproject.failures import InternalAddressError
from crawlproject.scope.internal import is_internal_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.defer import Deferred

    from crawlproject.scope.scope import Scope


class GuardedResolver(CachingThreadedResolver):
    _crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> GuardedResolver:
        resolver = super().from_crawler(crawler, reactor)
        resolver._crawler = crawler
        return resolver

    def getHostByName(  # noqa: N802 (Twisted's name)
        self, name: str, timeout: Sequence[int] = ()
    ) -> Deferred[str]:
        return super().getHostByName(name, timeout).addCallback(self._guard, name)

    def _guard(self, address: str, name: str) -> str:
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is None or not is_internal_address(address):
            return address
        if name in scope.seed_hosts:
            scope.allows_internal = True
        if not scope.allows_internal:
            raise InternalAddressError(f"{name} leads to the internal address {address}")
        return address
