"""64 entries as one compressed value, and back. Pure.

JSON inside, so nothing in it can run. URLs that were found together are alike: a block takes
about 20 bytes a URL. Whatever is no block of ours is ``Malformed``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import zstandard

from crawlproject.compressed import unzstd
from crawlproject.frontier.base import State
from crawlproject.frontier.entry import Entry, Wait, Way
from crawlproject.frontier.redis.keys import VERSION
from crawlproject.frontier.rows import CODES, RENEWED, STATES, again_from, again_of
from crawlproject.records import from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 64
# Bytes of a value, unpacked. The largest are the links of a page, three times over, and what a
# sitemap says of its URLs (SITEMAPS_MAX_BYTES).
MOST_BYTES = 256 * 1024 * 1024

# url, state, level, hops, referrer, rank - id, and what is rare; zeros at the end are left out.
Row = list[Any]
_WIDTH = 15
_TYPES: tuple[tuple[type, ...], ...] = (
    (str,),
    *((int,),) * 5,
    *((str, type(None)),) * 2,
    (int,),
    (int, type(None)),
    (int,),
    *((str, type(None)),) * 3,
    (int,),
)
# What a URL may have been that is visited again; 0: it is not.
_CODES = (CODES[State.DONE], CODES[State.FAILED])
_AGAIN = (0, *_CODES, *(RENEWED + code for code in _CODES))
_DEFAULTS: tuple[Any, ...] = ("", 0, 0, 0, 0, 0, None, None, 0, None, 0, None, None, None, 0)


class _Compressor(threading.local):
    """One for each thread: two at once in the same one end the process."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=3).compress


_compressor = _Compressor()


class Malformed(ValueError):
    """A value in Redis that we have not written."""


def row_of(entry: Entry) -> Row:
    level, hops, _, referrer = entry.way
    assert entry.state is not None
    row: Row = [
        entry.url,
        CODES[entry.state],
        level,
        hops,
        referrer,
        entry.rank - entry.id,
        entry.reason,
        entry.rule,
        int(entry.waits),
        entry.target,
        entry.fewest_hops,
        entry.blocked,
        entry.verdict,
        entry.request,
        again_of(entry),
    ]
    while row[-1] in (None, 0):
        row.pop()
    return row


def entry_from(number: int, row: Row, url_of: Callable[[int], str]) -> Entry:
    """An entry by its row; ``url_of`` says the URL of a referrer."""
    url, state, level, hops, referrer, rank, reason, rule, waits, target, *rest = full(row)
    fewest_hops, blocked, verdict, request, again = rest
    entry = Entry(
        number,
        url,
        Way(level, hops, url_of(referrer) if referrer else "", referrer),
        rank + number,
        STATES[state],
        reason,
        rule,
    )
    entry.waits, entry.target, entry.fewest_hops = Wait(waits), target, fewest_hops
    entry.blocked, entry.verdict, entry.request = blocked, verdict, request
    if again:
        entry.again, entry.is_renewed = again_from(again)
    return entry


def full(row: Row) -> Row:
    """A row with what was left out."""
    return [*row, *_DEFAULTS[len(row) :]]


def packed(value: Any) -> bytes:
    """Any JSON value, compressed, with the version of its form."""
    return _compressor.compress(to_text([VERSION, value]).encode())


def unpacked(data: bytes) -> Any:
    try:
        version, value = from_text(unzstd(data, MOST_BYTES).decode())
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise Malformed(str(error) or type(error).__name__) from None
    if version != VERSION:
        raise Malformed(f"its version is {version!r}, and not {VERSION}")
    return value


def unpack(data: bytes) -> list[Row | None]:
    """The rows of a block; None for one that was lost."""
    rows = unpacked(data)
    if not isinstance(rows, list) or len(rows) > SIZE:
        raise Malformed("no list of entries")
    for row in rows:
        if row is not None and not _is_row(row):
            raise Malformed(f"no entry: {row!r:.80}")
    return rows


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, list)
        and 1 <= len(row) <= _WIDTH
        and all(type(value) in types for value, types in zip(row, _TYPES[: len(row)], strict=True))
        and all(value is None or value >= 0 for value in row[1:5] if type(value) is int)
        and (len(row) < 2 or row[1] < len(STATES))
        and (len(row) < 9 or row[8] in (0, 1, 2))
        and (len(row) < 15 or row[14] in _AGAIN)
    )
