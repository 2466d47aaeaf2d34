"""A shared crawl as a ``crawl.db``: so it is read, exported and asked as on one machine.

Pages are read before entries: what a page links to is known then. While others go on, a page
may be missing that its entry says is done; when they have ended, nothing is. A URL may lead to
one that came in while it was read: that is read then, too.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.redis.aside import Aside
from crawlproject.frontier.redis.blocks import SIZE, Malformed, full, unpacked
from crawlproject.frontier.redis.keys import PAGED, PAGES_A_KEY
from crawlproject.frontier.redis.logbook import history_of_value
from crawlproject.frontier.redis.messages import HASH_BYTES
from crawlproject.frontier.redis.scripts import pairs
from crawlproject.frontier.redis.shelf import Shelf
from crawlproject.frontier.redis.things import thing_from, things_from
from crawlproject.frontier.redis.wire import item_from, robots_from
from crawlproject.frontier.seen import fingerprint
from crawlproject.records import from_text, to_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from crawlproject.frontier.redis.blocks import Row
    from crawlproject.frontier.redis.scripts import Scripts

# Hashes, or members of a list, that are read at once.
_AT_ONCE = 16
INSERT_URL = f"INSERT OR REPLACE INTO urls VALUES ({', '.join('?' * 22)})"  # noqa: S608
# What is larger was not written by us.
_LARGEST = 1e15


def is_id(text: bytes) -> bool:
    """Whether it is a number of ours: SQLite has none that are much larger."""
    return text.isdigit() and len(text) < 16


class Mirror:
    """``aside`` is for values that are not ours."""

    def __init__(
        self,
        scripts: Scripts,
        database: sqlite3.Connection,
        host_of: Callable[[str], str],
        aside: Aside | None = None,
    ) -> None:
        self._scripts = scripts
        self._database = database
        self._host_of = host_of
        self._aside = aside or Aside(scripts)
        self._hosts: dict[str, int] = {}
        # What sitemaps say: the id of a URL, the sitemap's URL, the hint.
        self._hints: list[tuple[int, str, str]] = []

    def copy(self, *, with_pages: bool = True) -> None:
        """Copy everything, or all but what was fetched."""
        self._database.execute("BEGIN")
        if with_pages:
            self._copy_pages(self._last_id())
            self._copy_starts()
        self._copy_hosts()
        self._copy_urls()
        self._insert_hints()
        self._copy_rest()
        self._database.execute("COMMIT")

    def _last_id(self) -> int:
        value = self._scripts.ask("HGET", "meta", "last_id")
        return int(value) if value is not None and is_id(value) else 0

    def _copy_pages(self, last_id: int) -> None:
        for number in range(0, last_id // PAGES_A_KEY + 1, _AT_ONCE):
            numbers = range(number, number + _AT_ONCE)
            found = self._scripts.ask_all(
                ("HGETALL", f"{name}:{one}") for name in PAGED for one in numbers
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
                    (int(key), value[:HASH_BYTES], value[HASH_BYTES:] or None)
                    for some in found[2 * _AT_ONCE : 3 * _AT_ONCE]
                    for key, value in some.items()
                    if is_id(key) and len(value) >= HASH_BYTES
                ],
            )
            copies = (self._copy_visit, self._copy_change, self._copy_hints, self._copy_things)
            for place, copy in enumerate(copies, start=3):
                for some in found[place * _AT_ONCE : (place + 1) * _AT_ONCE]:
                    self._copy_all(some, copy)

    def _copy_page(self, key: bytes, value: bytes, links: bytes | None) -> None:
        try:
            record, stored = _texts(unpacked(value))
            if not is_id(key):
                raise Malformed("no id")
            number = int(key)
        except ValueError as error:
            self._aside.put("pages", value, str(error))
            return
        self._database.execute(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)",
            (number, record, None if links is None or len(links) % 4 else links),
        )
        if stored is not None:
            self._database.execute("INSERT OR REPLACE INTO stored VALUES (?, ?)", (number, stored))

    def _copy_all(self, some: dict[bytes, bytes], copy: Callable[[int, bytes], None]) -> None:
        for key, value in some.items():
            # What is none of ours counts for nothing.
            with suppress(ValueError, TypeError, AttributeError, self._database.Error):
                if is_id(key):
                    copy(int(key), value)

    def _copy_visit(self, number: int, value: bytes) -> None:
        history = history_of_value(value)
        self._database.execute(
            "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?, ?)",
            (number, *history[:3], to_text(history.kept())),
        )

    def _copy_change(self, number: int, value: bytes) -> None:
        at, change, detail = from_text(value.decode())
        if isinstance(detail, dict):
            self._database.execute(
                "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)",
                (number, float(at), str(change), to_text(detail)),
            )

    def _copy_hints(self, number: int, value: bytes) -> None:
        """Which ids sitemaps have is known when all URLs are."""
        for sitemap, hint in from_text(value.decode()).items():
            if isinstance(from_text(hint), dict):
                self._hints.append((number, sitemap, hint))

    def _insert_hints(self) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO hints SELECT ?1, id, ?3 FROM urls WHERE fingerprint = ?4 "
            "AND url = ?2",
            [(*hint, fingerprint(hint[1])) for hint in self._hints],
        )
        self._hints.clear()

    def _copy_things(self, number: int, value: bytes) -> None:
        try:
            things = things_from(value)
        except Malformed as error:
            self._aside.put("things", value, str(error))
            return
        self._insert_items(number, things)

    def _copy_starts(self) -> None:
        for value in self._scripts.ask("HGETALL", "starts").values():
            try:
                self._insert_items(None, [thing_from(value)])
            except Malformed as error:
                self._aside.put("starts", value, str(error))

    def _insert_items(self, number: int | None, things: list[list[Any]]) -> None:
        self._database.executemany(
            "INSERT INTO items (url, kind, page, record) VALUES (?, ?, ?, ?)",
            [(number, *thing) for thing in things],
        )

    def _copy_hosts(self) -> None:
        found = self._scripts.ask_everywhere("SMEMBERS", "hosts")
        names = sorted(name.decode("utf-8", "replace") for some in found for name in some)
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
                # SQLite has no infinity that it reads as a number, and no larger whole numbers.
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
        leased = self._leased()
        due: dict[bytes, bytes] = {}
        for some in self._scripts.ask_everywhere("ZRANGE", "due", 0, -1, "WITHSCORES"):
            due |= dict(pairs(some))
        tries: dict[bytes, bytes] = {}
        for again in self._scripts.ask_everywhere("HGETALL", "tries"):
            tries |= again
        rows = []
        last_id = self._last_id()
        for number, row in Shelf(self._scripts, self._aside, last_id).all_rows():
            key = b"%d" % number
            rows.append(self._url_row(number, row, key in leased, due.get(key), tries.get(key)))
            if len(rows) >= SIZE * 64:
                self._database.executemany(INSERT_URL, rows)
                rows.clear()
        self._database.executemany(INSERT_URL, rows)
        self._copy_later(last_id)

    def _copy_later(self, last_id: int) -> None:
        """Copy what came in since, as far as it is led to."""
        known = -(-last_id // SIZE) * SIZE
        while missing := self._led_to_behind(known):
            shelf = Shelf(self._scripts, self._aside, self._last_id())
            shelf.load(missing)
            found = [(number, row) for number in missing if (row := shelf.row(number))]
            rows = [self._url_row(number, row, False, None, None) for number, row in found]
            self._database.executemany(INSERT_URL, rows)
            if len(rows) < len(missing):
                # It was lost: then nothing leads there.
                for column in ("referrer", "target"):
                    self._database.execute(
                        f"UPDATE urls SET {column} = NULL WHERE {column} > ? "  # noqa: S608
                        f"AND {column} NOT IN (SELECT id FROM urls)",
                        (known,),
                    )

    def _led_to_behind(self, known: int) -> list[int]:
        found = self._database.execute(
            "SELECT referrer FROM urls WHERE referrer > ?1 UNION "
            "SELECT target FROM urls WHERE target > ?1 "
            "EXCEPT SELECT id FROM urls WHERE id > ?1",
            (known,),
        )
        return [number for (number,) in found]

    def _leased(self) -> set[bytes]:
        """The ids that workers have."""
        workers = [name.decode() for name in self._scripts.ask("ZRANGE", "workers", 0, -1)]
        return {
            number
            for worker in workers
            for some in self._scripts.ask_everywhere("HKEYS", f"l:{worker}")
            for number in some
        }

    def _url_row(
        self, number: int, row: Row, is_leased: bool, due: bytes | None, learned: bytes | None
    ) -> tuple[Any, ...]:
        again = None if learned is None else self._tried(learned)
        url, state, level, hops, referrer, rank, reason, rule, *rest = full(row)
        waits, target, fewest_hops, blocked, verdict, request, was = rest
        return (
            number,
            fingerprint(url),
            url,
            1 if is_leased and state == 0 else state,
            self._hosts.get(self._host_of(url)),
            level,
            hops,
            referrer or None,
            rank + number,
            reason,
            rule,
            again and again[0],
            verdict,
            (again and again[1]) or None,
            (again and again[2]) or None,
            None if due is None else float(due),
            waits or None,
            target,
            fewest_hops or None,
            blocked,
            was or None,
            request,
        )

    def _tried(self, learned: bytes) -> tuple[str | None, int, int] | None:
        with suppress(ValueError):
            item = item_from(b'0 ["",0,0,0,null,[],null,null,false,null,null]', learned)
            return item.fetch_url, item.attempts, item.bounces
        return None

    def _copy_rest(self) -> None:
        answered = self._scripts.ask("HGETALL", "answered")
        for number, value in self._scripts.ask("HGETALL", "answers").items():
            if not is_id(number) or not is_id(answered.get(number, b"")):
                continue
            with suppress(Malformed):
                self._database.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
                    (int(number), int(answered[number]), str(unpacked(value))),
                )
        self._database.executemany(
            "INSERT OR REPLACE INTO budgets VALUES (?, ?)",
            [
                (name, int(spent))
                for name, spent in self._scripts.hash("budgets").items()
                if is_id(spent.encode())
            ],
        )
        self._database.executemany(
            "INSERT OR REPLACE INTO notes VALUES (?, ?)", self._scripts.hash("notes").items()
        )


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
