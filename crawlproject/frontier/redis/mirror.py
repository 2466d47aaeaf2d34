"""A shared crawl as a ``crawl.db``: so it is read, exported and asked as on one machine.

Pages are read before entries: what a page links to is known then. While others go on, a page
may be missing that its entry says is done; when they have ended, nothing is.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.redis.aside import Aside
from crawlproject.frontier.redis.blocks import SIZE, Malformed, full, unpacked
from crawlproject.frontier.redis.keys import PAGES_A_KEY
from crawlproject.frontier.redis.scripts import pairs
from crawlproject.frontier.redis.session import item_from, robots_from
from crawlproject.frontier.redis.shelf import Shelf
from crawlproject.frontier.seen import fingerprint

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawlproject.frontier.redis.scripts import Scripts

_HASH_BYTES = 32
# What is larger was not written by us.
_LARGEST, _DIGITS = 1e16, 16
# Hashes, or members of a list, that are read at once.
_AT_ONCE = 16
_INSERT_URL = f"INSERT OR REPLACE INTO urls VALUES ({', '.join('?' * 21)})"  # noqa: S608


class Mirror:
    def __init__(
        self, scripts: Scripts, database: sqlite3.Connection, host_of: Callable[[str], str]
    ) -> None:
        self._scripts = scripts
        self._database = database
        self._host_of = host_of
        self._aside = Aside(scripts)
        self._hosts: dict[str, int] = {}

    def copy(self) -> None:
        """Copy everything."""
        self._database.execute("BEGIN")
        last_id = self._last_id()
        self._copy_pages(last_id)
        self._copy_items()
        self._copy_hosts()
        self._copy_urls()
        self._copy_rest()
        self._database.execute("COMMIT")

    def _last_id(self) -> int:
        value = self._scripts.ask("HGET", "meta", "last_id")
        return int(value) if value is not None and _is_number(value) else 0

    def _copy_pages(self, last_id: int) -> None:
        for number in range(0, last_id // PAGES_A_KEY + 1, _AT_ONCE):
            numbers = range(number, number + _AT_ONCE)
            found = self._scripts.ask_all(
                ("HGETALL", f"{name}:{one}")
                for name in ("pages", "links", "contents")
                for one in numbers
            )
            links: dict[bytes, bytes] = {}
            for some in found[_AT_ONCE : 2 * _AT_ONCE]:
                links |= some
            for some in found[:_AT_ONCE]:
                for key, value in some.items():
                    self._copy_page(key, value, links.get(key))
            self._database.executemany(
                "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)",
                [
                    (int(key), value[:_HASH_BYTES], value[_HASH_BYTES:] or None)
                    for some in found[2 * _AT_ONCE :]
                    for key, value in some.items()
                    if _is_number(key) and len(value) >= _HASH_BYTES
                ],
            )

    def _copy_page(self, key: bytes, value: bytes, links: bytes | None) -> None:
        try:
            record, stored = _texts(unpacked(value))
            number = int(key)
            if not _is_number(key):
                raise Malformed("no number of a URL")
        except ValueError as error:
            self._aside.put("pages", value, str(error))
            return
        self._database.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)",
            (number, record, None if links is None or len(links) % 4 else links),
        )
        if stored is not None:
            self._database.execute("INSERT OR REPLACE INTO stored VALUES (?, ?)", (number, stored))

    def _copy_items(self) -> None:
        for value in self._things():
            try:
                url, kind, page, record = unpacked(value)
                self._database.execute(
                    "INSERT INTO items (url, kind, page, record) VALUES (?, ?, ?, ?)",
                    (url, kind, page, record),
                )
            except (Malformed, TypeError, ValueError, self._database.Error) as error:
                self._aside.put("things", value, str(error))

    def _things(self) -> Iterator[bytes]:
        start = 0
        while some := self._scripts.ask("LRANGE", "things", start, start + 255):
            yield from some
            start += len(some)
        yield from self._scripts.ask("HGETALL", "starts").values()

    def _copy_hosts(self) -> None:
        members = self._scripts.ask("SMEMBERS", "hosts")
        names = sorted(name.decode("utf-8", "replace") for name in members)
        for start in range(0, len(names), 256):
            some = names[start : start + 256]
            found = self._scripts.ask_all(
                ("HGETALL", f"{kind}:{name}") for name in some for kind in ("h", "robots")
            )
            for name, state, robots in zip(some, found[::2], found[1::2], strict=True):
                self._copy_host(name, state)
                for origin, value in robots.items():
                    self._copy_robots(origin.decode("utf-8", "replace"), value)

    def _copy_host(self, name: str, state: dict[bytes, bytes]) -> None:
        def number(key: bytes) -> float:
            with suppress(ValueError):
                value = float(state.get(key, 0))
                return value if abs(value) < _LARGEST else 0.0
            return 0.0

        ready_at = number(b"ready_at")
        self._hosts[name] = len(self._hosts) + 1
        self._database.execute(
            "INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._hosts[name],
                name,
                number(b"set_delay"),
                number(b"insisted"),
                number(b"throttled"),
                ready_at if ready_at > 0 else None,
                int(number(b"requests")),
                int(number(b"failures")),
            ),
        )

    def _copy_robots(self, origin: str, value: bytes) -> None:
        with suppress(Malformed):
            self._database.execute(
                "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)",
                (origin, *robots_from(value)),
            )

    def _copy_urls(self) -> None:
        workers = [name.decode() for name in self._scripts.ask("ZRANGE", "workers", 0, -1)]
        leased: set[bytes] = set()
        for worker in workers:
            leased |= set(self._scripts.ask("HKEYS", f"l:{worker}"))
        due = dict(pairs(self._scripts.ask("ZRANGE", "due", 0, -1, "WITHSCORES")))
        tries = self._scripts.ask("HGETALL", "tries")
        shelf = Shelf(self._scripts, self._aside, self._last_id())
        rows = []
        for number, row in shelf.all_rows():
            key = b"%d" % number
            again = self._tried(tries[key]) if key in tries else None
            url, state, depth, hops, referrer, rank, reason, rule, *rest = full(row)
            waits, target, fewest_hops, blocked, verdict, request = rest
            rows.append(
                (
                    number,
                    fingerprint(url),
                    url,
                    1 if key in leased and state == 0 else state,
                    self._hosts.get(self._host_of(url)),
                    depth,
                    hops,
                    referrer or None,
                    rank + number,
                    reason,
                    rule,
                    again and again[0],
                    verdict,
                    (again and again[1]) or None,
                    (again and again[2]) or None,
                    float(due[key]) if key in due else None,
                    waits or None,
                    target,
                    fewest_hops or None,
                    blocked,
                    request,
                )
            )
            if len(rows) >= SIZE * 64:
                self._database.executemany(_INSERT_URL, rows)
                rows.clear()
        self._database.executemany(_INSERT_URL, rows)

    def _tried(self, learned: bytes) -> tuple[str | None, int, int] | None:
        with suppress(ValueError):
            item = item_from(b'0 ["",0,0,0,null,[],null,null]', learned)
            return item.fetch_url, item.attempts, item.bounces
        return None

    def _copy_rest(self) -> None:
        answered = self._scripts.ask("HGETALL", "answered")
        for number, value in self._scripts.ask("HGETALL", "answers").items():
            if not _is_number(number) or not _is_number(answered.get(number, b"")):
                continue
            with suppress(Malformed):
                self._database.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
                    (int(number), int(answered[number]), str(unpacked(value))),
                )
        self._database.executemany(
            "INSERT OR REPLACE INTO budgets VALUES (?, ?)",
            [
                (name, int(n))
                for name, n in self._scripts.hash("budgets").items()
                if _is_number(n.encode())
            ],
        )
        self._database.executemany(
            "INSERT OR REPLACE INTO notes VALUES (?, ?)", self._scripts.hash("notes").items()
        )


def _is_number(text: bytes) -> bool:
    """One that a database has room for."""
    return text.isdigit() and len(text) < _DIGITS


def _texts(value: Any) -> tuple[str, str | None]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or type(value[0]) is not str
        or type(value[1]) not in (str, type(None))
    ):
        raise Malformed("no page")
    record, stored = value
    if record:
        json.loads(record)
    return record, stored
