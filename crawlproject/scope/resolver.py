"""A resolver that drops the addresses that a crawl may not connect to.

A name in scope may still lead into a private network. ``Scope`` says whether it may; it is
asked at every lookup, so that a name that changes its addresses later (DNS rebinding) gains
nothing. An address in a URL is never looked up: it is judged where the connection is made
(``politeness/guard.py``), and so is every address that passes here.
"""

from __future__ import annotations

import socket
from contextvars import ContextVar
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver

from crawlproject.scope.internal import is_internal

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult
    from scrapy.crawler import Crawler

    from crawlproject.scope.scope import Scope

# The host that a connection is made for. None: a proxy, whose address is the user's choice.
asked_host: ContextVar[str | None] = ContextVar("asked_host", default="")


class RefusedAddressError(OSError):
    """All addresses of a host are ones that the crawl may not connect to."""


def scope_of(crawler: Crawler) -> Scope | None:
    """A spider without a scope may connect to any address."""
    return getattr(crawler.spider, "scope", None)


def refusal(scope: Scope, host: str) -> RefusedAddressError:
    if scope.may_lead_inside(host):
        problem = "led into a private network when the crawl started, and leads out of it now"
    else:
        problem = "leads into a private network"
        if host in scope.seed_hosts and not is_internal(host):
            problem += ", and did not when the crawl started"
    return RefusedAddressError(None, f"{host} {problem}")


class GuardedResolver(AbstractResolver):
    """The answers of ``names`` that the crawl's scope does not refuse."""

    def __init__(self, crawler: Crawler, names: AbstractResolver) -> None:
        self._crawler = crawler
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._names.resolve(host, port, family)
        if not found:
            raise OSError(None, f"{host} has no address")
        scope = scope_of(self._crawler)
        if scope is None or asked_host.get() is None:
            return found
        name = host.rstrip(".")
        allowed = [result for result in found if not scope.refuses_address(name, result["host"])]
        if not allowed:
            raise refusal(scope, name)
        return allowed

    async def close(self) -> None:
        await self._names.close()
