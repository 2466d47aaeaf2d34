"""A worker's session in Redis: what it has done, for what it may do next (``lua/exchange.lua``).

Seconds are told relative to now, in both directions, because clocks differ. What took time on
the way makes a host wait longer, never shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.frontier.redis.keys import shard_of_host
from crawlproject.frontier.redis.wire import (
    counts_from,
    item_from,
    number_of,
    packed_robots,
    robots_from,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlproject.frontier.base import Counts, Robots
    from crawlproject.frontier.redis.aside import Aside
    from crawlproject.frontier.redis.scripts import Scripts, Word
    from crawlproject.frontier.redis.wire import Item


class HostReport(NamedTuple):
    """What a worker knows of a host at which it has slots, or wants some."""

    name: str
    slots: int
    # Seconds until a request may start.
    ready_in: float
    # Seconds without any request that satisfy the delay and the interval between starts.
    pause: float
    # Seconds between two starts, at least, on average.
    spacing: float
    cap: int
    min_delay: float
    throttle: float
    failures: int
    requests: int
    # Nothing is queued or in flight here.
    is_idle: bool
    wanted_urls: int
    wanted_slots: int


class Grant(NamedTuple):
    host: str
    slots: int
    # Whether no other worker has a slot there, nor gets one before this one is given back.
    is_sole: bool
    # Seconds from now; None: as this worker has reported.
    ready_in: float | None
    min_delay: float
    throttle: float
    failures: int
    robots: dict[str, Robots]
    items: dict[int, Item]


@dataclass(slots=True)
class Report:
    """What goes to Redis in one exchange."""

    messages: list[bytes] = field(default_factory=list)
    # The host, the id, the answer.
    ended: list[tuple[str, int, bytes]] = field(default_factory=list)
    # The host, the id, seconds to wait, and what was learned.
    released: list[tuple[str, int, float, str]] = field(default_factory=list)
    hosts: list[HostReport] = field(default_factory=list)
    robots: list[tuple[str, str, Robots]] = field(default_factory=list)
    wanted: int = 0
    # The number of the first message.
    first: int = 1
    # All ids that are here, if the last reply was lost.
    ids: list[int] | None = None


class Reply(NamedTuple):
    # The session had ended: what it had was given to others.
    is_lost: bool
    # Why all are to stop, or nothing.
    stop: str
    counts: Counts
    # Nothing is left to do, or will be.
    is_complete: bool
    inbox: int
    leased: int
    # Who may commit, if it is this worker: by the name of its term.
    term: str | None
    workers: int
    # Seconds until there may be more; None: not by itself.
    next_in: float | None
    grants: list[Grant]
    # URLs that were given out, but with a value that is not ours.
    broken: list[int]
    # If they have changed.
    notes: dict[str, str] | None


class Gone(Exception):
    """The crawl has been removed from Redis, or there is another one in its place."""


class Session:
    """``lasts`` seconds until it ends unless it is renewed; ``ahead`` seconds before its time a
    host may be given to this worker; ``share`` of its URLs are those that are visited again, while
    others wait. ``time_limit`` is that of the whole crawl, 0 for none; it counts if this worker is
    the first.
    """

    def __init__(
        self,
        scripts: Scripts,
        aside: Aside,
        worker: str,
        *,
        lasts: float,
        ahead: float,
        asks_robots: bool,
        share: float = 0.5,
        time_limit: float = 0.0,
    ) -> None:
        self.worker = worker
        self._scripts = scripts
        self._aside = aside
        self._lasts = lasts
        self._ahead = ahead
        self._asks_robots = asks_robots
        self._share = share
        self._time_limit = time_limit
        # Shards that have not heard of it yet.
        self._new_in = set(range(scripts.shards))
        self._broken: list[int] = []
        # Of the notes that were read last.
        self._version = ""
        # What tells this crawl from another one in the same place, by shard.
        self._births = [b""] * scripts.shards

    def exchange(
        self, report: Report, now: float | None = None, *, may_commit: bool = True
    ) -> Reply:
        """``now`` is Redis' time unless it is given. Raises ``Gone``."""
        replies = []
        wanted = report.wanted
        for shard in range(self._scripts.shards):
            words = [
                *self._words(now, shard, may_commit=may_commit and not shard, wanted=wanted),
                *self._told(report, shard),
            ]
            reply = self._scripts.run("exchange", words, shard=shard)
            if reply is None:
                raise Gone("the crawl is gone from Redis: was it started again without its data?")
            self._births[shard] = reply[2][-1]
            self._new_in.discard(shard)
            # What is more than it has is asked of the next one.
            wanted -= sum(len(grant[-1]) // 3 for grant in reply[-1])
            replies.append(reply)
        return self._read(replies)

    def _words(
        self, now: float | None, shard: int, *, may_commit: bool, wanted: int
    ) -> Iterator[Word]:
        yield self.worker
        yield self._births[shard]
        yield "" if now is None else _written(now)
        yield self._lasts
        yield self._time_limit if shard in self._new_in else ""
        yield int(may_commit)
        yield max(wanted, 0)
        yield self._ahead
        yield int(self._asks_robots)
        yield self._share

    def _told(self, report: Report, shard: int) -> Iterator[Word]:
        """What a shard is told: the first one has the messages, and each its own hosts."""
        yield report.first
        yield from _listed([] if shard else report.messages)
        yield from _listed([words for host, *words in report.ended if self._is_in(host, shard)])
        yield from _listed([words for host, *words in report.released if self._is_in(host, shard)])
        if report.ids is None:
            yield -1
        else:
            yield from _listed(report.ids)
        yield from _listed([_words_of(one) for one in report.hosts if self._is_in(one.name, shard)])
        yield from _listed(
            [
                (host, origin, packed_robots(robots))
                for host, origin, robots in report.robots
                if self._is_in(host, shard)
            ]
        )

    def _is_in(self, host: str, shard: int) -> bool:
        return shard_of_host(host, self._scripts.shards) == shard

    def leave(self, now: float | None = None) -> int:
        """End the session: how many workers are left."""
        moment = "" if now is None else _written(now)
        left = [
            int(self._scripts.run("leave", (self.worker, moment), shard=shard))
            for shard in range(self._scripts.shards)
        ]
        return left[0]

    def _read(self, replies: list[list[Any]]) -> Reply:
        self._broken = []
        grants: list[Grant] = []
        next_in: float | None = None
        for moment, _, _, next_at, given in replies:
            now = float(moment)
            grants += [self._grant(grant, now) for grant in given]
            if next_at:
                later = float(next_at) - now
                next_in = later if next_in is None else min(next_in, later)
        # What speaks of the whole crawl is in the first shard.
        version, stop, census, is_idle, _, _, committer, workers, _ = replies[0][2]
        inbox = sum(reply[2][4] for reply in replies)
        leased = sum(reply[2][5] for reply in replies)
        term = committer.decode("utf-8", "replace")
        notes = None
        if (now_at := version.decode("utf-8", "replace")) != self._version:
            notes = self._scripts.hash("notes")
            self._version = now_at
        return Reply(
            any(reply[1] for reply in replies),
            stop.decode("utf-8", "replace"),
            counts_from(census, leased),
            is_idle == b"1" and not inbox,
            inbox,
            leased,
            term if term.startswith(f"{self.worker} ") else None,
            workers,
            next_in,
            grants,
            self._broken,
            notes,
        )

    def _grant(self, grant: list[Any], now: float) -> Grant:
        host, slots, is_sole, ready_at, min_delay, throttle, failures, robots, taken = grant
        name = host.decode("utf-8", "replace")
        return Grant(
            name,
            int(slots),
            bool(is_sole),
            number_of(ready_at) - now if ready_at else None,
            number_of(min_delay),
            number_of(throttle),
            int(number_of(failures)),
            dict(self._robots(name, robots)),
            dict(self._items(taken)),
        )

    def _robots(self, host: str, flat: list[bytes]) -> Iterator[tuple[str, Robots]]:
        for origin, value in zip(flat[::2], flat[1::2], strict=True):
            try:
                yield origin.decode(), robots_from(value)
            except ValueError as error:
                self._aside.put(f"robots:{host}", value, str(error))

    def _items(self, taken: list[bytes]) -> Iterator[tuple[int, Item]]:
        for number, item, learned in zip(taken[::3], taken[1::3], taken[2::3], strict=True):
            try:
                yield int(number), item_from(item, learned)
            except ValueError as error:
                self._aside.put("items", item, str(error))
                self._broken.append(int(number))


def _listed(members: Sequence[Any]) -> Iterator[Word]:
    """A list: its length, and then its members, or the words of each."""
    yield len(members)
    for member in members:
        if isinstance(member, (list, tuple)):
            yield from member
        else:
            yield member


def _words_of(host: HostReport) -> tuple[Word, ...]:
    return (
        host.name,
        host.slots,
        _written(host.ready_in),
        _written(host.pause),
        _written(host.spacing),
        host.cap,
        _written(host.min_delay),
        _written(host.throttle),
        host.failures,
        host.requests,
        int(host.is_idle),
        host.wanted_urls,
        host.wanted_slots,
    )


def _written(seconds: float) -> str:
    return f"{max(seconds, -1e15):.6f}"
