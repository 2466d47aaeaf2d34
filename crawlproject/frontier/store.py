"""Entries and pages in ``crawl.db``, as objects.

An entry is one object as long as anybody may change it: those that are leased or changed are
*pinned*; others are cached while they are hot, such as the links of a site's navigation.

Changes are written in two steps. ``flush`` hands them to SQLite, within a transaction, so
that queries see them. ``commit`` ends the transaction: only then they outlive the process.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import Robots, State
from crawlproject.frontier.entry import Entry
from crawlproject.frontier.harvest import Harvest
from crawlproject.frontier.rows import SELECT, entry_from, insert, update
from crawlproject.frontier.seen import Seen, fingerprint
from crawlproject.records import PAGE_FIELDS, PAGE_NAMES, to_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.entry import Way
    from crawlproject.frontier.hosts import Host, Key
    from crawlproject.records import Record

# The note that has the names of the fields that pipelines have added to pages.
ADDED_FIELDS = "added fields"
# The one that has the seeds of all runs.
SEEDS = "seeds"
# The one that has the hosts that seeds have led to.
WIDENED = "widened"
# The one that says when the first run began.
STARTED_AT = "started at"

# Entries in each of the two generations of the cache.
_HOT = 16_384
# Entries that are changed but not flushed, and characters of pages and items.
_CHANGES = 4_096
_LENGTH = 4 * 1024 * 1024


class Store:
    def __init__(self, database: sqlite3.Connection, seen: Seen | None = None) -> None:
        self.database = database
        self._young: dict[str, Entry] = {}
        self._old: dict[str, Entry] = {}
        # How often the young ones have become the old ones.
        self.generation = 0
        # The same by their ids.
        self._young_ids: dict[int, Entry] = {}
        self._old_ids: dict[int, Entry] = {}
        self._pinned: dict[str, Entry] = {}
        self._new: dict[int, tuple[Entry, int]] = {}
        self._changed: dict[int, Entry] = {}
        self._hosts: dict[int, Host] = {}
        self._harvest = Harvest()
        self._seen = seen or Seen()
        self._seen.add_all(row[0] for row in database.execute("SELECT fingerprint FROM urls"))
        self._last_id: int = database.execute("SELECT coalesce(max(id), 0) FROM urls").fetchone()[0]
        self._is_writing = False
        # URLs that were asked for and are not known, with their fingerprints.
        self._absent: dict[str, int] = {}
        self._fields = {*PAGE_FIELDS, *json.loads(self.recall(ADDED_FIELDS) or "[]")}
        # Redirects that the database may not know yet: targets, and what leads to them.
        self._redirects: dict[int, list[int]] = {}
        self._has_redirects = bool(self.ids("target IS NOT NULL LIMIT 1"))

    # --- entries

    def missing(self, urls: Iterable[str]) -> list[str]:
        """Which URLs are not known, as far as that can be said without a query."""
        young, old, pinned = self._young, self._old, self._pinned
        return [url for url in urls if url not in young and url not in old and url not in pinned]

    def get(self, url: str) -> Entry | None:
        entry = self._young.get(url)
        if entry is None:
            entry = self._old.get(url) or self._pinned.get(url)
            if entry is None:
                self._look_up([url])
                # What was found may have been the one that filled a generation.
                return self._young.get(url) or self._old.get(url)
            self._keep(entry)
        return entry

    def cached(self, url: str) -> Entry | None:
        """The entry of a URL, as far as it is in memory."""
        return self._young.get(url) or self._old.get(url) or self._pinned.get(url)

    def expect(self, urls: list[str]) -> list[Entry | None]:
        """The entries of some URLs, fewer than the cache holds; None for those that are new.

        Another object may stand for one of them when there is another ``generation``.
        """
        entries = list(map(self._young.get, urls))
        missing = []
        for place, entry in enumerate(entries):
            if entry is None:
                if (known := self.cached(urls[place])) is None:
                    missing.append(place)
                else:
                    entries[place] = known
                    self._keep(known)
        if missing and self._look_up([urls[place] for place in missing]):
            for place in missing:
                entries[place] = self.cached(urls[place])
        return entries

    def by_id(self, number: int) -> Entry:
        if (new := self._new.get(number)) is not None:
            return new[0]
        entry = self._changed.get(number) or self._young_ids.get(number)
        if entry is not None:
            return entry
        if (entry := self._old_ids.get(number)) is not None:
            self._keep(entry)
            return entry
        row = self.database.execute(f"{SELECT} WHERE u.id = ?", (number,)).fetchone()
        return self._entry(row)

    def add(self, url: str, way: Way) -> Entry:
        self._last_id += 1
        entry = Entry(self._last_id, url, way, self._last_id, fewest_hops=way.hops)
        # Who adds a URL has just asked for it.
        mark = self._absent.pop(url, None)
        if mark is None:
            mark = fingerprint(url)
        self._seen.add(mark)
        self._new[entry.id] = entry, mark
        self._pinned[url] = entry
        self._keep(entry)
        return entry

    def change(self, entry: Entry) -> None:
        """An entry was changed, or is about to be."""
        if entry.id not in self._new and entry.id not in self._changed:
            self._changed[entry.id] = entry
            self._pinned[entry.url] = entry

    def flush_if_large(self) -> None:
        if len(self._new) + len(self._changed) > _CHANGES or self._harvest.length > _LENGTH:
            self.flush()

    def redirect(self, entry: Entry, target: Entry) -> None:
        """An entry redirects to another."""
        entry.target = target.id
        self.change(entry)
        self._redirects.setdefault(target.id, []).append(entry.id)
        self._has_redirects = True

    def sources(self, entry: Entry) -> list[Entry]:
        """The URLs that redirect to this one."""
        if not self._has_redirects:
            return []
        found = set(self._redirects.get(entry.id, ()))
        found.update(
            number
            for (number,) in self.database.execute(
                "SELECT id FROM urls WHERE target = ?", (entry.id,)
            )
        )
        return [self.by_id(number) for number in found]

    def ids(self, condition: str, *values: Any) -> list[int]:
        """The ids of entries by a condition on the table urls, and perhaps an order.

        Not the entries: one that is changed must be the one that everybody else sees, and
        only a few at a time are sure to be.
        """
        self.flush()
        rows = self.database.execute(f"SELECT id FROM urls WHERE {condition}", values)  # noqa: S608
        return [number for (number,) in rows]

    def queue(self, host: Host, size: int) -> list[Key]:
        """The next keys of a host's queue behind its horizon."""
        self.flush()
        return self.database.execute(
            "SELECT depth, rank, id FROM urls WHERE state = 0 AND due IS NULL AND waits IS NULL "
            "AND host = ? AND (depth, rank, id) > (?, ?, ?) ORDER BY depth, rank, id LIMIT ?",
            (host.id, *(host.horizon or (-1, 0, 0)), size),
        ).fetchall()

    # --- hosts, pages, links

    def change_host(self, host: Host) -> None:
        self._hosts[host.id] = host

    def add_page(
        self, entry: Entry, record: Record, links: list[int] | None, *, as_found: bool
    ) -> None:
        """Keep a page, and where it leads to, as ids of entries. When these are the links that it
        is to show, they need not be in the record.
        """
        if not self._fields.issuperset(record):
            self._fields.update(record)
            added = sorted(self._fields.difference(PAGE_FIELDS))
            self.remember(ADDED_FIELDS, to_text(added))
        # What is not known, or empty, need not be kept; that something took no time is known.
        kept = {
            name: value
            for name, value in record.items()
            if value or (type(value) is int) or name not in PAGE_NAMES
        }
        if as_found:
            kept.pop("links", None)
        elif not kept.get("links"):
            kept["links"] = record.get("links")
        self._harvest.add_page(entry.id, to_text(kept), links)

    def keep_beside(self, entry: Entry, lease: Lease) -> None:
        """Keep what belongs to a page, but not to its record."""
        self._harvest.add_beside(entry.id, lease)

    def add_item(self, entry: Entry | None, kind: str, page: str | None, record: Record) -> None:
        self._harvest.add_item(entry.id if entry else None, kind, page, record)

    def links_of(self, entry: Entry) -> array[int]:
        """The links of a page, as ``id << 1 | is_nofollow``."""
        self.flush()
        row = self.database.execute("SELECT links FROM pages WHERE id = ?", (entry.id,)).fetchone()
        links = array("I")
        if row is not None and row[0] is not None:
            links.frombytes(row[0])
        return links

    def add_links(self, entry: Entry, links: list[int]) -> None:
        """Keep the links of a page that is not to be shown."""
        self._harvest.add_page(entry.id, "", links)

    def put_answer(self, entry: Entry, text: str) -> int:
        self.begin()
        cursor = self.database.execute(
            "INSERT INTO answers (url, answer) VALUES (?, ?)", (entry.id, text)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def take_answer(self, number: int | None) -> tuple[int, str]:
        """An answer that was put aside, by its number or the oldest; and the id of its URL."""
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
        """How much of its budget a group of URLs has spent."""
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

    # --- transactions

    def flush(self) -> None:
        """Hand all changes to SQLite."""
        if not (self._new or self._changed or self._hosts or self._harvest):
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
                        host.insisted,
                        host.throttled,
                        host.ready_at if host.ready_at > 0 else None,
                        host.requests,
                        host.failures,
                    )
                    for host in self._hosts.values()
                ],
            )
            self._hosts.clear()
        self._harvest.write(self.database)

    # --- the cache

    def _keep(self, entry: Entry) -> None:
        self._young[entry.url] = self._young_ids[entry.id] = entry
        if len(self._young) > _HOT:
            self._old, self._young = self._young, {}
            self._old_ids, self._young_ids = self._young_ids, {}
            self.generation += 1

    def _look_up(self, urls: list[str]) -> bool:
        """Take what is known of some URLs into the cache. Whether anything is."""
        absent = {url: mark for url in urls if (mark := self._absent.get(url)) is not None}
        candidates = {}
        for url in urls:
            if url not in absent:
                absent[url] = mark = fingerprint(url)
                if self._seen.may_have(mark):
                    candidates[mark] = url
        if candidates:
            rows = self.database.execute(
                f"{SELECT} WHERE u.fingerprint IN (SELECT value FROM json_each(?))",  # noqa: S608
                (json.dumps(list(candidates)),),
            ).fetchall()
            for row in rows:
                # Another URL may have the same fingerprint.
                if absent.pop(row[1], None) is not None:
                    self._keep(entry_from(row))
        is_known = len(absent) < len(urls)
        self._absent = absent
        return is_known

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        """The one object for a row: what is in memory may be newer."""
        url = row[1]
        entry = self._young.get(url)
        if entry is None:
            entry = self._old.get(url) or self._pinned.get(url) or entry_from(row)
            self._keep(entry)
        return entry
