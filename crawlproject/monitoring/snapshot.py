"""What a crawl is at one moment: written by a running one, read by whoever watches it. Pure.

As JSON it is one object, whose members are the fields below, and ``version``. It may have been
cut off, written by another version or by somebody else: what is not well-formed as a whole is
taken for none at all (``from_json`` says None), and what is missing in it has its default. Its
size has a bound, and so have its texts, which come from sites.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson

from crawlproject.monitoring.tally import OTHER
from crawlproject.monitoring.well_formed import (
    count,
    counts,
    list_of,
    maybe,
    number,
    object_of,
    text,
)
from crawlproject.records import encodable, json_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

VERSION = 1
# What is larger was not written by us.
MAX_BYTES = 512 * 1024
MAX_POINTS = 240
MAX_LATEST_PAGES, MAX_LATEST_ERRORS = 10, 20
MAX_WAITS = 10
# Characters of what sites and teams have written.
URL_CHARS, TITLE_CHARS, ERROR_CHARS, WORD_CHARS = 500, 200, 200, 100
# Words that are counted one by one: reasons, errors. A status has three digits.
MAX_WORDS, MAX_STATUSES = 50, 1000
# Pages that are deeper are counted with those at this depth.
MAX_DEPTH = 100
# Seconds; the last bucket, which is not named, is for what took longer.
FETCH_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_write = json_encoder("utf-8")


class Phase(StrEnum):
    RUNNING = "running"
    # No request is started any more; those under way come to their end.
    STOPPING = "stopping"
    # The outputs are written.
    WRITING = "writing"
    ENDED = "ended"


@dataclass(slots=True, frozen=True)
class FetchSeconds:
    """How long fetches took: how many within each bound, and not within the one before."""

    bounds: list[float] = field(default_factory=lambda: list(FETCH_BOUNDS))
    counts: list[int] = field(default_factory=lambda: [0] * (len(FETCH_BOUNDS) + 1))
    sum: float = 0.0


@dataclass(slots=True, frozen=True)
class Hosts:
    """How many hosts are in which state; their delays, in seconds."""

    total: int = 0
    # May be asked now, and have something queued or in flight.
    ready: int = 0
    # Their delay runs.
    waiting: int = 0
    # Wait for longer than their delay: 429, 503, a robots.txt that can't be had.
    held: int = 0
    # Nothing of theirs is queued.
    idle: int = 0
    mean_delay: float = 0.0
    longest_delay: float = 0.0
    # Requests to the host that gets most of them.
    busiest_per_second: float = 0.0


@dataclass(slots=True, frozen=True)
class HostWait:
    """A host that is held: what it answered, when it is tried again, and when it is given up."""

    host: str
    reason: str = ""
    next_try_at: float = 0.0
    until: float | None = None


@dataclass(slots=True, frozen=True)
class LatestPage:
    url: str
    status_code: int | None = None
    title: str | None = None
    depth: int = 0
    fetch_ms: int | None = None
    error: str | None = None


@dataclass(slots=True, frozen=True)
class LatestError:
    url: str
    status_code: int | None = None
    error: str = ""
    referrer: str | None = None
    at: float = 0.0


@dataclass(slots=True, frozen=True)
class Snapshot:
    """Times are seconds of the epoch. Counts are of this run, unless it says otherwise."""

    at: float
    started_at: float
    # In the last one of a run only: when it ended, and Scrapy's word for why.
    ended_at: float | None = None
    reason: str | None = None
    phase: Phase = Phase.RUNNING
    # Of all runs, and of earlier ones.
    pages: int = 0
    pages_before: int = 0
    # Pages that are fine, broken, blocked, denied, refused (``tally.py``).
    outcomes: dict[str, int] = field(default_factory=dict)
    # Of all runs: URLs by their state, and skipped ones by the reason.
    urls: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    # Pages by depth.
    depths: dict[str, int] = field(default_factory=dict)
    # Also for robots.txt, and once more for every retry; responses by status.
    requests: int = 0
    responses: dict[str, int] = field(default_factory=dict)
    # Pages by the word of their error.
    errors: dict[str, int] = field(default_factory=dict)
    # Of bodies, as they were sent.
    bytes: int = 0
    fetch_seconds: FetchSeconds = field(default_factory=FetchSeconds)
    robots_denied: int = 0
    timeouts: int = 0
    retries: int = 0
    # Times that a host was left alone because it answered 429 or 503.
    overloads: int = 0
    # Pages whose body came before, about.
    duplicates: int = 0
    # Links that were found, and how many of them were known.
    links: int = 0
    links_known: int = 0
    hosts: Hosts = field(default_factory=Hosts)
    # Hosts that the crawl waits for; those that are tried next.
    waits: list[HostWait] = field(default_factory=list)
    # Of the process.
    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    # Of all runs, about; None: there is none.
    oldest_page_at: float | None = None
    newest_page_at: float | None = None
    # Over the last seconds.
    pages_per_second: float = 0.0
    # Seconds since this run began, and pages of it until then.
    history: list[tuple[float, int]] = field(default_factory=list)
    # The newest first.
    latest_pages: list[LatestPage] = field(default_factory=list)
    latest_errors: list[LatestError] = field(default_factory=list)
    # Why nothing more can be kept.
    problem: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON object, as Python has it."""
        # Not all of it by ``asdict``, which would copy every point of the history.
        members = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            "version": VERSION,
            **members,
            "fetch_seconds": asdict(self.fetch_seconds),
            "hosts": asdict(self.hosts),
            "waits": [asdict(wait) for wait in self.waits],
            "latest_pages": [asdict(page) for page in self.latest_pages],
            "latest_errors": [asdict(error) for error in self.latest_errors],
        }


def to_json(snapshot: Snapshot) -> bytes:
    return _write(snapshot.as_dict())


def from_json(written: bytes) -> Snapshot | None:
    """The snapshot that was written; None if it is none of ours, or not all of it."""
    if len(written) > MAX_BYTES:
        return None
    try:
        value = orjson.loads(written)
        is_ours = isinstance(value, dict) and value.get("version") == VERSION
        return _snapshot(value) if is_ours else None
    except ValueError:
        return None


def read_snapshot(path: Path) -> Snapshot | None:
    """The snapshot in a file; None if there is no such file, or none in it."""
    try:
        # Nobody is to wait for what is no file.
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return from_json(file.read(MAX_BYTES + 1))
    except OSError:
        return None


# --- for who makes one


def cut(words: object, most: int) -> str:
    """Text of any length from anywhere, as JSON can hold it."""
    return encodable(str(words)[:most])


def cut_or_none(words: object, most: int) -> str | None:
    return None if words is None else cut(words, most)


def bounded(by_word: Mapping[str, int], most: int = MAX_WORDS) -> dict[str, int]:
    """Counts by word, the largest first; those that are too many, together as 'other'."""
    ordered = sorted(by_word.items(), key=lambda item: (-item[1], item[0]))
    kept: Counter[str] = Counter()
    for place, (word, times) in enumerate(ordered):
        fits = len(ordered) <= most or place < most - 1
        kept[cut(word, WORD_CHARS) if fits else OTHER] += times
    return dict(kept)


# --- for who reads one


def _phase(value: Any) -> Phase:
    return Phase(text(WORD_CHARS)(value))


def _point(value: Any) -> tuple[float, int]:
    if type(value) is not list or len(value) != 2:
        raise ValueError("no point")
    return number(value[0]), count(value[1])


def _fetch_seconds(value: Any) -> FetchSeconds:
    members = {"bounds": list_of(number, 50), "counts": list_of(count, 51), "sum": number}
    took = object_of(FetchSeconds, members)(value)
    if took.bounds != sorted(set(took.bounds)) or len(took.counts) != len(took.bounds) + 1:
        raise ValueError("no histogram")
    return took


_WORDS = counts(MAX_WORDS, WORD_CHARS)
_HOSTS = {
    item.name: number if "delay" in item.name or "second" in item.name else count
    for item in fields(Hosts)
}
_HOST_WAIT = {
    "host": text(URL_CHARS),
    "reason": text(ERROR_CHARS),
    "next_try_at": number,
    "until": maybe(number),
}
_LATEST_PAGE = {
    "url": text(URL_CHARS),
    "status_code": maybe(count),
    "title": maybe(text(TITLE_CHARS)),
    "depth": count,
    "fetch_ms": maybe(count),
    "error": maybe(text(ERROR_CHARS)),
}
_LATEST_ERROR = {
    "url": text(URL_CHARS),
    "status_code": maybe(count),
    "error": text(ERROR_CHARS),
    "referrer": maybe(text(URL_CHARS)),
    "at": number,
}
_MEMBERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("at", "started_at", "cpu_seconds", "pages_per_second"), number),
    **dict.fromkeys(("ended_at", "oldest_page_at", "newest_page_at"), maybe(number)),
    **dict.fromkeys(("reason", "problem"), maybe(text(ERROR_CHARS))),
    **dict.fromkeys(("outcomes", "urls", "skipped", "errors"), _WORDS),
    **dict.fromkeys(
        (
            *("pages", "pages_before", "requests", "bytes", "robots_denied", "timeouts"),
            *("retries", "overloads", "duplicates", "links", "links_known", "memory_bytes"),
        ),
        count,
    ),
    "phase": _phase,
    "depths": counts(MAX_DEPTH + 1, WORD_CHARS),
    "responses": counts(MAX_STATUSES, WORD_CHARS),
    "fetch_seconds": _fetch_seconds,
    "hosts": object_of(Hosts, _HOSTS),
    "waits": list_of(object_of(HostWait, _HOST_WAIT), MAX_WAITS),
    "history": list_of(_point, MAX_POINTS),
    "latest_pages": list_of(object_of(LatestPage, _LATEST_PAGE), MAX_LATEST_PAGES),
    "latest_errors": list_of(object_of(LatestError, _LATEST_ERROR), MAX_LATEST_ERRORS),
}
_snapshot = object_of(Snapshot, _MEMBERS)
