"""What only a shared crawl has: its workers, who commits, what waits for that, what was odd.

And how much of Redis it takes, by samples: of keys that are alike, some are measured.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import ResponseError

from crawlproject.frontier.redis.blocks import SIZE
from crawlproject.frontier.redis.connection import address_of, servers_of
from crawlproject.frontier.redis.crawls import now_in
from crawlproject.frontier.redis.keys import PAGED, PAGES_A_KEY
from crawlproject.frontier.redis.scripts import pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlproject.frontier.redis.scripts import Scripts

# Keys of which there is one.
_SINGLE = (
    *("meta", "notes", "workers", "hungry", "inbox", "aside", "items", "tries", "due", "due_at"),
    *("hosts", "ready", "starts", "answers", "answered", "levels", "beyond", "budgets"),
    "sources",
)
# Of how many keys of a kind, and of how many members of a key, the size is taken.
_SAMPLES = 20
# Hosts by which all are judged.
_HOSTS = 200


class Worker(NamedTuple):
    name: str
    # It renews its session; one that is not alive has been killed, or was cut off.
    is_alive: bool
    # None: not known.
    silent_seconds: float | None
    urls: int
    hosts: int


class Fleet(NamedTuple):
    redis: str
    crawl: str
    workers: list[Worker]
    committer: str | None
    # Why all are to end, if somebody wants it.
    stop: str | None
    # Messages that wait to be committed.
    inbox: int
    # Values that were not ours: those that were kept, and all there were.
    aside: int
    malformed: int
    # Of all that is in this Redis. None: it does not tell.
    redis_bytes: int | None


def fleet_of(scripts: Scripts, crawl: str) -> Fleet:
    now = now_in(scripts.client)
    sessions = pairs(scripts.ask("ZRANGE", "workers", 0, -1, "WITHSCORES"))
    names = [name.decode("utf-8", "replace") for name, _ in sessions]
    has = [sum(scripts.ask_everywhere("HLEN", f"{kind}:{name}")) for name in names for kind in "ls"]
    lasts, stop, malformed = scripts.ask("HMGET", "meta", "lasts", "stop", "malformed")
    committer = (scripts.ask("GET", "committer") or b"").decode("utf-8", "replace")
    workers = [
        Worker(name, float(ends_at) > now, _silent(lasts, float(ends_at) - now), urls, hosts)
        for (_, ends_at), name, urls, hosts in zip(
            sessions, names, has[::2], has[1::2], strict=True
        )
    ]
    return Fleet(
        address_of(scripts.client),
        crawl,
        sorted(workers),
        committer.partition(" ")[0] or None,
        stop.decode("utf-8", "replace") if stop else None,
        sum(scripts.ask_everywhere("LLEN", "inbox")),
        scripts.ask("LLEN", "aside"),
        int(malformed) if malformed and malformed.isdigit() else 0,
        _used(scripts),
    )


def _silent(lasts: bytes | None, ends_in: float) -> float | None:
    try:
        return None if lasts is None else max(0.0, float(lasts) - ends_in)
    except ValueError:
        return None


def _used(scripts: Scripts) -> int | None:
    try:
        return sum(
            int(server.info("memory")["used_memory"]) for server in servers_of(scripts.client)
        )
    except (ResponseError, KeyError):
        return None


def size_of(scripts: Scripts) -> int | None:
    """The bytes that a crawl takes, about. None: nobody may ask."""
    meta = scripts.hash("meta")
    last_id, buckets = (_count(meta.get(name)) for name in ("last_id", "buckets"))
    hosts = [
        name.decode("utf-8", "replace")
        for name in chain(*scripts.ask_everywhere("SRANDMEMBER", "hosts", _HOSTS))
    ]
    number = sum(scripts.ask_everywhere("SCARD", "hosts"))
    kinds: list[tuple[int, Sequence[str]]] = [
        (1, [f"{prefix}{name}"]) for name in _SINGLE for prefix in scripts.prefixes
    ]
    kinds.append(_numbered("e", -(-last_id // SIZE)))
    kinds.append(_numbered("x", buckets))
    kinds += [_numbered(name, last_id // PAGES_A_KEY + 1) for name in PAGED]
    kinds += [(number, [f"{kind}:{name}" for name in hosts]) for kind in ("h", "q", "r", "robots")]
    try:
        sizes = _sizes(scripts, [keys for _, keys in kinds])
    except ResponseError:
        return None
    return sum(
        round(count * sum(some) / len(some))
        for (count, _), some in zip(kinds, sizes, strict=True)
        if some
    )


def _sizes(scripts: Scripts, kinds: list[Sequence[str]]) -> list[list[int]]:
    keys = list(chain.from_iterable(kinds))
    # A key that is not there takes nothing.
    found: Any = iter(scripts.ask_all([("MEMORY USAGE", key, "SAMPLES", _SAMPLES) for key in keys]))
    return [[next(found) or 0 for _ in some] for some in kinds]


def _numbered(name: str, count: int) -> tuple[int, list[str]]:
    step = max(1, count // _SAMPLES)
    return count, [f"{name}:{number}" for number in range(0, count, step)]


def _count(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
