"""When a request to a host may start: one queue a host, and the gate before it.

A request starts when all of this holds:

| limit | holds when |
|---|---|
| concurrency | fewer requests are in flight than allowed; with a Crawl-delay, none |
| delay | DOWNLOAD_DELAY, and Crawl-delay, have passed since the last completion |
| rate | 1 / POLITENESS_RATE has passed since the last start |
| AutoThrottle | its delay has passed since the last start |
| hold | the host is not held any more (429, 503, robots.txt unavailable) |

Pure: no clock, no I/O, no randomness. Every operation costs O(log hosts) or O(log queue of a host).

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

from crawlproject.frontier.bottleneck import Bottleneck, add_waiting, bottleneck_of

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
    """The limits that the settings give a host."""

    # Seconds from a completion to the next start; requests in flight.
    delay: float = 0.0
    concurrency: int = 1
    # AutoThrottle's delay before the first response, and the longest one.
    start_delay: float = 0.0
    max_throttle: float = float("inf")
    # Requests started a second; 0: no limit.
    rate: float = 0.0
    # The part of the delay by which it varies at random, up and down.
    jitter: float = 0.0
    # How many requests AutoThrottle keeps in flight, on average.
    target: float = float("inf")
    # Whether the concurrency is that target, because it is below the one that was set.
    is_target: bool = False


class HostsNow(NamedTuple):
    """How many hosts are in which state at a moment, and how fast they may be asked."""

    total: int = 0
    # May be asked now, and have something queued or in flight.
    ready: int = 0
    # Their delay runs.
    waiting: int = 0
    # Wait for longer than their delay, with or without anything queued.
    held: int = 0
    idle: int = 0
    # Seconds between two starts, when a host is asked as fast as its limits allow.
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
    # The longest Crawl-delay that it asked for: seconds from a completion to the next start.
    min_delay: float = 0.0
    # AutoThrottle's delay: seconds from a start to the next.
    throttle: float = 0.0
    # When its delay and its hold end; when its delay alone does.
    ready_at: float = float("-inf")
    delayed_until: float = float("-inf")
    # Until then its next turn is for a request without an item.
    reserved_until: float = float("-inf")
    # The last start, and the one before it.
    started_at: float = float("-inf")
    started_before: float = float("-inf")
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
    # Requests that may be in flight from this process. Workers of a shared crawl have fewer.
    allowed: int = -1
    # For ``bottleneck.py``: requests of this run, when it had as much in flight as it may for the
    # last time, when it was last accounted for, when its queue was last filled, and seconds waited
    # by limit.
    started: int = 0
    freed_at: float = float("-inf")
    accounted_at: float = float("-inf")
    queued_at: float = float("-inf")
    waited: list[float] | None = None

    def __post_init__(self) -> None:
        if self.allowed < 0:
            self.allowed = self.limits.concurrency

    def lane(self, key: Key) -> Lane:
        return self.new if key[0] >= 0 else self.again

    @property
    def delay(self) -> float:
        """Seconds from a completion to the next start."""
        return max(self.limits.delay, self.min_delay)

    @property
    def interval(self) -> float:
        """Seconds from a start to the next."""
        rate = self.limits.rate
        throttle = min(self.throttle, self.limits.max_throttle)
        return max(1 / rate, throttle) if rate else throttle

    @property
    def start_at(self) -> float:
        """When the next request may start, if there is room for it."""
        interval = self.interval
        return max(self.ready_at, self.started_at + interval) if interval else self.ready_at

    @property
    def pause(self) -> float:
        """Seconds that are enough between whatever has happened and the next start."""
        return max(self.delay, self.interval)

    @property
    def spacing(self) -> float:
        """Seconds between two starts, at least, on average."""
        width = 1 if self.min_delay > 0 else self.limits.concurrency
        return max(self.delay / max(width, 1), self.interval)

    def is_throttled(self) -> bool:
        """Whether AutoThrottle's delay is the longer interval."""
        rate = self.limits.rate
        return not rate or min(self.throttle, self.limits.max_throttle) > 1 / rate

    def free(self) -> bool:
        # Who asks for a Crawl-delay expects one request at a time.
        cap = min(self.allowed, 1) if self.min_delay > 0 else self.allowed
        return self.in_flight < cap


class HostGate(Generic[T]):
    """Queues of URLs by host, given out no faster than the limits of each host allow.

    ``resolve`` says what is queued under a key, or None if that was long ago; ``refill``
    gives the next keys of a host's lane behind its horizon; ``changed`` is told of every
    host whose politeness state has changed. ``share`` is the part of a host's turns that go to
    what is visited again, while both lanes have some. ``vary`` returns a random number between
    -1 and 1, for the jitter of delays. In a shared crawl (``is_shared``) nothing is given out
    before ``allow`` says how much.
    """

    def __init__(
        self,
        limits: Callable[[str], HostLimits],
        resolve: Callable[[Key], T | None],
        refill: Callable[[Host, Lane, int], list[Key]],
        changed: Callable[[Host], None],
        share: float = 0.5,
        vary: Callable[[], float] = float,
        *,
        is_shared: bool = False,
    ) -> None:
        self._share = share
        self._vary = vary
        self._is_shared = is_shared
        self._limits = limits
        self._resolve = resolve
        self._refill = refill
        self._changed = changed
        self._hosts: dict[str, Host] = {}
        self._ready: list[tuple[Key, int, Host]] = []
        self._waiting: list[tuple[float, int, Host]] = []
        self._tickets = 0
        self._in_flight = self._most_in_flight = 0
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
            host = Host(len(self._hosts) + 1, name, limits, throttle=limits.start_delay)
            if self._is_shared:
                host.allowed = 0
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
            host.queued_at = self._now
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
            add_waiting(host, now)
            self._begin(host, now)
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
            spacing = host.spacing
            sum_of_delays += spacing
            longest = max(longest, spacing)
            # No delay takes it further than that.
            if host.ready_at > now + host.delay:
                held += 1
            elif host.in_flight:
                ready += 1
            elif host.new.has_more() or host.again.has_more():
                if host.start_at > now:
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

    def acquire_turn(self, name: str, now: float) -> float:
        """Take a turn at the host without an item: 0 if it is given, else seconds to wait.

        The next turn is kept for who comes back then: items are there at once, each time.
        """
        self._now = max(self._now, now)
        host = self.host(name)
        wait = max(0.0, host.start_at - now) if host.free() else _PATIENCE
        host.reserved_until = now + wait + _PATIENCE if wait else float("-inf")
        if wait:
            self._offer(host)
        else:
            self._begin(host, now)
        return wait

    def landed(self, name: str, now: float) -> None:
        """A request to the host is complete: its delay counts from now."""
        self._now = max(self._now, now)
        host = self.host(name)
        if not host.free():
            host.freed_at = max(host.freed_at, now)
        host.in_flight -= 1
        self._in_flight -= 1
        delay = host.delay
        if jitter := host.limits.jitter:
            varied = host.limits.delay * (1 + jitter * self._vary())
            delay = max(varied, host.min_delay, 0.0)
        host.delayed_until = max(host.delayed_until, now + delay)
        host.ready_at = max(host.ready_at, host.delayed_until)
        self._changed(host)
        self._offer(host)

    def start_late(self, name: str, taken_at: float, now: float) -> float:
        """Start a request that was taken a while ago: 0 if it may start, else seconds to wait.

        Other requests may have started or ended at the host since.
        """
        self._now = max(self._now, now)
        host = self.host(name)
        is_last = host.started_at == taken_at
        last_start = host.started_before if is_last else host.started_at
        wait = max(host.ready_at, last_start + host.interval) - now
        if wait > 0:
            return wait
        host.started_before, host.started_at = last_start, now
        self._changed(host)
        self._offer(host)
        return 0.0

    def withdraw(self, name: str, started_at: float) -> None:
        """What was taken at a time never reached the host: it costs neither delay nor rate."""
        host = self.host(name)
        host.in_flight -= 1
        host.requests -= 1
        host.started -= 1
        self._in_flight -= 1
        if started_at == host.started_at:
            host.started_at = host.started_before
        self._changed(host)
        self._offer(host)

    def hold(self, name: str, until: float) -> None:
        host = self.host(name)
        host.ready_at = max(host.ready_at, until)
        self._changed(host)
        self._offer(host)

    def allow(self, name: str, requests: int) -> Host:
        """Set how many requests may be in flight from this process."""
        host = self.host(name)
        if host.allowed != requests:
            host.allowed = requests
            self._offer(host)
        return host

    def set_throttle(self, name: str, delay: float) -> None:
        host = self.host(name)
        host.throttle = delay
        self._changed(host)
        if host.waits or host.offered is not None:
            self._offer(host)

    def set_min_delay(self, name: str, delay: float) -> None:
        host = self.host(name)
        host.min_delay = max(host.min_delay, delay)
        self._changed(host)
        if host.offered is not None:
            # It may have too many in flight now.
            self._offer(host)

    def bottleneck(self) -> Bottleneck | None:
        """The limit that cost most time: O(hosts)."""
        return bottleneck_of(self._hosts.values(), self._most_in_flight)

    def overloaded(self, name: str, *, again: bool) -> int:
        """Count that the host had too much to do, or (not ``again``) that it has not any more."""
        host = self.host(name)
        if again or host.failures:
            host.failures = host.failures + 1 if again else 0
            self._changed(host)
        return host.failures

    def _begin(self, host: Host, now: float) -> None:
        host.in_flight += 1
        host.requests += 1
        host.started += 1
        host.accounted_at = now
        self._in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        host.started_before, host.started_at = host.started_at, max(host.started_at, now)
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
        if (start_at := max(host.start_at, host.reserved_until)) > self._now:
            host.waits = True
            heappush(self._waiting, (start_at, host.ticket, host))
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
