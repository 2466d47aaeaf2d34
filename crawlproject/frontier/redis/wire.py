"""What is in Redis for workers to read: URLs, robots.txt, counts; as values, and back. *Pure.*

Whatever is none of ours is ``Malformed``, or counts for nothing.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple

from crawlproject.frontier.base import Counts, Robots
from crawlproject.frontier.census import Census
from crawlproject.frontier.redis.blocks import Malformed, packed, unpacked
from crawlproject.records import from_text, to_text

# No time is further away.
_LARGEST = 1e16


class Item(NamedTuple):
    """A URL that was given to this worker."""

    url: str
    level: int
    rank: int
    hops: int
    referrer: str | None
    redirected_from: tuple[str, ...]
    verdict: str | None
    request: str | None
    # Whether it is visited again, and what it can be asked for by.
    is_again: bool = False
    etag: str | None = None
    last_modified: str | None = None
    fetch_url: str | None = None
    attempts: int = 0
    bounces: int = 0


def learned_text(fetch_url: str | None, attempts: int, bounces: int, request: str | None) -> str:
    """What was learned of a URL that is to be tried again."""
    return to_text([fetch_url, attempts, bounces, request])


def number_of(text: bytes) -> float:
    """One that somebody may have changed: 0 for what can't be meant."""
    with suppress(ValueError):
        value = float(text)
        return value if abs(value) < _LARGEST else 0.0
    return 0.0


def counts_from(census: bytes, leased: int) -> Counts:
    """What the committer has counted last, where workers have ``leased`` URLs."""
    return census_from(census, leased)[0]


def census_from(census: bytes, leased: int) -> tuple[Counts, int]:
    """The same, and the first level at which a URL is open."""
    counted = Census()
    try:
        counted.restore(json.loads(census or b"{}"))
    except (ValueError, TypeError, AttributeError):
        # The committer writes it again with its next batch.
        return Counts(), 0
    counts = counted.counts()
    # What the committer calls leased was answered, and waits for its turn.
    counts.leased += leased
    counts.queued = max(0, counts.queued - leased)
    return counts, counted.floor()


def item_from(item: bytes, learned: bytes) -> Item:
    _, _, text = item.decode().partition(" ")
    values = from_text(text)
    types: tuple[type, ...] = (str, int, int, int)
    if (
        not isinstance(values, list)
        or len(values) != 11
        or any(type(value) is not one for value, one in zip(values, types, strict=False))
        or not all(value is None or type(value) is str for value in _texts_in(values))
        or not isinstance(values[5], list)
        or not all(type(value) is str for value in values[5])
        or type(values[8]) is not bool
    ):
        raise Malformed("no item")
    url, level, rank, hops, referrer, sources, verdict, request, *again = values
    given = Item(url, level, rank, hops, referrer, tuple(sources), verdict, request, *again)
    if not learned:
        return given
    again = from_text(learned.decode())
    if (
        not isinstance(again, list)
        or len(again) != 4
        or any(type(value) is not int for value in again[1:3])
        or not all(value is None or type(value) is str for value in (again[0], again[3]))
    ):
        raise Malformed("no attempts")
    fetch_url, attempts, bounces, request = again
    return given._replace(
        fetch_url=fetch_url,
        attempts=attempts,
        bounces=bounces,
        request=given.request if request is None else request,
    )


def _texts_in(values: list[Any]) -> list[Any]:
    """What of an item is a text, or nothing."""
    return [values[4], *values[6:8], *values[9:]]


def packed_robots(robots: Robots) -> bytes:
    body = None if robots.body is None else robots.body.decode("latin-1")
    return packed([body, *robots[1:]])


def robots_from(value: bytes) -> Robots:
    values = unpacked(value)
    if (
        not isinstance(values, list)
        or len(values) != 5
        or type(values[0]) not in (str, type(None))
        or any(type(number) not in (int, float) for number in values[1:3])
        or type(values[3]) not in (str, type(None))
        or type(values[4]) is not int
    ):
        raise Malformed("no robots.txt")
    body, fetched_at, expires_at, error, failures = values
    try:
        data = None if body is None else body.encode("latin-1")
    except UnicodeEncodeError:
        raise Malformed("no robots.txt") from None
    return Robots(data, fetched_at, expires_at, error, failures)
