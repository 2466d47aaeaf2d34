"""A resolver that does not let a public site lead the crawler into a private network.

A name in scope may still resolve to an internal address. Unless a seed is on such an
address, the look-up of any host that is not a seed's fails then, before a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.error import DNSLookupError

from crawlproject.scope.internal import is_internal_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.defer import Deferred

    from crawlproject.scope.scope import Scope

# A process has one resolver for all its crawls, and it is not told who asks.
_scopes: WeakSet[Scope] = WeakSet()


def guard(scope: Scope) -> None:
    """Keep the crawl of a scope out of private networks."""
    _scopes.add(scope)


class GuardedResolver(CachingThreadedResolver):
    def getHostByName(  # noqa: N802 (Twisted's name)
        self, name: str, timeout: Sequence[int] = ()
    ) -> Deferred[str]:
        return super().getHostByName(name, timeout).addCallback(self._guard, name)

    def _guard(self, address: str, name: str) -> str:
        if not _scopes or not is_internal_address(address):
            return address
        for scope in _scopes:
            if name in scope.seed_hosts:
                scope.allows_internal = True
            if scope.allows_internal:
                return address
        for scope in _scopes:
            scope.refused_hosts.add(name)
        raise DNSLookupError(f"{name} leads to the internal address {address}")
