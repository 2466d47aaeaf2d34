"""The differences, on disk: put there as they are found, read by kind and URL, in flat memory.

| table | a row for |
|---|---|
| ``changed`` | every URL that has changed, and how |
| ``alone`` | every page that only one side has (0: before, 1: after), and what became of it |
| ``redirects`` | every URL that redirects to a page on one side, and not there on the other |
| ``failed`` | every page with an error, on each side: it may redirect, too, in a circle |

Of a page that only one side has, ``hash`` is that of its content, if it may be told by it;
``target`` where its URL redirects to on the other side; ``mate`` the page that it is there.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.exports.spill import packed, scratch, unpacked
from crawlproject.monitoring.tally import BROKEN, outcome_of
from crawlproject.records import encodable
from crawlproject.report.diff.comparing import End, verdict
from crawlproject.report.diff.facts import is_fine
from crawlproject.report.diff.fields import (
    ADDED,
    BROKE,
    CHANGED,
    DEAD,
    KINDS,
    LOST,
    MENDED,
    MOVED,
    PARTS,
    REMOVED,
)
from crawlproject.report.diff.moved import find_moved
from crawlproject.report.diff.sides import no_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.report.diff.comparing import Changes, Comparing
    from crawlproject.report.diff.facts import Facts

BEFORE, AFTER = 0, 1

_TABLES = (
    "changed (url TEXT, verdict TEXT, change BLOB)",
    "alone (url TEXT, side INTEGER, is_fine INTEGER, is_broken INTEGER, page BLOB, hash TEXT, "
    "target TEXT, mate TEXT)",
    "redirects (url TEXT, side INTEGER, target TEXT)",
    "failed (url TEXT, side INTEGER, page BLOB)",
)
# What is shown of a page that was added, removed or moved.
_SHOWN = ("status_code", "error", "title", "depth", "referrer")
# By a smaller body no page is told from others.
_MIN_BYTES = 256
# Pages of one side that redirect on the other, and redirects that lead elsewhere now; with what is
# wrong with the pages that there are in the end.
_REDIRECTED = """
WITH redirected (url, before, after) AS (
    SELECT url, CASE side WHEN 1 THEN target END, CASE side WHEN 0 THEN target END
    FROM alone WHERE mate IS NULL AND target IS NOT NULL
    UNION ALL
    SELECT old.url, old.target, new.target FROM redirects old JOIN redirects new USING (url)
    WHERE old.side = 0 AND new.side = 1 AND new.target <> old.target
    AND url NOT IN (SELECT url FROM alone) AND url NOT IN (SELECT url FROM failed)
)
SELECT one.url, before, after, old.page, new.page FROM redirected one
LEFT JOIN failed old ON old.side = 0 AND old.url = coalesce(before, one.url)
LEFT JOIN failed new ON new.side = 1 AND new.url = coalesce(after, one.url)
"""


class Changed(NamedTuple):
    url: str
    # broke, mended, or neither.
    verdict: str | None
    changes: Changes
    # A page that links to it, or to what redirects there; None: it is not known.
    referrer: Any


class Alone(NamedTuple):
    """A page that was added or removed, and what is to be shown of it."""

    url: str
    # dead, or not.
    verdict: str | None
    page: Facts


class Moved(NamedTuple):
    url: str
    to: str
    # Whether the old URL redirects to the new one.
    redirects: bool
    # The new one.
    page: Facts

    @property
    def verdict(self) -> str | None:
        return None if self.redirects else LOST


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
        if changes:
            self._add(after["url"], changes, after.get("referrer"))
        else:
            self.same += 1
        for side, facts in ((BEFORE, before), (AFTER, after)):
            self._note_failure(side, facts)

    def add_alone(self, side: int, facts: Facts) -> None:
        size = facts["bytes"]
        is_known = is_fine(facts) and (size is None or size >= _MIN_BYTES)
        self._insert(
            "alone (url, side, is_fine, is_broken, page, hash)",
            *(facts["url"], side, is_fine(facts)),
            outcome_of(facts["status_code"], facts["error"]) == BROKEN,
            packed({name: facts.get(name) for name in _SHOWN}),
            facts["content_hash"] if is_known else None,
        )
        self._note_failure(side, facts)

    def add_redirects(self, side: int, urls: Iterable[str], target: str) -> None:
        """URLs that redirect to a page on one side only."""
        for url in urls:
            self._insert("redirects (url, side, target)", encodable(url), side, target)

    def settle(self, comparing: Comparing) -> None:
        """All is there: find out what became of pages that only one side has."""
        with _room():
            find_moved(self._database)
            self._database.execute("CREATE INDEX failed_by_url ON failed (url, side)")
            for url, before, after, *failures in self._database.execute(_REDIRECTED):
                old, new = (unpacked(page) if page else {} for page in failures)
                ends = End(before, old.get("error")), End(after, new.get("error"))
                # Where redirects are ignored, it is neither the same nor changed.
                if changes := comparing.redirects(*ends):
                    self._add(url, changes, new.get("referrer"))
            self._database.execute("CREATE INDEX changed_by_url ON changed (url)")
            self._count_alone()

    def _count_alone(self) -> None:
        rows = self._database.execute(
            "SELECT side, mate IS NOT NULL, count(*), sum(is_broken), sum(target IS NULL) "
            "FROM alone WHERE mate IS NOT NULL OR target IS NULL GROUP BY 1, 2"
        )
        for side, is_moved, number, broken, without_redirect in rows:
            if not is_moved:
                self._counts[(REMOVED, ADDED)[side]] = number
                self._counts[DEAD] += broken if side == AFTER else 0
            elif side == BEFORE:
                self._counts.update({MOVED: number, LOST: without_redirect})

    def _add(self, url: str, changes: Changes, referrer: Any) -> None:
        how = verdict(changes)
        self._counts.update((CHANGED, how) if how else (CHANGED,))
        if CHANGED in self.only or how in self.only:
            self.fields.update(changes.keys())
            change = packed({"changes": changes, "referrer": referrer})
            self._insert("changed (url, verdict, change)", url, how, change)

    def _note_failure(self, side: int, facts: Facts) -> None:
        if not is_fine(facts):
            page = packed({"error": facts["error"], "referrer": facts.get("referrer")})
            self._insert("failed (url, side, page)", facts["url"], side, page)

    def _insert(self, into: str, *values: Any) -> None:
        with _room():
            marks = ", ".join("?" * len(values))
            self._database.execute(f"INSERT INTO {into} VALUES ({marks})", values)  # noqa: S608

    # --- as they are told

    def count(self, kind: str) -> int:
        """How many there are of a kind, if it is asked for."""
        return self._counts[kind] if kind in self.only else 0

    def told(self, kind: str) -> int:
        """How many of those added, removed, changed or moved are told: all, or a part of them."""
        return self.count(kind) or sum(map(self.count, PARTS[kind]))

    @property
    def left_aside(self) -> int:
        """How many differences there are of kinds that are not asked for."""
        return sum(self._counts[kind] - self.told(kind) for kind in PARTS)

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
        for url, how, change in self._read(
            f"SELECT url, verdict, change FROM changed WHERE {found} ORDER BY url",  # noqa: S608
            hows,
        ):
            yield Changed(url, how, **unpacked(change))

    def alone(self, kind: str, *, is_fine: bool | None = None) -> Iterator[Alone]:
        """Those added or removed, by URL; those that are fine, those that are not, or both."""
        if not self.told(kind):
            return
        # They came by URL.
        for url, is_broken, page in self._read(
            "SELECT url, is_broken, page FROM alone WHERE side = ? AND mate IS NULL "
            "AND target IS NULL AND is_fine = coalesce(?, is_fine) AND is_broken >= ? "
            "ORDER BY rowid",
            (AFTER if kind == ADDED else BEFORE, is_fine, kind not in self.only),
        ):
            yield Alone(url, DEAD if kind == ADDED and is_broken else None, unpacked(page))

    def moved(self, *, redirects: bool | None = None) -> Iterator[Moved]:
        """By the URL before; those with a redirect from there, those without, or both."""
        if not self.told(MOVED):
            return
        for url, to, leads_there, page in self._read(
            "SELECT old.url, new.url, old.target IS new.url AS leads_there, new.page "
            "FROM alone old JOIN alone new ON new.url = old.mate WHERE old.side = 0 "
            "AND leads_there = coalesce(?, leads_there) AND leads_there <= ? ORDER BY old.rowid",
            (redirects, MOVED in self.only),
        ):
            yield Moved(url, to, bool(leads_there), unpacked(page))

    def _read(self, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        with _room():
            # `yield from` would close the cursor for a reader who left early: after the database.
            for row in self._database.execute(query, values):  # noqa: UP028
                yield row


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise no_room(error) from None
