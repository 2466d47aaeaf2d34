"""A resolver that does not let a public site lead the crawler into a private network.

A name in scope may still resolve to an internal address. Unless a seed is on such an
address, it is passed over for any host that is not a seed's, before a connection; with
``SCOPE_INTERNAL_SEEDS=False`` for a seed's, too. Names resolve to IPv4 and IPv6 addresses.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver

from crawlproject.scope.internal import is_internal_address

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult
    from scrapy.crawler import Crawler

    from crawlproject.scope.scope import Scope


def is_refused(scope: Scope, name: str, address: str) -> bool:
    """Whether the crawl may not follow the name to the address."""
    return is_internal_address(address) and not scope.may_follow_inside(name)


class GuardedResolver(AbstractResolver):
    """Passes on the addresses that a crawl may connect to. A spider without a scope may all."""

    def __init__(self, crawler: Crawler, names: AbstractResolver) -> None:
        self._crawler = crawler
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._names.resolve(host, port, family)
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is None:
            return found
        allowed = [result for result in found if not is_refused(scope, host, result["host"])]
        if not allowed:
            raise OSError(None, f"{host} leads into a private network")
        return allowed

    async def close(self) -> None:
        await self._names.close()
