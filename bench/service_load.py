"""``python -m bench.service_load URL RATE SECONDS PATH…``: so many requests a second, in turns.

Each is sent at its time, whether the one before is answered or not. What came of them is printed
as JSON: ``sent``, ``errors`` and the milliseconds that half, 99 % and all of the answers took.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter
from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Sequence


class Load:
    def __init__(self) -> None:
        self.times: list[float] = []
        self.errors: list[str] = []

    async def send(self, session: aiohttp.ClientSession, url: str) -> None:
        began = perf_counter()
        try:
            async with session.get(url) as answer:
                content = await answer.read()
                if answer.status != 200 or not json.loads(content):
                    self.errors.append(f"{url} answered {answer.status}")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self.errors.append(f"{url}: {error!r}")
        self.times.append(perf_counter() - began)

    def figures(self) -> dict[str, object]:
        times = sorted(self.times)
        return {
            "sent": len(times),
            "errors": len(self.errors),
            "first_error": next(iter(self.errors), None),
            "median_ms": round(1000 * times[len(times) // 2], 2),
            "p99_ms": round(1000 * times[len(times) * 99 // 100], 2),
            "slowest_ms": round(1000 * times[-1], 2),
        }


async def load(url: str, rate: float, seconds: float, paths: Sequence[str]) -> dict[str, object]:
    sent = Load()
    timeout = aiohttp.ClientTimeout(total=10)
    async with aiohttp.ClientSession(timeout=timeout) as session, asyncio.TaskGroup() as tasks:
        began = perf_counter()
        for number in range(round(rate * seconds)):
            await asyncio.sleep(began + number / rate - perf_counter())
            tasks.create_task(sent.send(session, url + paths[number % len(paths)]))
    return sent.figures()


if __name__ == "__main__":
    address, per_second, duration, *asked = sys.argv[1:]
    print(json.dumps(asyncio.run(load(address, float(per_second), float(duration), asked))))
