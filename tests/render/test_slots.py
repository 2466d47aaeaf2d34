"""Places in the browser."""

from __future__ import annotations

import asyncio

from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.render.slots import Slots


@deferred_f_from_coro_f
async def test_as_many_as_there_are_places_or_one_that_has_them_all() -> None:
    slots = Slots(2)
    inside: set[str] = set()
    seen: list[frozenset[str]] = []

    async def stay(name: str, alone: bool) -> None:
        async with slots.all() if alone else slots.one():
            inside.add(name)
            seen.append(frozenset(inside))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            inside.discard(name)

    await asyncio.gather(*(stay(f"{number}", number in (2, 3)) for number in range(7)))
    assert max(map(len, seen)) == 2
    assert all(names == {name} for names in seen for name in names & {"2", "3"})
    assert len(seen) == 7


@deferred_f_from_coro_f
async def test_who_gives_up_waiting_leaves_the_places_to_others() -> None:
    slots = Slots(2)
    async with slots.one():
        waiting = asyncio.ensure_future(_stay(slots))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with slots.one():
            pass
    await _stay(slots)


async def _stay(slots: Slots) -> None:
    async with slots.all():
        pass
