"""Which hosts a crawl waits for, and until when: for the progress line and for snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# Hosts of which it is known why they are held; more are forgotten, the oldest first.
_MOST = 10_000

# After this much longer nobody waits: another worker had the answer, or nothing is left to ask.
_OVER_SECONDS = 30.0


class Wait(NamedTuple):
    host: str
    # What it answered, in words.
    reason: str
    # When it is tried again, and when it is given up, if that is known (epoch seconds).
    next_try_at: float
    until: float | None


class Waits:
    def __init__(self) -> None:
        self._waits: dict[str, Wait] = {}

    def put(self, wait: Wait) -> None:
        self._waits.pop(wait.host, None)
        self._waits[wait.host] = wait
        if len(self._waits) > _MOST:
            del self._waits[next(iter(self._waits))]

    def drop(self, host: str) -> None:
        self._waits.pop(host, None)

    def at(self, now: float) -> list[Wait]:
        """Those that are tried next come first."""
        for wait in list(self._waits.values()):
            if now > max(wait.next_try_at, wait.until or 0.0) + _OVER_SECONDS:
                self.drop(wait.host)
        return sorted(self._waits.values(), key=lambda wait: wait.next_try_at)


_of_crawlers: WeakKeyDictionary[Crawler, Waits] = WeakKeyDictionary()


def waits_of(crawler: Crawler) -> Waits:
    return _of_crawlers.setdefault(crawler, Waits())
