"""Entries and pages in ``crawl.db``, as objects.

Changes are written in two steps. ``flush`` hands them to SQLite, within a transaction, so
that queries see them. ``commit`` ends the transaction: only then they outlive the process.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from crawlproject.frontier import restore
from crawlproject.frontier.base import Robots, State
from crawlproject.frontier.edges import edges_of
from crawlproject.frontier.entries import Entries, Node
from crawlproject.frontier.entry import AGAIN, NO_SITEMAP, Wait
from crawlproject.frontier.harvest import Harvest
from crawlproject.frontier.hosts import BEFORE_ALL
from crawlproject.frontier.logbook import SqliteLogbook
from crawlproject.frontier.notes import ADDED_FIELDS
from crawlproject.frontier.rows import SELECT, entry_from, insert, update
from crawlproject.frontier.seen import Seen
from crawlproject.records import from_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.census import Census
    from crawlproject.frontier.edges import Edges
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.hosts import Host, Key, Lane
    from crawlproject.records import Record

# Entries that are changed but not flushed, and characters of pages and items.
_CHANGES = 4_096
_LENGTH = 4 * 1024 * 1024


class Store(Entries):
    def __init__(self, database: sqlite3.Connection, seen: Seen | None = None) -> None:
        self.database = database
        seen = seen or Seen()
        seen.add_all(row[0] for row in database.execute("SELECT fingerprint FROM urls"))
        super().__init__(seen, json.loads(self.recall(ADDED_FIELDS) or "[]"))
        self._hosts: dict[int, Host] = {}
        self._harvest = Harvest()
        self._last_id = database.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0]
        self._is_writing = False
        self.logbook: SqliteLogbook = SqliteLogbook(database, self.flush, self.begin)
        self._has_redirects = bool(self._ids("target IS NOT NULL LIMIT 1"))

    # --- entries

    def _find(self, marks: dict[int, str]) -> list[Entry]:
        rows = self.database.execute(
            f"{SELECT} WHERE u.fingerprint IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps(list(marks)),),
        )
        return [entry_from(row) for row in rows.fetchall()]

    def _load(self, number: int) -> Entry:
        row = self.database.execute(f"{SELECT} WHERE u.id = ?", (number,)).fetchone()
        return entry_from(row)

    def _sources(self, number: int) -> Iterable[int]:
        rows = self.database.execute("SELECT id FROM urls WHERE target = ?", (number,))
        return [source for (source,) in rows]

    def flush_if_large(self) -> None:
        if len(self._new) + len(self._changed) > _CHANGES or self._harvest.length > _LENGTH:
            self.flush()

    def _row(self, query: str, *values: Any) -> Any:
        return self.database.execute(query, values).fetchone()

    def _ids(self, condition: str, *values: Any) -> list[int]:
        """The ids of entries by a condition on the table urls, and perhaps an order."""
        self.flush()
        rows = self.database.execute(f"SELECT id FROM urls WHERE {condition}", values)  # noqa: S608
        return [number for (number,) in rows]

    def unassigned(self) -> list[int]:
        """What may be taken, but has no host yet."""
        return self._ids("state = 0 AND due IS NULL AND waits IS NULL AND host IS NULL")

    def called(self) -> list[int]:
        return self._ids("again IS NOT NULL AND state = 0")

    def let_in(self) -> list[int]:
        return self._ids("waits IS NULL AND state = 0 ORDER BY level, rank")

    def at_level(self, level: int) -> list[int]:
        return self._ids("waits = ? AND level = ? ORDER BY url", int(Wait.LEVEL), level)

    def first_beyond(self, most: int) -> list[int]:
        return self._ids(
            "waits = ? AND state = 0 AND due IS NULL ORDER BY level, rank LIMIT ?",
            int(Wait.BUDGET),
            most,
        )

    def found_by_links(self) -> list[int]:
        return self._ids(
            "state = 0 AND level > 0 AND again IS NULL "
            "AND (request IS NULL OR referrer IS NOT NULL)"
        )

    def skipped_for(self, reason: str) -> list[int]:
        return self._ids("state = 4 AND reason = ?", reason)

    def skipped_but_for(self, reasons: Sequence[str]) -> list[int]:
        places = ", ".join("?" * len(reasons))
        return self._ids(f"state = 4 AND reason NOT IN ({places}) ORDER BY level, url", *reasons)

    def not_had(self, reasons: Sequence[str], *, failed: bool) -> list[int]:
        skipped = f"state = 4 AND reason IN ({', '.join('?' * len(reasons))})"
        condition = f"(state = 3 AND target IS NULL) OR ({skipped})" if failed else skipped
        return self._ids(condition, *reasons)

    def queue(self, host: Host, lane: Lane, size: int) -> list[Key]:
        """The next keys of a host's lane behind its horizon."""
        self.flush()
        level, rank, number = lane.horizon or BEFORE_ALL
        if lane is host.again:
            return self.database.execute(
                f"SELECT {AGAIN}, rank, id FROM urls WHERE again IS NOT NULL AND state = 0 "  # noqa: S608
                "AND due IS NULL AND waits IS NULL AND host = ? AND (rank, id) > (?, ?) "
                "ORDER BY rank, id LIMIT ?",
                (host.id, rank, number, size),
            ).fetchall()
        return self.database.execute(
            "SELECT level, rank, id FROM urls WHERE state = 0 AND due IS NULL AND waits IS NULL "
            "AND again IS NULL AND host = ? AND (level, rank, id) > (?, ?, ?) "
            "ORDER BY level, rank, id LIMIT ?",
            (host.id, level, rank, number, size),
        ).fetchall()

    # --- hosts, pages, links

    def change_host(self, host: Host) -> None:
        self._hosts[host.id] = host

    def _put_page(self, entry: Entry, text: str, links: list[int] | None) -> None:
        self._harvest.add_page(entry.id, text, links)

    def keep_beside(self, entry: Entry, lease: Lease) -> None:
        self._harvest.add_beside(entry.id, lease)

    def add_item(self, entry: Entry | None, kind: str, page: str | None, record: Record) -> None:
        self._harvest.add_item(entry.id if entry else None, kind, page, record)

    def drop_items(self, entry: Entry) -> None:
        self._harvest.drop_items(entry.id)

    def links_of(self, entry: Entry) -> array[int]:
        self.flush()
        row = self.database.execute("SELECT links FROM pages WHERE id = ?", (entry.id,)).fetchone()
        links = array("I")
        if row is not None and row[0] is not None:
            links.frombytes(row[0])
        return links

    def record_of(self, entry: Entry) -> Record | None:
        self.flush()
        row = self._row("SELECT record FROM pages WHERE id = ?", entry.id)
        return None if row is None or not row[0] else from_text(row[0])

    def content_of(self, entry: Entry) -> tuple[bytes | None, bytes | None]:
        row = self._row("SELECT hash, signature FROM contents WHERE id = ?", entry.id)
        return row or (None, None)

    # --- the whole graph

    def edges(self) -> Edges:
        self.flush()
        return edges_of(self.database)

    def nodes(self) -> Iterable[Node]:
        self.flush()
        rows = self.database.execute(
            "SELECT id, coalesce(target, 0), level, hops, coalesce(referrer, 0), "  # noqa: S608
            f"coalesce(fewest_hops, 0), reason, NOT ({NO_SITEMAP}) "
            "FROM urls ORDER BY url"
        )
        return map(Node._make, rows)

    def put_answer(self, entry: Entry, text: str) -> int:
        self.begin()
        cursor = self.database.execute(
            "INSERT INTO answers (url, answer) VALUES (?, ?)", (entry.id, text)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def take_answer(self, number: int | None) -> tuple[int, str]:
        self.begin()
        query = "SELECT id, url, answer FROM answers {} ORDER BY id LIMIT 1"
        if number is None:
            row = self.database.execute(query.format("")).fetchone()
        else:
            row = self.database.execute(query.format("WHERE id = ?"), (number,)).fetchone()
        self.database.execute("DELETE FROM answers WHERE id = ?", (row[0],))
        return row[1], row[2]

    def drop_page(self, entry: Entry) -> None:
        self.flush()
        self.begin()
        for table in ("pages", "contents", "stored"):
            self.database.execute(f"DELETE FROM {table} WHERE id = ?", (entry.id,))  # noqa: S608

    # --- what else is kept

    def keep_robots(self, origin: str, robots: Robots) -> None:
        self.begin()
        self.database.execute(
            "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)", (origin, *robots)
        )

    def robots_of(self, origin: str) -> Robots | None:
        row = self.database.execute(
            "SELECT body, fetched_at, expires_at, error, failures FROM robots WHERE origin = ?",
            (origin,),
        ).fetchone()
        return None if row is None else Robots(*row)

    def spent_by(self, group: str) -> int:
        row = self.database.execute("SELECT spent FROM budgets WHERE name = ?", (group,)).fetchone()
        return 0 if row is None else int(row[0])

    def keep_spent(self, groups: list[tuple[str, int]]) -> None:
        self.begin()
        self.database.executemany("INSERT OR REPLACE INTO budgets VALUES (?, ?)", groups)

    def remember(self, name: str, value: str) -> None:
        self.begin()
        self.database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def recall(self, name: str) -> str | None:
        row = self.database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]

    # --- where the last run stopped

    def count(self, census: Census) -> None:
        restore.count(self.database, census)

    def waiting_at(self) -> dict[int, int]:
        return restore.waiting_at(self.database)

    def within(self) -> int:
        return restore.within(self.database)

    def beyond(self) -> int:
        return restore.beyond(self.database)

    def answers(self) -> list[tuple[int, Key]]:
        return restore.answers(self.database)

    # --- transactions

    def flush(self) -> None:
        """Hand all changes to SQLite."""
        if not (self._new or self._changed or self._hosts or self._harvest or self.logbook):
            return
        self.begin()
        insert(self.database, self._new.values())
        update(self.database, self._changed.values())
        self._flush_rest()
        self._new.clear()
        self._changed.clear()
        self._redirects.clear()
        self._pinned = {
            url: entry for url, entry in self._pinned.items() if entry.state is State.LEASED
        }

    def commit(self) -> None:
        self.flush()
        if self._is_writing:
            self.database.execute("COMMIT")
            self._is_writing = False

    def begin(self) -> None:
        if not self._is_writing:
            self.database.execute("BEGIN IMMEDIATE")
            self._is_writing = True

    def abandon(self) -> None:
        """Go back to what is committed, for good: nothing that was changed since counts."""
        if self._is_writing:
            self._is_writing = False
            self.database.rollback()

    def _flush_rest(self) -> None:
        if self._hosts:
            self.database.executemany(
                "INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        host.id,
                        host.name,
                        host.limits.delay,
                        host.min_delay,
                        host.throttle,
                        host.start_at if host.start_at > 0 else None,
                        host.requests,
                        host.failures,
                    )
                    for host in self._hosts.values()
                ],
            )
            self._hosts.clear()
        self._harvest.write(self.database)
        self.logbook.write()
