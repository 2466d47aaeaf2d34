"""Waiting for something that happens in another process, which no event tells."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# What a test waits for comes, or the test fails; no test passes because of it.
PATIENCE = 30.0


def wait_for(condition: Callable[[], bool]) -> None:
    """Ask again and again, without keeping the processor from who is to make it true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


async def until(
    condition: Callable[[], bool], *, pause: float = 0.01, patience: float = PATIENCE
) -> None:
    """The same, while the event loop of this process goes on."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(pause)
