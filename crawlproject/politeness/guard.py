"""No connection into a private network, unless the crawl is one of that network.

One guard a crawl. At the start it looks up the seeds' names, by the resolver that connections
use, and tells the scope which of them have internal addresses only. That is decided once: no
connection is made before, and no later answer changes it. A name that had a public address at
the start of an earlier run counts as public for good; one that can't be looked up is not
internal.

Every address is judged when a socket is about to be connected to it, names and literals alike.
An address that is refused is passed over for the next one of its name. A request through a proxy
goes to the proxy, whose own address is the user's choice: what is judged then is the host that
the proxy is asked for. Its name is looked up here as well, if names can be looked up here.

Notes kept in the crawl directory: ``public seeds``. Stats: ``scope/refused_connections``.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp import ClientConnectorDNSError, ClientConnectorError, InvalidUrlClientError

from crawlproject.failures import Verdict
from crawlproject.frontier import frontier_of
from crawlproject.frontier.notes import PUBLIC_SEEDS, texts_in
from crawlproject.scope.internal import is_internal_address
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
    from collections.abc import Callable, Iterable
    from typing import Any

    from aiohttp import AddrInfoType, ClientRequest, ClientTimeout
    from aiohttp.abc import AbstractResolver
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.tracing import Trace
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Seeds' names that are looked up at the same time.
_LOOKUPS = 100


class Guard:
    def __init__(self, crawler: Crawler, make_names: Callable[[], AbstractResolver]) -> None:
        self._crawler = crawler
        self._make_names = make_names
        self._decision: asyncio.Future[None] | None = None
        # Whether names can be looked up here: not everybody behind a proxy can.
        self._can_look_up = False
        self._has_warned = False

    # Made when it is needed: it may want a loop that runs.
    @cached_property
    def names(self) -> AbstractResolver:
        return self._make_names()

    async def close(self) -> None:
        if self._decision is not None:
            self._decision.cancel()
        if "names" in vars(self):
            await self.names.close()
            del self.names

    async def decide(self) -> None:
        """Find out which seeds are internal, the first time that it is called."""
        if self._decision is None:
            self._decision = asyncio.ensure_future(self._decide())
        if not self._decision.done():
            await asyncio.shield(self._decision)

    async def _decide(self) -> None:
        scope = scope_of(self._crawler)
        if scope is None or not scope.seed_names:
            return
        found = await self._look_up(scope.seed_names)
        self._can_look_up = bool(found)
        inside = {
            name for name, addresses in found.items() if all(map(is_internal_address, addresses))
        }
        were_public = self._note_public(found.keys() - inside)
        for name in sorted(inside & were_public):
            logger.warning(
                "%s led to public addresses when this crawl began and leads into a private network "
                "now: it is refused there. A new crawl may go there",
                name,
            )
        scope.open_inside(inside - were_public)

    async def _look_up(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The addresses of the names that have some, as far as they are known in time."""
        found: dict[str, list[str]] = {}
        turns = asyncio.Semaphore(_LOOKUPS)

        async def look_up(name: str) -> None:
            # Whatever goes wrong, the name is not internal; its page will say why it failed.
            with suppress(Exception):
                async with turns:
                    results = await self.names.resolve(name, 0, socket.AF_UNSPEC)
                if results:
                    found[name] = [result["host"] for result in results]

        seconds = self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds or None):
                await asyncio.gather(*map(look_up, sorted(names)))
        return found

    def _note_public(self, names: set[str]) -> set[str]:
        """Keep which seeds' names are public; all that ever were, in this crawl."""
        try:
            frontier = frontier_of(self._crawler)
        except LookupError:
            return names
        known = set(texts_in(PUBLIC_SEEDS, frontier.recall(PUBLIC_SEEDS)))
        if not names <= known:
            with frontier.at_once():
                frontier.join(PUBLIC_SEEDS, sorted(names - known))
        return names | known

    def check(self, host: str, address: str) -> None:
        """Raises RefusedAddressError."""
        scope = scope_of(self._crawler)
        if scope is not None and scope.refuses_address(host, address):
            raise refusal(scope, host)

    async def check_behind_proxy(self, request: ClientRequest) -> None:
        """Whether a proxy may be asked for a host. Raises RefusedAddressError, or as a lookup
        does.
        """
        scope = scope_of(self._crawler)
        if scope is None:
            return
        host = _canonical_host(request.url.raw_host or "")
        if scope.refuses_host(host) or ("." not in host and not self._can_look_up):
            raise refusal(scope, host)
        if not self._can_look_up:
            self._warn()
            return
        try:
            found = await self.names.resolve(host, request.url.port or 0, socket.AF_UNSPEC)
        except OSError as error:
            raise ClientConnectorDNSError(request.connection_key, error) from error
        for result in found:
            # Nobody knows which of them the proxy takes.
            self.check(host, result["host"])

    def _warn(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "Requests go through a proxy, and names can't be looked up here: internal "
                "addresses and names in URLs are refused, but not other names that lead into a "
                "private network behind the proxy"
            )

    def refuse(self, error: RefusedAddressError) -> Verdict:
        """What a refused connection means to its request."""
        stats = self._crawler.stats
        if not stats.get_value("scope/refused_connections"):
            logger.warning(
                "No request is sent: %s, and only an internal seed opens it (further ones are "
                "counted, see scope/refused_connections)",
                error.strerror,
            )
        stats.inc_value("scope/refused_connections")
        return Verdict(INTERNAL, error.strerror)


def _canonical_host(host: str) -> str:
    """The one spelling of a host: a proxy reads more of them than we do."""
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
        await self._guard.decide()
        asked = asked_host.set((req.url.raw_host or "").rstrip(".") if req.proxy is None else None)
        try:
            if req.proxy is not None:
                await self._guard.check_behind_proxy(req)
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


_guards: WeakKeyDictionary[Crawler, Guard] = WeakKeyDictionary()


def guard_of(crawler: Crawler) -> Guard | None:
    """None: connections are somebody else's, or there are none."""
    return _guards.get(crawler)


def use_guard(crawler: Crawler, make_names: Callable[[], AbstractResolver]) -> Guard:
    """The guard of a crawl, one for all its handlers. ``make_names``: their resolver."""
    return _guards.setdefault(crawler, Guard(crawler, make_names))
