"""An entry as a row of the table ``urls``, and back. What is usual takes no space: NULL."""

from __future__ import annotations

import sqlite3
from typing import Any

from crawlproject.frontier.base import State
from crawlproject.frontier.entry import Entry, Wait, Way

STATES = (State.QUEUED, State.LEASED, State.DONE, State.FAILED, State.SKIPPED)
CODES = {state: code for code, state in enumerate(STATES)}
_WAITS: dict[int | None, Wait] = {None: Wait.NOTHING, **{int(wait): wait for wait in Wait}}

_CHANGEABLE = (
    "state, host, depth, hops, referrer, rank, reason, rule, fetch_url, verdict, attempts, "
    "bounces, due, waits, target, fewest_hops, blocked, request"
)
SELECT = f"""
    SELECT u.id, u.url, r.url, u.{", u.".join(_CHANGEABLE.split(", "))}
    FROM urls u LEFT JOIN urls r ON r.id = u.referrer
"""  # noqa: S608  (names of columns)
INSERT = f"""
    INSERT INTO urls ({_CHANGEABLE}, id, fingerprint, url)
    VALUES ({", ".join("?" * (len(_CHANGEABLE.split(", ")) + 3))})
"""  # noqa: S608
UPDATE = f"""
    UPDATE urls SET {" = ?, ".join(_CHANGEABLE.split(", "))} = ? WHERE id = ?
"""  # noqa: S608


def values_of(entry: Entry) -> tuple[Any, ...]:
    assert entry.state is not None
    depth, hops, _, referrer = entry.way
    return (
        CODES[entry.state],
        entry.host or None,
        depth,
        hops,
        referrer or None,
        entry.rank,
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
        entry.request,
    )


def state_of(code: int) -> State:
    try:
        return STATES[code]
    except IndexError:
        raise sqlite3.DatabaseError(f"no state has the number {code}") from None


def entry_from(row: tuple[Any, ...]) -> Entry:
    number, url, referrer_url, state, host, depth, hops, referrer, rank, reason, rule, *rest = row
    fetch_url, verdict, attempts, bounces, due, waits, target, fewest, blocked, request = rest
    return Entry(
        id=number,
        url=url,
        way=Way(depth, hops, referrer_url or "", referrer or 0),
        rank=rank,
        state=state_of(state),
        reason=reason,
        rule=rule,
        host=host or 0,
        request=request,
        fetch_url=fetch_url,
        verdict=verdict,
        attempts=attempts or 0,
        bounces=bounces or 0,
        due=due,
        waits=_WAITS[waits],
        target=target,
        fewest_hops=fewest or 0,
        blocked=blocked,
    )
