"""Pages in Redis, with their links and what they are compared by, as the committer sees them.

Changes wait in memory until ``write``. What is read of pages that are visited again is read for
many at once (``prepare``), and forgotten when a batch is written.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlproject.frontier.redis.blocks import packed, unpacked
from crawlproject.frontier.redis.keys import PAGES_A_KEY, paged
from crawlproject.frontier.redis.messages import HASH_BYTES
from crawlproject.records import from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.redis.batch import Batch
    from crawlproject.frontier.redis.scripts import Scripts
    from crawlproject.items import Content
    from crawlproject.records import Record

    # A page, its links, and what it is compared by.
    Found = tuple[bytes | None, bytes | None, bytes | None]

_NAMES = ("pages", "links", "contents")
_LINK_BYTES = array("I").itemsize
# Hashes that are read at once.
_AT_ONCE = 16


class RedisPages:
    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._pages: dict[int, tuple[str, list[int] | None]] = {}
        self._contents: dict[int, Content] = {}
        self._stored: dict[int, str] = {}
        self._dropped: set[int] = set()
        self._read: dict[int, Found] = {}

    def put(self, number: int, text: str, links: list[int] | None) -> None:
        self._pages[number] = text, links

    def put_beside(self, number: int, lease: Lease) -> None:
        if lease.content is not None:
            self._contents[number] = lease.content
        if lease.stored is not None:
            self._stored[number] = to_text(lease.stored)

    def drop(self, number: int) -> None:
        self._pages.pop(number, None)
        self._contents.pop(number, None)
        self._stored.pop(number, None)
        self._dropped.add(number)
        self._read[number] = None, None, None

    def prepare(self, ids: Iterable[int]) -> None:
        """Have at hand what is there of some URLs."""
        missing = [number for number in ids if number not in self._read]
        if not missing:
            return
        found = iter(
            self._scripts.ask_all(
                [("HGET", paged(name, number), number) for number in missing for name in _NAMES]
            )
        )
        for number, *three in zip(missing, found, found, found, strict=True):
            page, links, content = three
            self._read[number] = page, links, content

    def links_of(self, number: int) -> array[int]:
        if number in self._pages:
            return array("I", self._pages[number][1] or ())
        links = array("I")
        data = self._found(number)[1]
        if data is not None and len(data) % _LINK_BYTES == 0:
            links.frombytes(data)
        return links

    def record_of(self, number: int) -> Record | None:
        if number in self._pages:
            text = self._pages[number][0]
        else:
            page = self._found(number)[0]
            text = "" if page is None else str(unpacked(page)[0])
        record: Record | None = from_text(text) if text else None
        return record

    def content_of(self, number: int) -> tuple[bytes | None, bytes | None]:
        content = self._found(number)[2] or b""
        return content[:HASH_BYTES] or None, content[HASH_BYTES:] or None

    def all_links(self, last_id: int) -> Iterator[tuple[int, bytes]]:
        """Of all pages, by their ids."""
        for start in range(0, last_id // PAGES_A_KEY + 1, _AT_ONCE):
            keys = [f"links:{number}" for number in range(start, start + _AT_ONCE)]
            ids = range(start * PAGES_A_KEY, (start + _AT_ONCE) * PAGES_A_KEY)
            links = {
                int(key): value
                for some in self._scripts.ask_all([("HGETALL", key) for key in keys])
                for key, value in some.items()
                if key.isdigit() and len(value) % _LINK_BYTES == 0 and int(key) not in self._dropped
            }
            for number, (_, changed) in self._pages.items():
                if number in ids and changed is not None:
                    links[number] = array("I", changed).tobytes()
            yield from sorted((number, some) for number, some in links.items() if number <= last_id)

    def write(self, batch: Batch) -> None:
        for number in self._dropped:
            for name in _NAMES:
                batch.call("HDEL", paged(name, number), number)
        for number, (text, links) in self._pages.items():
            page = packed([text, self._stored.pop(number, None)])
            batch.call("HSET", paged("pages", number), number, page)
            if links is not None:
                batch.call("HSET", paged("links", number), number, array("I", links).tobytes())
        for number, (digest, sign, _) in self._contents.items():
            signature = sign() if callable(sign) else sign
            batch.call("HSET", paged("contents", number), number, digest + (signature or b""))

    def is_written(self) -> None:
        """Redis has what the batch had."""
        for kept in (self._pages, self._contents, self._stored, self._dropped, self._read):
            kept.clear()

    def _found(self, number: int) -> Found:
        self.prepare([number])
        return self._read[number]
