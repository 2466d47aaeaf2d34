"""No connection into a private network, unless the crawl is one of that network.

Every address is judged when a socket is about to be connected to it, names and literals alike.
Which seeds are internal is known by then (``internal_seeds.py``), and no later answer changes it.
An address that is refused is passed over for the next one of its name. A request through a proxy
goes to the proxy, whose own address is the user's choice: what is judged then is the host that
the proxy is asked for. Its name is looked up here as well; if that fails, a warning says so.

Stats: ``scope/refused_connections``.
"""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

import aiohttp
from aiohttp import ClientConnectorError, InvalidUrlClientError

from crawlproject.failures import Verdict
from crawlproject.politeness.internal_seeds import InternalSeeds
from crawlproject.scope.internal import is_address
from crawlproject.scope.resolver import (
    GuardedResolver,
    RefusedAddressError,
    asked_host,
    refusal,
    scope_of,
)
from crawlproject.scope.scope import INTERNAL
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of

if TYPE_CHECKING:
    from typing import Any

    from aiohttp import AddrInfoType, ClientRequest, ClientTimeout
    from aiohttp.abc import AbstractResolver
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.tracing import Trace
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Guard:
    def __init__(self, crawler: Crawler, names: AbstractResolver) -> None:
        self._crawler = crawler
        self.names = names
        self._has_warned = False

    @cached_property
    def _seeds(self) -> InternalSeeds | None:
        """None: a spider without a scope may connect to any address."""
        scope = scope_of(self._crawler)
        return None if scope is None else InternalSeeds(self._crawler, scope, self.names)

    def close(self) -> None:
        if seeds := vars(self).pop("_seeds", None):
            seeds.close()

    async def decide(self) -> None:
        """Find out whether this is the crawl of a private network, once."""
        if self._seeds is not None:
            await self._seeds.decide()

    async def allow(self, request: ClientRequest) -> None:
        """Whether a connection may be tried for a request. Raises RefusedAddressError."""
        scope, seeds = scope_of(self._crawler), self._seeds
        if scope is None or seeds is None:
            return
        host = asked_of(request)
        if request.proxy is None:
            await seeds.decide_for(host)
            return
        # A proxy reads more spellings of an address than we do.
        host = _canonical_host(host)
        await seeds.decide()
        can_look_up = not is_address(host) and await seeds.can_look_up()
        if can_look_up:
            await seeds.decide_for(host)
        if scope.refuses_host(host):
            raise refusal(scope, host)
        if is_address(host) or scope.may_lead_inside(host):
            return
        addresses = await self._addresses(host) if can_look_up else []
        for address in addresses:
            # Nobody knows which of them the proxy takes.
            self.check(host, address)
        if not addresses and "." not in host:
            raise refusal(scope, host)
        if not addresses:
            self._warn(host)

    async def _addresses(self, name: str) -> list[str]:
        with suppress(OSError):
            found = await self.names.resolve(name, 0, socket.AF_UNSPEC)
            return [result["host"] for result in found]
        return []

    def check(self, host: str, address: str) -> None:
        """Raises RefusedAddressError."""
        scope = scope_of(self._crawler)
        if scope is not None and scope.refuses_address(host, address):
            raise refusal(scope, host)

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
        """What a refused connection means to its request."""
        stats = self._crawler.stats
        if not stats.get_value("scope/refused_connections"):
            logger.warning(
                "No connection is made: %s (SCOPE_INTERNAL_SEEDS). More of these are counted as "
                "scope/refused_connections",
                error.strerror,
            )
        stats.inc_value("scope/refused_connections")
        return Verdict(INTERNAL, error.strerror)


def asked_of(request: ClientRequest) -> str:
    """The host that a request is for."""
    return (request.url.raw_host or "").rstrip(".")


def _canonical_host(host: str) -> str:
    try:
        return host_of(canonicalize(f"http://[{host}]/" if ":" in host else f"http://{host}/"))
    except NotCrawlable:
        raise InvalidUrlClientError(host, "is no host name") from None


class GuardedConnector(aiohttp.TCPConnector):
    """Connections of aiohttp's, to addresses that the guard allows."""

    def __init__(self, guard: Guard, crawler: Crawler, **options: Any) -> None:
        super().__init__(
            resolver=GuardedResolver(crawler, guard.names),
            socket_factory=self._open_socket,
            **options,
        )
        self._guard = guard

    # Not public, but where aiohttp's own connectors differ. ``connect`` also hands out
    # connections that are kept, which need no lookup.
    async def _create_connection(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: ClientTimeout,  # noqa: ASYNC109 - aiohttp's
    ) -> ResponseHandler:
        asked = asked_host.set(asked_of(req) if req.proxy is None else None)
        try:
            await self._guard.allow(req)
            return await super()._create_connection(req, traces, timeout)
        except RefusedAddressError as error:
            raise self._guard.refuse(error) from None
        except ClientConnectorError as error:
            if isinstance(error.os_error, RefusedAddressError):
                raise self._guard.refuse(error.os_error) from None
            raise
        finally:
            asked_host.reset(asked)

    def _open_socket(self, addr_info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = addr_info
        if (host := asked_host.get()) is not None:
            self._guard.check(host, str(address[0]))
        return socket.socket(family, kind, protocol)


# The handlers hold them; they hold the crawler.
_guards: WeakKeyDictionary[Crawler, ref[Guard]] = WeakKeyDictionary()


def guard_of(crawler: Crawler) -> Guard | None:
    """None: connections are somebody else's, or there are none."""
    return found() if (found := _guards.get(crawler)) else None


def use_guard(crawler: Crawler, names: AbstractResolver) -> Guard:
    """The guard of a crawl, one for all its handlers. ``names`` is their resolver."""
    guard = guard_of(crawler)
    if guard is None:
        guard = Guard(crawler, names)
        _guards[crawler] = ref(guard)
    return guard
