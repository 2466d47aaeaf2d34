"""A part of a shared crawl as a ``crawl.db``: single URLs, and what belongs to them.

A URL is found by the index, not by reading all. With it comes how it was found, up to the seed;
what redirects to it, and where it redirects to; its page, its host, its robots.txt. The blocks
that these are in are all that is read.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from crawlproject.frontier.near import guesses
from crawlproject.frontier.redis.blocks import full
from crawlproject.frontier.redis.index import Index
from crawlproject.frontier.redis.keys import paged
from crawlproject.frontier.redis.mirror import INSERT_URL, Mirror
from crawlproject.frontier.redis.shelf import Shelf
from crawlproject.frontier.seen import fingerprint
from crawlproject.urls.canonical import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlproject.frontier.redis.blocks import Row

# The id of a referrer, the number of redirects before it, and its target, in a row.
_URL, _STATE, _HOPS, _REFERRER, _TARGET = 0, 1, 3, 4, 9
_LEASED = 1
# Hosts whose names are looked through for a similar one.
_HOSTS = 20_000


class Around(Mirror):
    def copy_start(self) -> None:
        """Copy what concerns all URLs: what the crawl remembers of itself."""
        self._database.executemany(
            "INSERT OR REPLACE INTO notes VALUES (?, ?)", self._scripts.hash("notes").items()
        )

    def copy_of(self, url: str) -> bool:
        """Copy a URL and what belongs to it: whether it is known."""
        self._copy_host_of(url)
        shelf = self._shelf()
        found = {
            number
            for number in self._ids([url])
            if (row := self._load(shelf, [number]).get(number)) and row[_URL] == url
        }
        for number in found:
            rows = self._belonging(shelf, number)
            self._insert(rows)
            self._copy_one_page(number)
            if full(rows[number])[_STATE] == _LEASED:
                self._copy_answer(number)
        return bool(found)

    def copy_near(self, url: str) -> None:
        """Copy the URLs that are written almost as this one, as far as the index can tell."""
        names = chain(*self._scripts.ask_everywhere("SRANDMEMBER", "hosts", _HOSTS))
        self._database.executemany(
            "INSERT OR IGNORE INTO hosts (name, delay, insisted, throttled, requests, failures) "
            "VALUES (?, 0, 0, 0, 0, 0)",
            [(name.decode("utf-8", "replace"),) for name in sorted(names)],
        )
        shelf = self._shelf()
        self._insert(self._load(shelf, self._ids(guesses(self._database, url))))

    def _shelf(self) -> Shelf:
        return Shelf(self._scripts, self._aside, self._last_id())

    def _ids(self, urls: Iterable[str]) -> list[int]:
        buckets = self._scripts.ask("HGET", "meta", "buckets")
        index = Index(self._scripts, int(buckets) if buckets and buckets.isdigit() else 1)
        return [number for number in index.find(map(fingerprint, urls)) if number]

    def _load(self, shelf: Shelf, ids: Iterable[int]) -> dict[int, Row]:
        ids = list(ids)
        shelf.load(ids)
        return {number: row for number in ids if (row := shelf.row(number)) is not None}

    def _belonging(self, shelf: Shelf, number: int) -> dict[int, Row]:
        """The rows of a URL and of all that belong to it."""
        rows = self._load(shelf, [number])
        # Where it redirects to, hop by hop.
        ahead: int | None = full(rows[number])[_TARGET]
        while ahead is not None and ahead not in rows:
            rows |= self._load(shelf, [ahead])
            ahead = full(rows[ahead])[_TARGET] if ahead in rows else None
        # What redirects to it, and who else does to those.
        last = {number}
        while last:
            found = self._load(shelf, self._sources(last) - rows.keys())
            rows |= found
            last = set(found)
        # How all of these were found.
        last = set(rows)
        while last:
            before = {full(rows[one])[_REFERRER] for one in last} - {0}
            before |= self._sources(one for one in last if full(rows[one])[_HOPS])
            found = self._load(shelf, before - rows.keys())
            rows |= found
            last = set(found)
        return rows

    def _sources(self, ids: Iterable[int]) -> set[int]:
        wanted = list(ids)
        if not wanted:
            return set()
        values = self._scripts.ask("HMGET", "sources", *wanted)
        parts = b",".join(value for value in values if value).split(b",")
        return {int(part) for part in parts if part.isdigit()}

    def _insert(self, rows: dict[int, Row]) -> None:
        """Put rows into the database, with what is kept elsewhere of those that are open."""
        workers = [name.decode() for name in self._scripts.ask("ZRANGE", "workers", 0, -1)]
        commands = [
            command
            for number, row in rows.items()
            for host in [self._host_of(row[0])]
            for command in (
                ("ZSCORE", self._scripts.at(host, "due"), number),
                ("HGET", self._scripts.at(host, "tries"), number),
                *(("HEXISTS", self._scripts.at(host, f"l:{one}"), number) for one in workers),
            )
        ]
        found = self._scripts.ask_all(commands) if commands else []
        width = 2 + len(workers)
        self._database.executemany(
            INSERT_URL,
            [
                self._url_row(number, row, any(leased), due, learned)
                for place, (number, row) in enumerate(rows.items())
                for due, learned, *leased in [found[place * width : (place + 1) * width]]
            ],
        )

    def _copy_host_of(self, url: str) -> None:
        name = self._host_of(url)
        state, robots = self._scripts.ask_all(
            [("HGETALL", f"h:{name}"), ("HGET", f"robots:{name}", origin_of(url))]
        )
        if state and name not in self._hosts:
            self._copy_host(name, state)
        if robots is not None:
            self._copy_robots(origin_of(url), robots)

    def _copy_one_page(self, number: int) -> None:
        key = b"%d" % number
        record, links, *others = self._scripts.ask_all(
            ("HGET", paged(name, number), number)
            for name in ("pages", "links", "visits", "changes", "hints")
        )
        if record is not None:
            self._copy_page(key, record, links)
        copies = (self._copy_visit, self._copy_change, self._copy_hints)
        for value, copy in zip(others, copies, strict=True):
            if value is not None:
                self._copy_all({key: value}, copy)
        self._insert_hints()

    def _copy_answer(self, number: int) -> None:
        """Whether it has answered, and its links wait: of what they are nobody asks."""
        if b"%d" % number in self._scripts.ask("HVALS", "answered"):
            self._database.execute(
                "INSERT INTO answers (url, answer) VALUES (?, '')",
                (number,),
            )
