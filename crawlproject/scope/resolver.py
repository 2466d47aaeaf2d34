"""A resolver that does not let a public site lead the crawler into a private network.

A name in scope may still resolve to an internal address. Unless a seed is on such an
address, it is passed over for any host that is not a seed's, before a connection. Names
resolve to IPv4 and IPv6 addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from scrapy.resolver import CachingHostnameResolver
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

from crawlproject.scope.internal import is_internal_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.interfaces import IAddress, IHostResolution

    from crawlproject.scope.scope import Scope

# A process has one resolver for all its crawls, and it is not told who asks.
_scopes: WeakSet[Scope] = WeakSet()


def guard(scope: Scope) -> None:
    """Keep the crawl of a scope out of private networks."""
    _scopes.add(scope)


def is_refused(name: str, address: str) -> bool:
    """Whether no crawl of this process may follow the name to the address."""
    if not _scopes or not is_internal_address(address):
        return False
    for scope in _scopes:
        if name in scope.seed_hosts:
            scope.allows_internal = True
        if scope.allows_internal:
            return False
    for scope in _scopes:
        scope.refused_hosts.add(name)
    return True


@implementer(IResolutionReceiver)
class _Guard:
    """Passes on the addresses that may be connected to."""

    # Any: zope's interfaces say nothing to a type checker.
    def __init__(self, receiver: Any, name: str) -> None:
        self._receiver = receiver
        self._name = name

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        if not is_refused(self._name, address.host):
            self._receiver.addressResolved(address)

    def resolutionComplete(self) -> None:  # noqa: N802
        self._receiver.resolutionComplete()


class GuardedResolver(CachingHostnameResolver):
    def resolveHostName(  # noqa: N802
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> IHostResolution:
        guarded: Any = _Guard(resolutionReceiver, hostName)
        return super().resolveHostName(
            guarded,
            hostName,
            portNumber,
            addressTypes,
            transportSemantics,
        )
