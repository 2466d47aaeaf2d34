"""The differences, on disk: put there as they are found, read by kind and URL, in flat memory.

| table | a row for |
|---|---|
| ``changed`` | every URL that has changed, and how |
| ``alone`` | every page that only one side has (0: before, 1: after), and what became of it |
| ``redirects`` | every URL that redirects to a page on one side, and not there on the other |
| ``failed`` | every page with an error that both sides have: it may redirect, too, in a circle |

Of a page that only one side has, ``hash`` is that of its content, if it may be told by it;
``target`` where its URL redirects to on the other side; ``mate`` the page that it is there.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.exports.spill import packed, scratch, unpacked
from crawlproject.records import encodable
from crawlproject.report.diff.comparing import verdict
from crawlproject.report.diff.facts import is_fine
from crawlproject.report.diff.fields import ADDED, BROKE, CHANGED, KINDS, MENDED, MOVED, REMOVED
from crawlproject.report.diff.moved import find_moved
from crawlproject.report.diff.sides import no_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.report.diff.comparing import Changes, Comparing
    from crawlproject.report.diff.facts import Facts

BEFORE, AFTER = 0, 1

_TABLES = (
    "changed (url TEXT, verdict TEXT, changes BLOB)",
    "alone (url TEXT, side INTEGER, is_fine INTEGER, page BLOB, hash TEXT, target TEXT, mate TEXT)",
    "redirects (url TEXT, side INTEGER, target TEXT)",
    "failed (url TEXT)",
)
# What is shown of a page that was added, removed or moved.
_SHOWN = ("status_code", "error", "title", "depth", "referrer")
# By a smaller body no page is told from others.
_MIN_BYTES = 256
# Pages of one side that redirect on the other, and redirects that lead elsewhere now.
_REDIRECTED = """
SELECT url, CASE side WHEN 1 THEN target END, CASE side WHEN 0 THEN target END
FROM alone WHERE mate IS NULL AND target IS NOT NULL
UNION ALL
SELECT old.url, old.target, new.target FROM redirects old JOIN redirects new USING (url)
WHERE old.side = 0 AND new.side = 1 AND new.target <> old.target
AND url NOT IN (SELECT url FROM alone) AND url NOT IN (SELECT url FROM failed)
"""


class Changed(NamedTuple):
    url: str
    # broke, mended, or neither.
    verdict: str | None
    changes: Changes


class Alone(NamedTuple):
    """A page that was added or removed, and what is to be shown of it."""

    url: str
    page: Facts


class Moved(NamedTuple):
    url: str
    to: str
    # Whether the old URL redirects to the new one.
    redirects: bool
    # The new one.
    page: Facts


class Findings:
    """``only`` are the kinds that are asked for: others are not told."""

    def __init__(self, only: Iterable[str] = KINDS) -> None:
        self.only = frozenset(only)
        # How many pages are on both sides, without a change that counts.
        self.same = 0
        # How many pages have changed in which field.
        self.fields: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        with _room():
            self._database = scratch()
            for table in _TABLES:
                self._database.execute(f"CREATE TABLE {table}")
            self._database.execute("BEGIN")

    def close(self) -> None:
        self._database.close()

    # --- as they are found

    def add_both(self, before: Facts, after: Facts, changes: Changes) -> None:
        """What has changed on a page that both sides have; perhaps nothing."""
        self._add(after["url"], changes)
        if not (is_fine(before) and is_fine(after)):
            self._insert("failed (url)", after["url"])

    def add_alone(self, side: int, facts: Facts) -> None:
        size = facts["bytes"]
        is_known = is_fine(facts) and (size is None or size >= _MIN_BYTES)
        self._insert(
            "alone (url, side, is_fine, page, hash)",
            *(facts["url"], side, is_fine(facts)),
            packed({name: facts.get(name) for name in _SHOWN}),
            facts["content_hash"] if is_known else None,
        )

    def add_redirects(self, side: int, urls: Iterable[str], target: str) -> None:
        """URLs that redirect to a page on one side only."""
        for url in urls:
            self._insert("redirects (url, side, target)", encodable(url), side, target)

    def settle(self, comparing: Comparing) -> None:
        """All is there: find out what became of pages that only one side has."""
        with _room():
            find_moved(self._database)
            for url, before, after in self._database.execute(_REDIRECTED):
                self._add(url, comparing.redirects(before, after))
            self._database.execute("CREATE INDEX changed_by_url ON changed (url)")
            rows = self._database.execute(
                "SELECT side, mate IS NOT NULL, count(*) FROM alone "
                "WHERE mate IS NOT NULL OR target IS NULL GROUP BY 1, 2"
            )
            for side, is_moved, number in rows:
                self._counts[MOVED if is_moved else (REMOVED, ADDED)[side]] = number

    def _add(self, url: str, changes: Changes) -> None:
        how = verdict(changes)
        if not changes:
            self.same += 1
        elif CHANGED in self.only or how in self.only:
            self._counts.update((CHANGED, how) if how else (CHANGED,))
            self.fields.update(changes.keys())
            self._insert("changed (url, verdict, changes)", url, how, packed(changes))

    def _insert(self, into: str, *values: Any) -> None:
        with _room():
            marks = ", ".join("?" * len(values))
            self._database.execute(f"INSERT INTO {into} VALUES ({marks})", values)  # noqa: S608

    # --- as they are told

    def count(self, kind: str) -> int:
        """How many there are of a kind, if it is asked for."""
        return self._counts[kind] if kind in self.only else 0

    @property
    def otherwise_changed(self) -> int:
        """How many have changed that neither broke nor were mended."""
        return max(self.count(CHANGED) - self.count(BROKE) - self.count(MENDED), 0)

    def __bool__(self) -> bool:
        """Whether there is any difference that is asked for."""
        return any(map(self.count, KINDS))

    def changed(self, *hows: str | None) -> Iterator[Changed]:
        """By URL; those that broke or were mended (None: neither), or all."""
        found = " OR ".join(["verdict IS ?"] * len(hows)) or "TRUE"
        for url, how, changes in self._read(
            f"SELECT url, verdict, changes FROM changed WHERE {found} ORDER BY url",  # noqa: S608
            hows,
        ):
            yield Changed(url, how, unpacked(changes))

    def alone(self, kind: str, *, is_fine: bool | None = None) -> Iterator[Alone]:
        """Those added or removed, by URL; those that are fine, those that are not, or both."""
        if kind not in self.only:
            return
        # They came by URL.
        for url, page in self._read(
            "SELECT url, page FROM alone WHERE side = ? AND mate IS NULL AND target IS NULL "
            "AND is_fine = coalesce(?, is_fine) ORDER BY rowid",
            (AFTER if kind == ADDED else BEFORE, is_fine),
        ):
            yield Alone(url, unpacked(page))

    def moved(self) -> Iterator[Moved]:
        """By the URL before."""
        if MOVED not in self.only:
            return
        for url, to, redirects, page in self._read(
            "SELECT old.url, new.url, old.target IS new.url, new.page "
            "FROM alone old JOIN alone new ON new.url = old.mate WHERE old.side = 0 "
            "ORDER BY old.rowid",
            (),
        ):
            yield Moved(url, to, bool(redirects), unpacked(page))

    def _read(self, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        with _room():
            yield from self._database.execute(query, values)


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise no_room(error) from None
