"""A crawl directory as a whole: counts, hosts, budgets, seeds.

For commands that look at a crawl, also while it runs. What has to look at every URL takes a
second for a million of them; nothing is loaded but the rows that are asked for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.base import Counts, State
from crawlproject.frontier.database import DATABASE
from crawlproject.frontier.entry import NO_SITEMAP, Wait
from crawlproject.frontier.notes import ROUND
from crawlproject.frontier.rounds import round_in
from crawlproject.frontier.rows import STATES
from crawlproject.recrawl.interval import NEVER
from crawlproject.recrawl.visit import Change
from crawlproject.scope.traps import HOST_BUDGET, PREFIX_BUDGET

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

# What a host's queue holds: what may be taken when it is ready, and what is to be retried.
# Two queries, because each has an index of its own.
_QUEUES = """
    SELECT host, count(*) AS queued, 0 AS retries FROM urls
    WHERE state = 0 AND due IS NULL AND waits IS NULL GROUP BY host
    UNION ALL
    SELECT host, 0, count(*) FROM urls WHERE due IS NOT NULL AND state = 0 GROUP BY host
"""
# Changes of a page that was there before.
_OF_VISITED = (Change.CHANGED, Change.COSMETIC, Change.GONE, Change.FAILED, Change.BACK)
_HOST = "h.name, {}, {}, h.requests, h.failures, h.ready_at, h.delay, h.insisted, h.throttled"


class Waiting(NamedTuple):
    """Queued URLs that wait for something besides their host."""

    # Their time, their level, a larger page budget.
    retry: int
    level: int
    budget: int


class HostFacts(NamedTuple):
    name: str
    queued: int
    # Queued too, but not before their time.
    retries: int
    requests: int
    # How often in a row it said that it has too much to do.
    failures: int
    ready_at: float | None
    # What was set, what it asked for (Crawl-delay), what its answers ask for (AutoThrottle).
    delay: float
    insisted: float
    throttled: float


class RobotsCounts(NamedTuple):
    origins: int
    unreachable: int
    # Those of them that are tried again, with back-off.
    awaited: int


class FullBudget(NamedTuple):
    """A group of URLs whose budget is spent."""

    # The setting, and the group.
    rule: str
    spent: int | None
    turned_away: int


class RoundFacts(NamedTuple):
    """What came of the last time that pages were visited again."""

    began_at: float
    # Pages, without new ones.
    visited: int
    # How many have changed, by how.
    changes: dict[str, int]

    @property
    def unchanged(self) -> int:
        others = sum(self.changes.get(change, 0) for change in _OF_VISITED)
        return max(0, self.visited - others)


class Seed(NamedTuple):
    url: str
    state: State


def count(database: sqlite3.Connection) -> Counts:
    """How many URLs are in which state."""
    row = database.execute(
        "SELECT sum(state = 0), sum(state = 1), sum(state = 2), sum(state = 3) FROM urls"
    ).fetchone()
    queued, leased, done, failed = (number or 0 for number in row)
    reasons = database.execute("SELECT reason, count(*) FROM urls WHERE state = 4 GROUP BY reason")
    return Counts(queued, leased, done, failed, dict(reasons))


def redirects(database: sqlite3.Connection) -> int:
    """How many of the URLs that are done redirect to others."""
    number: int = database.execute(
        "SELECT count(*) FROM urls WHERE target IS NOT NULL AND state = 2"
    ).fetchone()[0]
    return number


def waiting(database: sqlite3.Connection) -> Waiting:
    retry = database.execute(
        "SELECT count(*) FROM urls WHERE due IS NOT NULL AND state = 0"
    ).fetchone()[0]
    by_kind = dict(
        database.execute("SELECT waits, count(*) FROM urls WHERE waits IS NOT NULL GROUP BY waits")
    )
    return Waiting(retry, by_kind.get(Wait.LEVEL, 0), by_kind.get(Wait.BUDGET, 0))


def open_urls(database: sqlite3.Connection) -> bool:
    """Whether something is left to be fetched."""
    found: int = database.execute(
        "SELECT EXISTS (SELECT 1 FROM urls WHERE state = 1) "
        "OR EXISTS (SELECT 1 FROM urls WHERE state = 0 AND due IS NULL AND waits IS NULL) "
        "OR EXISTS (SELECT 1 FROM urls WHERE due IS NOT NULL AND state = 0) "
        "OR EXISTS (SELECT 1 FROM urls WHERE waits IS NOT NULL)"
    ).fetchone()[0]
    return bool(found)


# --- visits


def last_round(database: sqlite3.Connection) -> RoundFacts | None:
    """None: pages were not visited again."""
    last = round_in(note(database, ROUND))
    if last.number == 1:
        return None
    changes = dict(
        database.execute(
            "SELECT kind, count(*) FROM changes WHERE at >= ? GROUP BY kind", (last.began_at,)
        )
    )
    # A redirect is told of when it is another one.
    (visited,) = database.execute(
        "SELECT count(*) FROM visits JOIN urls USING (id) "  # noqa: S608
        "LEFT JOIN changes ON changes.id = urls.id AND at >= :began "
        f"WHERE visited_at >= :began AND {NO_SITEMAP} "
        "AND (target IS NULL OR kind IS NOT NULL) AND coalesce(kind, '') NOT IN (:new, :unlinked)",
        {"began": last.began_at, "new": Change.NEW, "unlinked": Change.UNLINKED},
    ).fetchone()
    return RoundFacts(last.began_at, visited, changes)


def round_since(database: sqlite3.Connection, since: float) -> RoundFacts | None:
    """The last round, if it was under way at a time, or later."""
    last = round_in(note(database, ROUND))
    return last_round(database) if last.is_open or last.ended_at >= since else None


def next_visit(database: sqlite3.Connection) -> float | None:
    """When the first page is due; None: none is."""
    row = database.execute(
        "SELECT next_at FROM visits JOIN urls USING (id) "  # noqa: S608
        f"WHERE next_at < ? AND state IN (2, 3) AND {NO_SITEMAP} ORDER BY next_at LIMIT 1",
        (NEVER,),
    ).fetchone()
    return None if row is None else float(row[0])


def due_pages(database: sqlite3.Connection, now: float) -> int:
    """How many pages are due."""
    (number,) = database.execute(
        "SELECT count(*) FROM visits JOIN urls USING (id) "  # noqa: S608
        f"WHERE next_at <= ? AND state IN (2, 3) AND {NO_SITEMAP}",
        (now,),
    ).fetchone()
    return int(number)


# --- hosts


def longest_queues(database: sqlite3.Connection, limit: int) -> list[HostFacts]:
    rows = database.execute(
        f"SELECT {_HOST.format('sum(q.queued)', 'sum(q.retries)')} "  # noqa: S608
        f"FROM ({_QUEUES}) q JOIN hosts h ON h.id = q.host GROUP BY q.host "
        "ORDER BY sum(q.queued) + sum(q.retries) DESC, h.name LIMIT ?",
        (limit,),
    )
    return [HostFacts(*row) for row in rows]


def busiest_hosts(database: sqlite3.Connection, limit: int) -> list[HostFacts]:
    """The hosts that were asked most often."""
    names = database.execute(
        "SELECT id FROM hosts WHERE requests > 0 ORDER BY requests DESC, name LIMIT ?", (limit,)
    ).fetchall()
    return [facts for (number,) in names if (facts := host(database, number)) is not None]


def host(database: sqlite3.Connection, key: int | str) -> HostFacts | None:
    """A host by its id or name."""
    queued = (
        "(SELECT count(*) FROM urls WHERE host = h.id AND state = 0 AND due IS NULL "
        "AND waits IS NULL)"
    )
    retries = "(SELECT count(*) FROM urls WHERE due IS NOT NULL AND state = 0 AND host = h.id)"
    row = database.execute(
        f"SELECT {_HOST.format(queued, retries)} FROM hosts h "  # noqa: S608
        f"WHERE {'h.id' if isinstance(key, int) else 'h.name'} = ?",
        (key,),
    ).fetchone()
    return None if row is None else HostFacts(*row)


def hosts_in_all(database: sqlite3.Connection, now: float) -> tuple[int, int]:
    """How many hosts there are, and how many of them may not be asked now."""
    number, not_ready = database.execute(
        "SELECT count(*), coalesce(sum(ready_at > ?), 0) FROM hosts", (now,)
    ).fetchone()
    return number, not_ready


# --- the rest


def robots(database: sqlite3.Connection) -> RobotsCounts:
    row = database.execute(
        "SELECT count(*), count(error), "
        "coalesce(sum(error IS NOT NULL AND expires_at <= fetched_at), 0) FROM robots"
    ).fetchone()
    return RobotsCounts(*row)


def full_budgets(database: sqlite3.Connection, limit: int) -> list[FullBudget]:
    """Groups that had no room for a URL: their limit is in the rule, whatever it is now."""
    rows = database.execute(
        "SELECT reason, rule, count(*) FROM urls WHERE state = 4 AND reason IN (?, ?) "
        "AND rule IS NOT NULL GROUP BY reason, rule ORDER BY 3 DESC, rule LIMIT ?",
        (HOST_BUDGET, PREFIX_BUDGET, limit),
    ).fetchall()
    budgets = []
    for reason, rule, turned_away in rows:
        kind = "host" if reason == HOST_BUDGET else "prefix"
        group = rule.partition(" for ")[2]
        spent = database.execute(
            "SELECT spent FROM budgets WHERE name = ?", (f"{kind} {group}",)
        ).fetchone()
        budgets.append(FullBudget(rule, spent and spent[0], turned_away))
    return budgets


def seeds(database: sqlite3.Connection, limit: int) -> tuple[int, list[Seed]]:
    """How many URLs were where the crawl began, and the first of them."""
    number: int = database.execute(
        "SELECT count(*) FROM urls WHERE level = 0 AND hops = 0"
    ).fetchone()[0]
    rows = database.execute(
        "SELECT url, state FROM urls WHERE level = 0 AND hops = 0 ORDER BY id LIMIT ?", (limit,)
    )
    return number, [Seed(url, STATES[state]) for url, state in rows]


def note(database: sqlite3.Connection, name: str) -> str | None:
    """What the crawl remembers of itself."""
    row = database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def size(folder: Path) -> int:
    """The bytes of the database, with what is not yet in its main file."""
    total = 0
    for name in (DATABASE, f"{DATABASE}-wal"):
        with suppress(OSError):
            total += (folder / name).stat().st_size
    return total
