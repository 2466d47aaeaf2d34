"""When a host may be asked: one queue a host, and the gate before it.

Pure: no clock, no I/O. Every operation costs O(log hosts) or O(log queue of a host).

A host is in one of three places: among the *ready* ones, ordered by their best URL;
among the *waiting* ones, ordered by the time they get ready; or in neither, because it
has nothing queued or as much in flight as it may. The two heaps are cleaned lazily: each
move gives the host a new ticket, and what is popped with an old one is passed over.

A queue has two *lanes*: URLs that are new, and those that are visited again. Of each lane, only
the front is here. Behind its *horizon* it is where ``refill`` finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Seconds until it is worth asking again for a turn at a host that is busy.
_PATIENCE = 0.05
# URLs of all queues together that are kept here, about, and of one queue.
_WINDOWS = 65_536
_LEAST_WINDOW, _LARGEST_WINDOW = 4, 256
_SPARE_TICKETS = 1024
# Of a turn: parts that add up to one may come out a little smaller.
_ALL = 1 - 1e-9

T = TypeVar("T")
P = TypeVar("P")
# Level, rank, id: the order of a lane. Below 0: not a level, but the other lane.
Key = tuple[int, int, int]
# Where a lane begins of which nothing is here.
BEFORE_ALL: Key = (-2, 0, 0)


class HostLimits(NamedTuple):
    """How one host is to be treated, whatever it says itself."""

    delay: float = 0.0
    concurrency: int = 1
    # The delay until something is known about the host, and the longest that throttling adds.
    start_delay: float = 0.0
    max_throttle: float = float("inf")


class HostsNow(NamedTuple):
    """How many hosts are in which state at a moment, and what they are left between requests."""

    total: int = 0
    # May be asked now, and have something queued or in flight.
    ready: int = 0
    # Their delay runs.
    waiting: int = 0
    # Wait for longer than their delay, with or without anything queued.
    held: int = 0
    idle: int = 0
    # Seconds.
    mean_delay: float = 0.0
    longest_delay: float = 0.0
    # So far, host by host; a host has the same place at every look, and new ones come last.
    requests: Sequence[int] = ()


@dataclass(slots=True, eq=False)
class Lane:
    queue: list[Key] = field(default_factory=list)
    # The last key that was ever here; what follows is elsewhere. None: nothing follows.
    horizon: Key | None = None

    def has_more(self) -> bool:
        return bool(self.queue) or self.horizon is not None


@dataclass(slots=True, eq=False)
class Host:
    id: int
    name: str
    limits: HostLimits
    # What it asked for (Crawl-delay), and what its answers ask for (AutoThrottle).
    insisted: float = 0.0
    throttled: float = 0.0
    ready_at: float = float("-inf")
    # Requests so far, and how often in a row it said that it has too much to do.
    requests: int = 0
    failures: int = 0
    in_flight: int = 0
    new: Lane = field(default_factory=Lane)
    again: Lane = field(default_factory=Lane)
    # What visits are owed of the turns since both lanes have had some: at 1 it is theirs.
    owed: float = 0.0
    # Its place: among the waiting ones, among the ready ones with this key, or in neither.
    ticket: int = 0
    waits: bool = False
    offered: Key | None = None

    def lane(self, key: Key) -> Lane:
        return self.new if key[0] >= 0 else self.again

    @property
    def delay(self) -> float:
        throttled = min(self.throttled, self.limits.max_throttle)
        return max(self.limits.delay, self.insisted, throttled)

    def free(self) -> bool:
        # While an answer is on its way nobody knows when it will end, so 'start no sooner
        # than the delay after the last end' can only be promised one request at a time.
        most = self.limits.concurrency
        return self.in_flight < (min(most, 1) if self.delay > 0 else most)


class HostGate(Generic[T]):
    """Queues of URLs by host, given out no faster than each host allows.

    ``resolve`` says what is queued under a key, or None if that was long ago; ``refill``
    gives the next keys of a host's lane behind its horizon; ``changed`` is told of every
    host whose politeness state has changed. ``share`` is the part of a host's turns that go to
    what is visited again, while both lanes have some.
    """

    def __init__(
        self,
        limits: Callable[[str], HostLimits],
        resolve: Callable[[Key], T | None],
        refill: Callable[[Host, Lane, int], list[Key]],
        changed: Callable[[Host], None],
        share: float = 0.5,
    ) -> None:
        self._share = share
        self._limits = limits
        self._resolve = resolve
        self._refill = refill
        self._changed = changed
        self._hosts: dict[str, Host] = {}
        self._ready: list[tuple[Key, int, Host]] = []
        self._waiting: list[tuple[float, int, Host]] = []
        self._tickets = 0
        self._now = float("-inf")
        # When a host that is new here may be asked first.
        self.not_before = float("-inf")

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts.values())

    def restore(self, host: Host) -> None:
        """Put a host back that was known before; its queue is elsewhere."""
        self._hosts[host.name] = host
        self.look_again(host)

    def look_again(self, host: Host) -> None:
        """What is queued of a host has changed, wherever it is."""
        for lane in (host.new, host.again):
            lane.queue, lane.horizon = [], BEFORE_ALL
        self._offer(host)

    def host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            limits = self._limits(name)
            host = Host(len(self._hosts) + 1, name, limits, throttled=limits.start_delay)
            host.ready_at = self.not_before
            self._hosts[name] = host
            self._changed(host)
        return host

    def push(self, host: Host, key: Key) -> None:
        lane = host.lane(key)
        if lane.horizon is None or key <= lane.horizon:
            heappush(lane.queue, key)
            if len(lane.queue) > 2 * self._window():
                self._shorten(lane)
        # One that waits for its time, or for an answer, gains nothing by one URL more.
        if host.offered is not None:
            if key < host.offered:
                self._offer(host)
        elif not host.waits and host.free():
            self._offer(host)

    def take(self, now: float) -> tuple[Host, T] | None:
        """The best item among the hosts that may be asked now."""
        self._advance(now)
        while self._ready:
            _, ticket, host = heappop(self._ready)
            if ticket != host.ticket:
                continue
            host.offered = None
            item = self._pop(host)
            if item is None:
                continue
            self._begin(host)
            return host, item
        return None

    def next_ready(self, now: float) -> float | None:
        while self._waiting and self._waiting[0][1] != self._waiting[0][2].ticket:
            heappop(self._waiting)
        while self._ready and self._ready[0][1] != self._ready[0][2].ticket:
            heappop(self._ready)
        if self._ready:
            return now
        return self._waiting[0][0] if self._waiting else None

    def survey(self, now: float) -> HostsNow:
        """Look at every host: O(hosts)."""
        ready = waiting = held = 0
        sum_of_delays = longest = 0.0
        for host in self._hosts.values():
            delay = host.delay
            sum_of_delays += delay
            longest = max(longest, delay)
            # No delay takes it further than that.
            if host.ready_at > now + delay:
                held += 1
            elif host.in_flight:
                ready += 1
            elif host.new.has_more() or host.again.has_more():
                if host.ready_at > now:
                    waiting += 1
                else:
                    ready += 1
        total = len(self._hosts)
        return HostsNow(
            total,
            ready,
            waiting,
            held,
            idle=total - ready - waiting - held,
            mean_delay=sum_of_delays / total if total else 0.0,
            longest_delay=longest,
            requests=[host.requests for host in self._hosts.values()],
        )

    def enter(self, name: str, now: float) -> float:
        """Take a turn at the host without an item: 0 if it is given, else seconds to wait."""
        self._now = max(self._now, now)
        host = self.host(name)
        if not host.free():
            return _PATIENCE
        if host.ready_at > now:
            return host.ready_at - now
        self._begin(host)
        return 0.0

    def landed(self, name: str, now: float) -> None:
        """A request of the host has ended: its delay counts from now."""
        self._now = max(self._now, now)
        host = self.host(name)
        host.in_flight -= 1
        host.ready_at = max(host.ready_at, now + host.delay)
        self._changed(host)
        self._offer(host)

    def withdraw(self, name: str) -> None:
        """What was taken never reached the host, so it costs no delay."""
        host = self.host(name)
        host.in_flight -= 1
        host.requests -= 1
        self._changed(host)
        self._offer(host)

    def hold(self, name: str, until: float) -> None:
        host = self.host(name)
        host.ready_at = max(host.ready_at, until)
        self._changed(host)
        self._offer(host)

    def allow(self, name: str, concurrency: int) -> Host:
        """Have as many requests at the host at once as is said."""
        host = self.host(name)
        if host.limits.concurrency != concurrency:
            host.limits = host.limits._replace(concurrency=concurrency)
            self._offer(host)
        return host

    def slow(self, name: str, delay: float) -> None:
        host = self.host(name)
        host.throttled = delay
        self._changed(host)

    def insist(self, name: str, delay: float) -> None:
        host = self.host(name)
        host.insisted = max(host.insisted, delay)
        self._changed(host)

    def overloaded(self, name: str, *, again: bool) -> int:
        """Count that the host had too much to do, or (not ``again``) that it has not any more."""
        host = self.host(name)
        if again or host.failures:
            host.failures = host.failures + 1 if again else 0
            self._changed(host)
        return host.failures

    def _begin(self, host: Host) -> None:
        host.in_flight += 1
        host.requests += 1
        self._changed(host)
        self._offer(host)

    def _pop(self, host: Host) -> T | None:
        while (lane := self._next_lane(host)) is not None:
            is_contested = bool(host.new.queue and host.again.queue)
            item = self._resolve(heappop(lane.queue))
            if item is not None:
                if is_contested:
                    host.owed += self._share - (lane is host.again)
                return item
        return None

    def _next_lane(self, host: Host) -> Lane | None:
        """The one whose turn it is, of those that have some."""
        new, again = host.new, host.again
        for lane in (new, again):
            if not lane.queue and lane.horizon is not None:
                self._fill(host, lane)
        if new.queue and again.queue:
            return again if host.owed + self._share >= _ALL else new
        return new if new.queue else again if again.queue else None

    def _fill(self, host: Host, lane: Lane) -> None:
        size = self._window()
        lane.queue = self._refill(host, lane, size)
        lane.horizon = lane.queue[-1] if len(lane.queue) == size else None

    def _shorten(self, lane: Lane) -> None:
        lane.queue = nsmallest(self._window(), lane.queue)
        heapify(lane.queue)
        lane.horizon = max(lane.queue)

    def _window(self) -> int:
        return max(_LEAST_WINDOW, min(_LARGEST_WINDOW, _WINDOWS // (len(self._hosts) or 1)))

    def _offer(self, host: Host) -> None:
        """Put the host where it belongs now, and nowhere else."""
        self._tickets += 1
        host.ticket = self._tickets
        host.offered = None
        host.waits = False
        if not host.free():
            return
        lane = self._next_lane(host)
        if lane is None:
            return
        if host.ready_at > self._now:
            host.waits = True
            heappush(self._waiting, (host.ready_at, host.ticket, host))
            self._waiting = self._tidied(self._waiting)
        else:
            host.offered = lane.queue[0]
            heappush(self._ready, (host.offered, host.ticket, host))
            self._ready = self._tidied(self._ready)

    def _tidied(self, heap: list[tuple[P, int, Host]]) -> list[tuple[P, int, Host]]:
        """The heap, without the old tickets when there are too many of them."""
        if len(heap) <= 2 * len(self._hosts) + _SPARE_TICKETS:
            return heap
        heap = [place for place in heap if place[1] == place[2].ticket]
        heapify(heap)
        return heap

    def _advance(self, now: float) -> None:
        self._now = max(self._now, now)
        while self._waiting and self._waiting[0][0] <= self._now:
            _, ticket, host = heappop(self._waiting)
            if ticket == host.ticket:
                self._offer(host)
