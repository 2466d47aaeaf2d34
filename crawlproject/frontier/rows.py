"""An entry as a row of the table ``urls``, and back. What is usual takes no space: NULL."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import State
from crawlproject.frontier.entry import Entry, Wait, Way

if TYPE_CHECKING:
    from collections.abc import Iterable

STATES = (State.QUEUED, State.LEASED, State.DONE, State.FAILED, State.SKIPPED)
CODES = {state: code for code, state in enumerate(STATES)}
# Added to the code of a state in the column ``again`` (see ``again_of``).
RENEWED = 8
_NOT_AGAIN = (None, False)
_WAITS: dict[int | None, Wait] = {None: Wait.NOTHING, **{int(wait): wait for wait in Wait}}

# What every entry has, and what most have not.
_PLAIN = ("state", "host", "level", "hops", "referrer", "rank")
_OF_SKIPPED = ("reason", "rule")
_RARE = (
    *(*_OF_SKIPPED, "fetch_url", "verdict", "attempts", "bounces"),
    *("due", "waits", "target", "fewest_hops", "blocked", "again", "request"),
)
_NOTHING_RARE = (None,) * len(_RARE)
_NOTHING_ELSE = _NOTHING_RARE[len(_OF_SKIPPED) :]

SELECT = f"""
    SELECT u.id, u.url, r.url, u.{", u.".join(_PLAIN + _RARE)}
    FROM urls u LEFT JOIN urls r ON r.id = u.referrer
"""  # noqa: S608  (names of columns)


def _insert(*names: str) -> str:
    return f"INSERT INTO urls ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608


def _update(rare: str) -> str:
    changes = [f"{name} = ?" for name in _PLAIN] + [f"{name} = {rare}" for name in _RARE]
    return f"UPDATE urls SET {', '.join(changes)} WHERE id = ?"  # noqa: S608


_INSERT = _insert(*_PLAIN, *_RARE, "id", "fingerprint", "url")
_INSERT_PLAIN = _insert(*_PLAIN, "id", "fingerprint", "url")
_INSERT_SKIPPED = _insert(*_PLAIN, *_OF_SKIPPED, "id", "fingerprint", "url")
_UPDATE = _update("?")
_UPDATE_PLAIN = _update("NULL")


def insert(database: sqlite3.Connection, entries: Iterable[tuple[Entry, int]]) -> None:
    """Write new entries, each with the fingerprint of its URL."""
    plain, skipped, others = [], [], []
    for entry, mark in entries:
        rare = _rare(entry)
        # Python's sqlite3 takes longer to bind a None than a number.
        if rare == _NOTHING_RARE:
            plain.append((*_plain(entry), entry.id, mark, entry.url))
        elif rare[len(_OF_SKIPPED) :] == _NOTHING_ELSE:
            skipped.append((*_plain(entry), *rare[: len(_OF_SKIPPED)], entry.id, mark, entry.url))
        else:
            others.append((*_plain(entry), *rare, entry.id, mark, entry.url))
    database.executemany(_INSERT_PLAIN, plain)
    database.executemany(_INSERT_SKIPPED, skipped)
    database.executemany(_INSERT, others)


def update(database: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    plain, others = [], []
    for entry in entries:
        rare = _rare(entry)
        if rare == _NOTHING_RARE:
            plain.append((*_plain(entry), entry.id))
        else:
            others.append((*_plain(entry), *rare, entry.id))
    database.executemany(_UPDATE_PLAIN, plain)
    database.executemany(_UPDATE, others)


def _plain(entry: Entry) -> tuple[Any, ...]:
    assert entry.state is not None
    level, hops, _, referrer = entry.way
    return CODES[entry.state], entry.host or None, level, hops, referrer or None, entry.rank


def _rare(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.reason,
        entry.rule,
        entry.fetch_url,
        entry.verdict,
        entry.attempts or None,
        entry.bounces or None,
        entry.due,
        int(entry.waits) or None,
        entry.target,
        entry.fewest_hops or None,
        entry.blocked,
        again_of(entry) or None,
        entry.request,
    )


def again_of(entry: Entry) -> int:
    """The column ``again``: the code of the state that it had before it was queued to be visited
    again, plus RENEWED if the items of the last visit are dropped. 0: it is not visited again.
    """
    return 0 if entry.again is None else CODES[entry.again] + RENEWED * entry.is_renewed


def again_from(code: int) -> tuple[State, bool]:
    return state_of(code % RENEWED), code >= RENEWED


def state_of(code: int) -> State:
    try:
        return STATES[code]
    except IndexError:
        raise sqlite3.DatabaseError(f"no state has the number {code}") from None


def entry_from(row: tuple[Any, ...]) -> Entry:
    number, url, referrer_url, state, host, level, hops, referrer, rank, *rare = row
    reason, rule, fetch_url, verdict, attempts, bounces, due, waits, target, *rest = rare
    fewest_hops, blocked, again, request = rest
    # By position: thousands a second are made, and names would take half of the time.
    return Entry(
        number,
        url,
        Way(level, hops, referrer_url or "", referrer or 0),
        rank,
        state_of(state),
        reason,
        rule,
        host or 0,
        request,
        fetch_url,
        verdict,
        attempts or 0,
        bounces or 0,
        due,
        _WAITS[waits],
        target,
        fewest_hops or 0,
        blocked,
        *(_NOT_AGAIN if again is None else again_from(again)),
    )
