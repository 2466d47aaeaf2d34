"""No connection into a private network, unless the crawl is one of that network.

Every address is checked before a connection is made to it: those of names, at every lookup, so that
a name that changes its addresses (DNS rebinding) gains nothing, and those in URLs. Which seeds are
internal is known by then (``internal_seeds.py``), and no later lookup changes it. An address that
is refused is passed over for the next one of its name. A request through a proxy goes to the
proxy, whose own address is the user's choice: then the host that the proxy is to connect to is
checked. Its name is looked up here as well; if that fails, a warning says so.

Stats: ``scope/refused_connections``.
"""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from scrapy.exceptions import UnsupportedURLSchemeError

from crawlproject.failures import Verdict
from crawlproject.fetching.internal_seeds import InternalSeeds
from crawlproject.scope.internal import is_address, is_internal
from crawlproject.scope.scope import INTERNAL
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.fetching.connecting import Address
    from crawlproject.fetching.resolver import Names
    from crawlproject.scope.scope import Scope

logger = logging.getLogger(__name__)


class RefusedAddressError(OSError):
    """All addresses of a host are ones that the crawl may not connect to."""


class Guard:
    def __init__(self, crawler: Crawler, names: Names) -> None:
        self._crawler = crawler
        self.names = names
        self._has_warned = False

    @property
    def _scope(self) -> Scope | None:
        """None: a spider without a scope may connect to any address."""
        return getattr(self._crawler.spider, "scope", None)

    @cached_property
    def _seeds(self) -> InternalSeeds | None:
        scope = self._scope
        return None if scope is None else InternalSeeds(self._crawler, scope, self.names)

    def close(self) -> None:
        if seeds := vars(self).pop("_seeds", None):
            seeds.close()

    async def decide(self) -> None:
        """Find out whether this is the crawl of a private network, once."""
        if self._seeds is not None:
            await self._seeds.decide()

    async def addresses(self, host: str) -> list[Address]:
        """The addresses of a host that a connection may be made to.

        Raises RefusedAddressError if there are none of these, and OSError if there are none at all.
        """
        scope, seeds = self._scope, self._seeds
        if seeds is not None:
            await seeds.decide_for(host)
        if is_address(host):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            found: list[Address] = [(family, host)]
        else:
            found = list(await self.names.resolve(host))
        if not found:
            raise OSError(None, f"{host} has no address")
        if scope is None:
            return found
        allowed = [one for one in found if not scope.refuses_address(host, one[1])]
        if not allowed:
            raise _refusal(scope, host)
        return allowed

    async def allow_through_proxy(self, host: str) -> None:
        """Raises RefusedAddressError if a proxy must not be asked for a host."""
        scope, seeds = self._scope, self._seeds
        if scope is None or seeds is None:
            return
        # A proxy understands more spellings of an address than we do.
        host = _canonical_host(host)
        await seeds.decide()
        can_look_up = not is_address(host) and await seeds.can_look_up()
        if can_look_up:
            await seeds.decide_for(host)
        if scope.refuses_host(host):
            raise _refusal(scope, host)
        if is_address(host) or scope.may_lead_inside(host):
            return
        addresses: list[Address] = []
        if can_look_up:
            with suppress(OSError):
                addresses = list(await self.names.resolve(host))
        # The proxy may take any of them.
        if any(scope.refuses_address(host, address) for _, address in addresses):
            raise _refusal(scope, host)
        if not addresses and "." not in host:
            raise _refusal(scope, host)
        if not addresses:
            self._warn(host)

    def _warn(self, host: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Requests go through a proxy, and %s can't be looked up here. Internal addresses "
                "and names in URLs are refused, but not other such names that lead into a private "
                "network behind the proxy",
                host,
            )

    def refuse(self, error: RefusedAddressError) -> Verdict:
        """The failure of a request whose connection was refused."""
        stats = self._crawler.stats
        if not stats.get_value("scope/refused_connections"):
            logger.warning(
                "No connection is made: %s (SCOPE_INTERNAL_SEEDS). More of these are counted as "
                "scope/refused_connections",
                error.strerror,
            )
        stats.inc_value("scope/refused_connections")
        return Verdict(INTERNAL, error.strerror)


def _refusal(scope: Scope, host: str) -> RefusedAddressError:
    if scope.may_lead_inside(host):
        problem = "led into a private network when the crawl started, and leads out of it now"
    else:
        problem = "leads into a private network"
        if host in scope.seed_hosts and not is_internal(host):
            problem += ", and did not when the crawl started"
    return RefusedAddressError(None, f"{host} {problem}")


def _canonical_host(host: str) -> str:
    try:
        return host_of(canonicalize(f"http://[{host}]/" if ":" in host else f"http://{host}/"))
    except NotCrawlable:
        raise UnsupportedURLSchemeError(f"{host!r} is not a host name") from None


# The handlers hold them; they hold the crawler.
_guards: WeakKeyDictionary[Crawler, ref[Guard]] = WeakKeyDictionary()


def guard_of(crawler: Crawler) -> Guard | None:
    """None: connections are made by another handler, or there are none."""
    return found() if (found := _guards.get(crawler)) else None


def use_guard(crawler: Crawler, names: Names) -> Guard:
    """The guard of a crawl, one for all its handlers. ``names`` is their resolver."""
    guard = guard_of(crawler)
    if guard is None:
        guard = Guard(crawler, names)
        _guards[crawler] = ref(guard)
    return guard
