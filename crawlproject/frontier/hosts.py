"""When a host may be asked: one queue a host, and the gate before it.

Pure: no clock, no I/O. Every operation costs O(log hosts) or O(log queue of a host).

A host is in one of three places: among the *ready* ones, ordered by their best URL;
among the *waiting* ones, ordered by the time they get ready; or in neither, because it
has nothing queued or as much in flight as it may. The two heaps are cleaned lazily: each
move gives the host a new ticket, and what is popped with an old one is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds until it is worth asking again for a turn at a host that is busy.
_PATIENCE = 0.05

T = TypeVar("T")
Key = tuple[int, int]


class HostLimits(NamedTuple):
    """How one host wants to be treated."""

    delay: float = 0.0
    concurrency: int = 1
    # The delay until something is known about the host.
    start_delay: float = 0.0


@dataclass(slots=True, eq=False)
class Host(Generic[T]):
    delay: float
    least_delay: float
    concurrency: int
    queue: list[tuple[Key, T]] = field(default_factory=list)
    in_flight: int = 0
    ready_at: float = float("-inf")
    ticket: int = 0
    offered: Key | None = None

    def free(self) -> bool:
        # While an answer is on its way nobody knows when it will end, so 'start no sooner
        # than the delay after the last end' can only be promised one request at a time.
        return self.in_flight < (1 if self.delay > 0 else self.concurrency)


class HostGate(Generic[T]):
    """Queues of URLs by host, given out no faster than each host allows."""

    def __init__(
        self, limits: Callable[[str], HostLimits], is_live: Callable[[T, Key], bool]
    ) -> None:
        self._limits = limits
        # Queues are cleaned lazily too: whether what was pushed is still wanted at that key.
        self._is_live = is_live
        self._hosts: dict[str, Host[T]] = {}
        self._ready: list[tuple[Key, int, Host[T]]] = []
        self._waiting: list[tuple[float, int, Host[T]]] = []
        self._tickets = 0
        self._now = float("-inf")

    def push(self, name: str, key: Key, item: T) -> None:
        host = self._host(name)
        heappush(host.queue, (key, item))
        if host.offered is None or key < host.offered:
            self._offer(host)

    def take(self, now: float) -> T | None:
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
            host.in_flight += 1
            self._offer(host)
            return item
        return None

    def next_ready(self, now: float) -> float | None:
        while self._waiting and self._waiting[0][1] != self._waiting[0][2].ticket:
            heappop(self._waiting)
        while self._ready and self._ready[0][1] != self._ready[0][2].ticket:
            heappop(self._ready)
        if self._ready:
            return now
        return self._waiting[0][0] if self._waiting else None

    def enter(self, name: str, now: float) -> float:
        """Take a turn at the host without an item: 0 if it is given, else seconds to wait."""
        self._now = max(self._now, now)
        host = self._host(name)
        if not host.free():
            return _PATIENCE
        if host.ready_at > now:
            return host.ready_at - now
        host.in_flight += 1
        self._offer(host)
        return 0.0

    def landed(self, name: str, now: float) -> None:
        """A request of the host has ended: its delay counts from now."""
        self._now = max(self._now, now)
        host = self._host(name)
        host.in_flight -= 1
        host.ready_at = max(host.ready_at, now + host.delay)
        self._offer(host)

    def withdraw(self, name: str) -> None:
        """What was taken never reached the host, so it costs no delay."""
        host = self._host(name)
        host.in_flight -= 1
        self._offer(host)

    def hold(self, name: str, until: float) -> None:
        host = self._host(name)
        host.ready_at = max(host.ready_at, until)
        self._offer(host)

    def slow(self, name: str, delay: float) -> None:
        host = self._host(name)
        host.delay = max(host.least_delay, delay)

    def insist(self, name: str, delay: float) -> None:
        host = self._host(name)
        host.least_delay = max(host.least_delay, delay)
        host.delay = max(host.delay, delay)

    def delay_of(self, name: str) -> float:
        return self._host(name).delay

    def __len__(self) -> int:
        return len(self._hosts)

    def _host(self, name: str) -> Host[T]:
        host = self._hosts.get(name)
        if host is None:
            delay, concurrency, start_delay = self._limits(name)
            host = self._hosts[name] = Host(max(delay, start_delay), delay, concurrency)
        return host

    def _pop(self, host: Host[T]) -> T | None:
        while host.queue:
            key, item = heappop(host.queue)
            if self._is_live(item, key):
                return item
        return None

    def _offer(self, host: Host[T]) -> None:
        """Put the host where it belongs now, and nowhere else."""
        self._tickets += 1
        host.ticket = self._tickets
        host.offered = None
        if not host.queue or not host.free():
            return
        if host.ready_at > self._now:
            heappush(self._waiting, (host.ready_at, host.ticket, host))
        else:
            host.offered = host.queue[0][0]
            heappush(self._ready, (host.offered, host.ticket, host))

    def _advance(self, now: float) -> None:
        self._now = max(self._now, now)
        while self._waiting and self._waiting[0][0] <= self._now:
            _, ticket, host = heappop(self._waiting)
            if ticket == host.ticket:
                self._offer(host)
