"""What an engine finds in a crawl directory when it opens it: where the last run stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.base import SPENDING
from crawlproject.frontier.entry import AGAIN, NO_SITEMAP, Wait
from crawlproject.frontier.hosts import Host
from crawlproject.frontier.rows import RENEWED, STATES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawlproject.frontier.census import Census
    from crawlproject.frontier.hosts import HostLimits, Key

# Why a request of a spider's own is not made after a restart.
NOT_KEPT = "request not kept"
# The note that says before when no host that is new is asked.
_NOT_BEFORE = "not before"
# The note that says what a host is: a hostname, or a registered domain.
_HOSTS_BY = "hosts by"
# The note that says that the last run had a budget of pages.
_ORDERED = "ordered"
# No wait is longer, or the clock has been put back since.
_LONGEST_WAIT = 86_400.0


def requeue(database: sqlite3.Connection, *, ordered: bool, hosts_by: str, now: float) -> None:
    """Queue again what was leased when the last run ended, unless it was answered."""
    database.execute("BEGIN IMMEDIATE")
    known_by = _note(database, _HOSTS_BY)
    if known_by is not None and known_by != hosts_by:
        # Other hosts now: each URL is given to the one that it belongs to.
        database.execute("UPDATE urls SET host = NULL WHERE state < 2")
        # Nobody knows which of the new ones the old holds concern: all of them.
        (latest,) = database.execute("SELECT max(ready_at) FROM hosts").fetchone()
        if latest is not None:
            _set_note(database, _NOT_BEFORE, str(latest))
    _set_note(database, _HOSTS_BY, hosts_by)
    database.execute(
        "UPDATE urls SET state = 0 WHERE state = 1 AND id NOT IN (SELECT url FROM answers)"
    )
    # Whether they are to be visited again is decided anew.
    database.execute(
        "UPDATE urls SET state = again % ?, again = NULL, due = NULL, waits = NULL, "
        "attempts = NULL, bounces = NULL, fetch_url = NULL WHERE again IS NOT NULL AND state = 0",
        (RENEWED,),
    )
    database.execute("UPDATE urls SET due = ?1 WHERE due > ?1", (now + _LONGEST_WAIT,))
    # A request that could not be written down is in nobody's memory any more.
    database.execute(
        "UPDATE urls SET state = 4, reason = ?, due = NULL, waits = NULL "
        "WHERE request = '' AND state = 0",
        (NOT_KEPT,),
    )
    if not ordered:
        database.execute("UPDATE urls SET waits = NULL WHERE waits = ?", (int(Wait.BUDGET),))
    elif not _note(database, _ORDERED):
        # What was to be tried later has its turn before what comes after it.
        database.execute(
            "UPDATE urls SET waits = ?, due = NULL WHERE state = 0 AND waits IS NULL",
            (int(Wait.BUDGET),),
        )
    # Otherwise, who waits for nothing was let in, and keeps its place.
    _set_note(database, _ORDERED, "yes" if ordered else "")
    # What belongs to no URL was made at the start of a run, and is made again by the next.
    database.execute("DELETE FROM items WHERE url IS NULL")
    database.execute("COMMIT")


def count(database: sqlite3.Connection, census: Census) -> None:
    rows = database.execute(
        f"SELECT state, reason, level, count(*), NOT ({NO_SITEMAP}) FROM urls GROUP BY 1, 2, 3, 5"  # noqa: S608
    )
    for state, reason, level, number, are_sitemaps in rows:
        census.add(STATES[state], reason, level, number, are_sitemaps=bool(are_sitemaps))


def within(database: sqlite3.Connection) -> int:
    """How many pages of a budget are spent."""
    number: int = database.execute(
        "SELECT count(*) FROM urls WHERE (state = 3 OR (state = 2 AND target IS NULL) "  # noqa: S608
        f"OR (state = 4 AND reason IN (?, ?))) AND {NO_SITEMAP}",
        SPENDING,
    ).fetchone()[0]
    return number


def beyond(database: sqlite3.Connection) -> int:
    number: int = database.execute(
        "SELECT count(*) FROM urls WHERE waits = ?", (int(Wait.BUDGET),)
    ).fetchone()[0]
    return number


def answers(database: sqlite3.Connection) -> list[tuple[int, Key]]:
    """The answers that wait: their numbers, and the keys of their URLs."""
    rows = database.execute(
        "SELECT answers.id, iif(again IS NULL, level, ?), rank, urls.id "
        "FROM answers JOIN urls ON urls.id = answers.url",
        (AGAIN,),
    )
    return [(number, (level, rank, url)) for number, level, rank, url in rows]


def waiting_at(database: sqlite3.Connection) -> dict[int, int]:
    """How many wait for their level, by level."""
    rows = database.execute(
        "SELECT level, count(*) FROM urls WHERE waits = ? GROUP BY level", (int(Wait.LEVEL),)
    )
    return dict(rows.fetchall())


def not_before(database: sqlite3.Connection, now: float) -> float:
    """When a host that is not known yet may be asked first."""
    moment = _note(database, _NOT_BEFORE)
    return float("-inf") if moment is None else min(float(moment), now + _LONGEST_WAIT)


def delayed(database: sqlite3.Connection) -> list[tuple[float, int]]:
    """What is queued, but not before some time."""
    return [
        (due, number)
        for due, number in database.execute(
            "SELECT due, id FROM urls WHERE due IS NOT NULL AND state = 0"
        )
    ]


def hosts(
    database: sqlite3.Connection, limits: Callable[[str], HostLimits], now: float
) -> Iterator[Host]:
    """The hosts, none of which is asked before its delay and its interval have passed from now.

    After a kill it is unknown when the last request started or ended; but that was before now.
    """
    for number, name, insisted, throttled, ready_at, requests, failures in database.execute(
        "SELECT id, name, insisted, throttled, ready_at, requests, failures FROM hosts"
    ).fetchall():
        host = Host(number, name, limits(name), insisted, throttled)
        host.requests, host.failures = requests, failures
        held_until = min(ready_at or 0.0, now + _LONGEST_WAIT)
        host.ready_at = max(held_until, now + host.pause)
        yield host


def _note(database: sqlite3.Connection, name: str) -> str | None:
    row = database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _set_note(database: sqlite3.Connection, name: str, value: str) -> None:
    database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))
