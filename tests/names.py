"""Names and addresses of tests: names have the addresses of a table, and a loopback address may
stand for a public one. No lookup leaves the process, and no connection leaves the machine.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from crawlproject.scope import internal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crawlproject.fetching.connecting import Address


class Names:
    """Answers from a table that may change; a name that is not in it is not found."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = dict(table)
        self.asked: list[str] = []
        # Names whose server does not answer before ``answer`` is set.
        self.silent: set[str] = set()
        self.answer = asyncio.Event()
        self.closed = False
        self.on_lookup: Callable[[str], object] = lambda name: None

    async def resolve(self, host: str) -> list[Address]:
        self.asked.append(host)
        addresses = self.table.get(host)
        self.on_lookup(host)
        if host in self.silent:
            await self.answer.wait()
        if addresses is None:
            raise OSError(socket.EAI_NONAME, f"{host} is not in the table")
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, address)
            for address in addresses
        ]

    # As ``fetching/resolver.py``: no request has to wait for its name before its turn.
    def is_known(self, host: str) -> bool:
        return True

    def failure(self, host: str) -> None:
        return None

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """The resolver of all crawls of a test. It keeps no answer: each connection asks again."""
    table = Names({})
    monkeypatch.setattr("crawlproject.fetching.handler.resolver_of", lambda crawler: table)
    return table


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets loopback addresses stand for public ones."""

    def let(*addresses: str) -> None:
        blocks = [internal.Block(f"{address}/32", True, "in tests") for address in addresses]
        monkeypatch.setattr(internal, "_V4", internal._Table([*internal.BLOCKS_V4, *blocks]))
        internal.is_internal_address.cache_clear()

    yield let
    monkeypatch.undo()
    internal.is_internal_address.cache_clear()
