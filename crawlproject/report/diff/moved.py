"""Which of the pages that are gone are elsewhere now: the same content, another URL.

First those whose old URL redirects to the new one, or the other way round before. Then, of the
rest, those with the same content; where several have it, the first by URL is taken for the first,
and so on, so that there are never more pairs than pages on either side. A page that redirects
elsewhere is told as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_PREPARE = (
    "CREATE INDEX redirects_by_url ON redirects (url, side)",
    # Nothing of ours says two things of a URL.
    "DELETE FROM redirects WHERE rowid NOT IN "
    "(SELECT min(rowid) FROM redirects GROUP BY url, side)",
    "CREATE INDEX alone_by_url ON alone (url)",
    "UPDATE alone SET target = "
    "(SELECT target FROM redirects r WHERE r.url = alone.url AND r.side = 1 - alone.side)",
)
# In an order that is the same whichever side is the first.
_BY_REDIRECT = """
SELECT one.url, other.url FROM alone one JOIN alone other ON other.url = one.target
WHERE one.side <> other.side AND one.hash = other.hash
AND (other.target IS NULL OR other.target = one.url)
ORDER BY min(one.url, other.url), max(one.url, other.url)
"""
_BY_CONTENT = (
    "CREATE TABLE numbered AS SELECT url, side, hash, "
    "row_number() OVER (PARTITION BY hash, side ORDER BY url) AS number "
    "FROM alone WHERE hash IS NOT NULL AND mate IS NULL AND target IS NULL",
    "CREATE INDEX numbered_by_hash ON numbered (hash, number, side)",
    "CREATE TABLE pairs AS SELECT one.url, other.url AS mate "
    "FROM numbered one JOIN numbered other USING (hash, number) WHERE one.side <> other.side",
    "CREATE INDEX pairs_by_url ON pairs (url)",
    "UPDATE alone SET mate = (SELECT p.mate FROM pairs p WHERE p.url = alone.url) "
    "WHERE url IN (SELECT url FROM pairs)",
)


def find_moved(database: sqlite3.Connection) -> None:
    """Note ``target`` and ``mate`` of the pages that only one side has (``findings.py``)."""
    for statement in _PREPARE:
        database.execute(statement)
    for one, other in database.execute(_BY_REDIRECT):
        (mates,) = database.execute(
            "SELECT count(mate) FROM alone WHERE url IN (?, ?)", (one, other)
        ).fetchone()
        if not mates:
            database.executemany(
                "UPDATE alone SET mate = ? WHERE url = ?", [(other, one), (one, other)]
            )
    for statement in _BY_CONTENT:
        database.execute(statement)
