"""Blocks of entries (``blocks.py``) in memory, as far as they were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.entry import Wait
from crawlproject.frontier.redis.blocks import (
    SIZE,
    Malformed,
    entry_from,
    full,
    packed,
    row_of,
    unpack,
)
from crawlproject.frontier.redis.keys import score_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.redis.aside import Aside
    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.blocks import Row
    from crawlproject.frontier.redis.scripts import Scripts

# Blocks in memory: a quarter of a million entries.
_MOST = 4096
# Blocks in one call.
_AT_ONCE = 512


class Shelf:
    def __init__(self, scripts: Scripts, aside: Aside, last_id: int) -> None:
        self._scripts = scripts
        self._aside = aside
        self._last_block = block_of(last_id) if last_id else -1
        self._blocks: dict[int, list[Row | None]] = {}
        self._changed: set[int] = set()

    def load(self, ids: Iterable[int]) -> None:
        """Have the entries with these ids in memory, and those that they were found on."""
        self._read({block_of(number) for number in ids})
        referrers = {
            block_of(row[4]) for number in ids if (row := self.row(number)) and len(row) > 4
        }
        self._read(referrers)

    def entry(self, number: int) -> Entry | None:
        row = self.row(number)
        return None if row is None else entry_from(number, row, self._url_of)

    def place_of(self, number: int) -> tuple[Wait, int]:
        """What an entry waits for, as it is written, and where."""
        row = self.row(number)
        if row is None or not (waits := full(row)[8]):
            return Wait.NOTHING, 0
        _, _, level, _, _, rank, *_ = full(row)
        return Wait(waits), level if waits == Wait.LEVEL else score_of(level, rank + number)

    def is_offered(self, number: int) -> bool:
        """Whether an entry, as it is written, may be taken by a worker."""
        row = self.row(number)
        return row is not None and full(row)[1] == 0 and full(row)[8] == Wait.NOTHING

    def all_rows(self) -> Iterator[tuple[int, Row]]:
        """Every entry that is written."""
        for start in range(0, self._last_block + 1, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, self._last_block + 1))
            for number, rows in self._fetched(numbers):
                for place, row in enumerate(self._blocks.get(number, rows)):
                    if row is not None:
                        yield number * SIZE + place + 1, row

    def put(self, entry: Entry) -> None:
        number = block_of(entry.id)
        if number not in self._blocks:
            self._read({number})
        rows = self._blocks.setdefault(number, [None] * SIZE)
        rows[(entry.id - 1) % SIZE] = row_of(entry)
        self._changed.add(number)

    def write(self, batch: Batch) -> None:
        for number in self._changed:
            rows = self._blocks[number]
            batch.call("SET", f"e:{number}", packed(list(_until_last(rows))))
            self._last_block = max(self._last_block, number)
        self._changed.clear()
        while len(self._blocks) > _MOST:
            del self._blocks[next(iter(self._blocks))]

    def row(self, number: int) -> Row | None:
        """As it was loaded."""
        rows = self._blocks.get(block_of(number))
        return None if rows is None else rows[(number - 1) % SIZE]

    def _url_of(self, number: int) -> str:
        row = self.row(number)
        if row is None:
            self._read({block_of(number)})
            row = self.row(number)
        return "" if row is None else str(row[0])

    def _read(self, numbers: set[int]) -> None:
        missing = sorted(
            number
            for number in numbers
            if number not in self._blocks and 0 <= number <= self._last_block
        )
        for start in range(0, len(missing), _AT_ONCE):
            for number, rows in self._fetched(missing[start : start + _AT_ONCE]):
                self._blocks[number] = rows

    def _fetched(self, numbers: Iterable[int]) -> list[tuple[int, list[Row | None]]]:
        numbers = list(numbers)
        keys = [f"e:{number}" for number in numbers]
        values = self._scripts.ask_all([("GET", key) for key in keys])
        return [
            (number, self._checked(key, value))
            for number, key, value in zip(numbers, keys, values, strict=True)
        ]

    def _checked(self, key: str, value: bytes | None) -> list[Row | None]:
        rows: list[Row | None] = [None] * SIZE
        if value is None:
            return rows
        try:
            found = unpack(value)
        except Malformed as error:
            self._aside.move(key, value, str(error))
            return rows
        rows[: len(found)] = found
        return rows


def block_of(number: int) -> int:
    return (number - 1) // SIZE


def _until_last(rows: list[Row | None]) -> Iterator[Row | None]:
    last = max(place for place, row in enumerate(rows) if row is not None)
    yield from rows[: last + 1]
