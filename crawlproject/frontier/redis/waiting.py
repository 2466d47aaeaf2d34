"""Entries that wait, for their level or for the budget: where they are, and where they go.

What waits for its level is in a set for each; what is beyond the budget, in one sorted set.
Changes wait in the batch: until it is written, they are known here only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.entry import Wait
from crawlproject.frontier.redis.keys import score_of
from crawlproject.frontier.redis.scripts import pairs

if TYPE_CHECKING:
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.scripts import Scripts

    # Which of the two, and the level or the score there.
    Place = tuple[Wait, int]


class Waiting:
    def __init__(self, scripts: Scripts, at_levels: dict[int, int]) -> None:
        """``at_levels``: how many wait at each."""
        self._scripts = scripts
        self._at_levels = at_levels
        # Ids by level, as far as they were asked for.
        self._levels: dict[int, set[int]] = {}
        # Since the last batch was written: where entries are, and who is beyond the budget.
        self._places: dict[int, Place] = {}
        self._came: dict[int, int] = {}
        self._went: set[int] = set()

    def at_levels(self) -> dict[int, int]:
        return {level: count for level, count in self._at_levels.items() if count}

    def at(self, level: int) -> set[int]:
        """The ids of who waits at a level."""
        if level not in self._levels:
            has_some = self._at_levels.get(level, 0) > 0
            members = self._scripts.ask("SMEMBERS", f"levels:{level}") if has_some else ()
            self._levels[level] = {int(number) for number in members}
        return self._levels[level]

    def beyond(self) -> int:
        """How many were beyond the budget when the last batch was written."""
        return int(self._scripts.ask("ZCARD", "beyond"))

    def first_beyond(self, most: int) -> list[int]:
        last = most + len(self._went)
        stored = self._scripts.ask("ZRANGE", "beyond", 0, last, "WITHSCORES")
        scores = {int(key): int(float(score)) for key, score in pairs(stored)}
        scores = {key: score for key, score in scores.items() if key not in self._went}
        scores |= self._came
        return sorted(scores, key=lambda number: (scores[number], number))[:most]

    def place_of(self, number: int) -> Place | None:
        """Where an entry is, if this batch has put it there."""
        return self._places.get(number)

    def put(self, entry: Entry, before: Place, batch: Batch) -> bool:
        """Put an entry, which was at a place, where it waits now: whether that is another one."""
        waits, level = entry.waits, entry.way.level
        key = level if waits is Wait.LEVEL else score_of(level, entry.rank)
        after = (waits, 0 if waits is Wait.NOTHING else key)
        self._places[entry.id] = after
        if before == after:
            return False
        self._leave(entry.id, before, batch)
        if waits is Wait.LEVEL:
            self.at(key).add(entry.id)
            batch.call("SADD", f"levels:{key}", entry.id)
            self._count(key, 1, batch)
        elif waits is Wait.BUDGET:
            self._came[entry.id] = key
            batch.call("ZADD", "beyond", key, entry.id)
        return True

    def _leave(self, number: int, place: Place, batch: Batch) -> None:
        waits, level = place
        if waits is Wait.LEVEL:
            self.at(level).discard(number)
            batch.call("SREM", f"levels:{level}", number)
            self._count(level, -1, batch)
        elif waits is Wait.BUDGET:
            self._came.pop(number, None)
            self._went.add(number)
            batch.call("ZREM", "beyond", number)

    def _count(self, level: int, change: int, batch: Batch) -> None:
        self._at_levels[level] = self._at_levels.get(level, 0) + change
        batch.call("HSET", "levels", level, self._at_levels[level])

    def is_written(self) -> None:
        """Redis has what the batch had."""
        self._places.clear()
        self._came.clear()
        self._went.clear()
