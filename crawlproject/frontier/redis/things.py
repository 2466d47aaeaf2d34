"""Items that belong to URLs in Redis, as the committer sees them: those of a URL are one value.

So they are replaced as one when it is visited again. Changes wait in memory until ``write``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.frontier.redis.blocks import Malformed, packed, unpacked
from crawlproject.frontier.redis.keys import paged
from crawlproject.records import encodable, from_text, page_url

if TYPE_CHECKING:
    from crawlproject.frontier.redis.aside import Aside
    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.scripts import Scripts

    # Kind, the page that it stands for, record.
    Thing = list[Any]

_NAME = "things"


class RedisThings:
    def __init__(self, scripts: Scripts, aside: Aside) -> None:
        self._scripts = scripts
        self._aside = aside
        self._added: dict[int, list[Thing]] = {}
        self._dropped: set[int] = set()

    def add(self, number: int, thing: Thing) -> None:
        self._added.setdefault(number, []).append(thing)

    def drop(self, number: int) -> None:
        self._added.pop(number, None)
        self._dropped.add(number)

    def write(self, batch: Batch) -> None:
        for number in self._dropped - self._added.keys():
            batch.call("HDEL", paged(_NAME, number), number)
        known = self._known([number for number in self._added if number not in self._dropped])
        for number, things in self._added.items():
            value = packed([*known.get(number, ()), *things])
            batch.call("HSET", paged(_NAME, number), number, value)

    def is_written(self) -> None:
        """Redis has what the batch had."""
        self._added.clear()
        self._dropped.clear()

    def _known(self, numbers: list[int]) -> dict[int, list[Thing]]:
        """What earlier attempts, or a callback that has not ended with its request, have left."""
        if not numbers:
            return {}
        found = self._scripts.ask_all([("HGET", paged(_NAME, n), n) for n in numbers])
        known = {}
        for number, value in zip(numbers, found, strict=True):
            if value is not None:
                try:
                    known[number] = things_from(value)
                except Malformed as error:
                    self._aside.put(_NAME, value, str(error))
        return known


def things_from(value: bytes) -> list[Thing]:
    things = unpacked(value)
    if not isinstance(things, list) or not all(map(_is_thing, things)):
        raise Malformed("no items")
    return things


def thing_from(value: bytes) -> Thing:
    thing = unpacked(value)
    if not _is_thing(thing):
        raise Malformed("no item")
    return list(thing)


def _is_thing(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    kind, page, text = value
    if not type(kind) is type(text) is str:
        return False
    try:
        record = from_text(text)
        # SQLite, into which it is copied, refuses a lone surrogate.
        f"{kind}{text}".encode()
    except (ValueError, RecursionError):
        return False
    if not isinstance(record, dict):
        return False
    url = page_url(kind, record)
    return bool(page == (url and encodable(url)))
