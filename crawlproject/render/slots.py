"""How many pages are in the browser at once: one of so many places, or all of them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Slots:
    def __init__(self, number: int) -> None:
        self._number = number
        self._free = asyncio.Semaphore(number)
        # Two who each have some of the places would wait for each other.
        self._collecting = asyncio.Lock()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        async with self._free:
            yield

    @asynccontextmanager
    async def all(self) -> AsyncIterator[None]:
        taken = 0
        async with self._collecting:
            try:
                while taken < self._number:
                    await self._free.acquire()
                    taken += 1
                yield
            finally:
                for _ in range(taken):
                    self._free.release()
