"""What a worker has of a shared crawl: URLs, slots at hosts, and what it has yet to hand in.

No I/O: ``report`` says what is to be told in an exchange, ``absorb`` takes the reply. Between
the two everything goes on, so what is handed back is not used from ``report`` on.
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

from crawlproject.frontier.entry import AGAIN
from crawlproject.frontier.hosts import BEFORE_ALL, HostGate
from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.session import HostReport, Report
from crawlproject.frontier.redis.wire import learned_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.base import Robots
    from crawlproject.frontier.hosts import Host, HostLimits, Key, Lane
    from crawlproject.frontier.redis.session import Grant, Reply
    from crawlproject.frontier.redis.wire import Item

# Seconds that a turn at a host is kept for who has asked for it.
_CLAIM = 5.0
# Bytes of messages that are told at once.
_MOST_BYTES = 4 * 1024 * 1024


class Desk:
    """``room`` URLs at most are here; ``ahead`` seconds of work at a host that has a delay.
    ``share`` of a host's turns go to what is visited again, while others wait. ``vary`` is the
    gate's.

    A host with a delay, a rate or AutoThrottle has one slot, so that one worker at a time keeps
    its limits. That worker is the *sole* one there: it may have as many requests in flight as the
    host allows. Slots of other hosts are requests in flight, which workers share.
    """

    def __init__(
        self,
        limits: Callable[[str], HostLimits],
        *,
        room: int,
        ahead: float,
        share: float = 0.5,
        vary: Callable[[], float] = float,
    ) -> None:
        self._limits = limits
        self._room = room
        self._ahead = ahead
        self.gate: HostGate[tuple[int, Item]] = HostGate(
            limits,
            self._resolve,
            self._refill,
            self._changed,
            share,
            vary,
            # Nothing may be asked of a host without a slot.
            is_shared=True,
        )
        self._items: dict[int, tuple[Key, str, Item]] = {}
        self._queued: Counter[str] = Counter()
        self._slots: dict[str, int] = {}
        # Hosts at which this worker is the only one, while it has a slot there.
        self._sole: set[str] = set()
        self._dirty: dict[str, Host] = {}
        # Requests at hosts that were reported.
        self._requests: dict[str, int] = {}
        # Turns that are wanted for something else than a URL, and until when.
        self._claims: dict[str, float] = {}
        # Handed in with the report that is under way.
        self._handed_back: set[str] = set()
        # What is known of the hosts that are this worker's now.
        self.robots: dict[str, Robots] = {}
        self._origins: dict[str, set[str]] = {}
        self._new_robots: dict[str, tuple[str, Robots]] = {}
        # Origins of which the last exchange told something.
        self._told_robots: frozenset[str] = frozenset()
        self._messages: list[bytes] = []
        # Messages that were told so far.
        self._told = 0
        # Whether a report with news was sent, and its reply has not come.
        self._is_telling = False
        # Ids and hosts of the URLs that were taken from here, and whether the last reply was lost.
        self.out: dict[int, str] = {}
        self._is_unsure = False
        self._ended: list[tuple[str, int, bytes]] = []
        self._released: list[tuple[str, int, float, str]] = []

    # --- what is to be told

    def tell(self, message: bytes) -> None:
        self._messages.append(message)

    def end(self, number: int, answer: bytes) -> None:
        self._ended.append((self.out.pop(number), number, answer))

    def release(self, number: int, until: float, learned: str) -> None:
        self._released.append((self.out.pop(number), number, until, learned))

    def claim(self, host: str, now: float) -> None:
        """A turn at a host is wanted."""
        if host not in self._claims:
            self._claims[host] = now + _CLAIM
            self._dirty[host] = self.gate.host(host)

    def has_slot(self, host: str) -> bool:
        return self._slots.get(host, 0) > 0 and host not in self._handed_back

    def served(self, host: str) -> None:
        self._claims.pop(host, None)

    def waive(self) -> None:
        """No turn is wanted any more."""
        self._claims.clear()

    def keep_robots(self, host: str, origin: str, robots: Robots) -> None:
        self.robots[origin] = robots
        self._origins.setdefault(host, set()).add(origin)
        self._new_robots[origin] = host, robots

    @property
    def backlog(self) -> int:
        """Answers that are not handed in."""
        return len(self._ended)

    @property
    def queued(self) -> int:
        return len(self._items)

    @property
    def at_hand(self) -> int:
        """URLs that are here, those that were taken from here among them."""
        return len(self._items) + len(self.out)

    def has_news(self) -> bool:
        return bool(self._messages or self._ended or self._released or self._new_robots)

    def is_clear(self) -> bool:
        """Nothing is here, and all is told: the last reply knows of it."""
        is_told = not (self._messages or self._ended or self._released or self._is_telling)
        return is_told and not (self._items or self.out)

    def is_low(self) -> bool:
        """Whether there may be too little to do soon: then it is worth to ask for more."""
        return 2 * self.at_hand < self._room

    def wanted(self) -> int:
        return max(0, self._room - self.at_hand)

    # --- an exchange

    def report(self, now: float, wanted: int) -> Report:
        self._claims = {host: end for host, end in self._claims.items() if end > now}
        told = self._first_messages()
        report = Report(
            told,
            self._ended,
            [
                (host, number, until - now, learned)
                for host, number, until, learned in self._released
            ],
            self._hosts(now, wanted),
            [(host, origin, robots) for origin, (host, robots) in self._new_robots.items()],
            wanted,
            self._told + 1,
            [*self._items, *self.out] if self._is_unsure else None,
        )
        self._is_telling = bool(told or self._ended or self._released)
        self._told += len(told)
        del self._messages[: len(told)]
        self._ended, self._released = [], []
        self._told_robots, self._new_robots = frozenset(self._new_robots), {}
        return report

    def _first_messages(self) -> list[bytes]:
        """As many as are told at once."""
        size = 0
        for place, message in enumerate(self._messages):
            size += len(message)
            if size > _MOST_BYTES and place:
                return self._messages[:place]
        return self._messages[:]

    def put_back(self, report: Report, now: float) -> None:
        """The exchange has failed: tell all of it again."""
        self._is_unsure = True
        self._is_telling = False
        self._messages[:0] = report.messages
        self._told -= len(report.messages)
        self._ended[:0] = report.ended
        self._released[:0] = [
            (host, number, wait + now, learned) for host, number, wait, learned in report.released
        ]
        self._new_robots = {
            origin: (host, robots) for host, origin, robots in report.robots
        } | self._new_robots
        for host in report.hosts:
            self._requests[host.name] -= host.requests
            self._dirty[host.name] = self.gate.host(host.name)
        # Perhaps they were taken back: nobody may use them until that is known.
        for name in self._handed_back:
            self._forget_slots(name)
        self._handed_back.clear()

    def absorb(self, reply: Reply, now: float) -> None:
        # Of several shards, one may have forgotten what the others have not.
        self._is_unsure = reply.is_lost
        self._is_telling = False
        if reply.is_lost:
            self._lose()
        # When a session was lost, what is on its way, or has just ended, may come once more.
        known = {*self.out, *(one[1] for one in self._ended)}
        known.update(one[1] for one in self._released)
        granted = {grant.host for grant in reply.grants}
        for name in self._handed_back - granted:
            self._forget_slots(name)
            self._forget_robots(name)
        self._return_slots()
        for grant in reply.grants:
            self._take_in(grant, now, known)
        for number in reply.broken:
            self.tell(messages.to_bytes("repair", number))

    def _take_in(self, grant: Grant, now: float, known: set[int]) -> None:
        self._slots[grant.host] = grant.slots
        host = self.gate.host(grant.host)
        host.min_delay = max(host.min_delay, grant.min_delay)
        if not host.in_flight:
            host.throttle, host.failures = grant.throttle, grant.failures
        for origin, robots in grant.robots.items():
            # A grant may have been made before Redis had what this exchange tells it.
            if origin not in self._new_robots and origin not in self._told_robots:
                self.robots[origin] = robots
        self._origins.setdefault(grant.host, set()).update(grant.robots)
        if grant.is_sole:
            self._sole.add(grant.host)
        else:
            self._sole.discard(grant.host)
        self.gate.allow(grant.host, self._allowed(grant.host))
        if grant.ready_in is not None:
            # Also for what is here already.
            self.gate.hold(grant.host, now + grant.ready_in)
        if not grant.slots:
            self._give_up(grant.host, now)
        for number, item in grant.items.items():
            if number in known:
                continue
            key = AGAIN if item.is_again else item.level, item.rank, number
            self._items[number] = key, grant.host, item
            self._queued[grant.host] += 1
            self.gate.push(host, key)

    def _give_up(self, host: str, now: float) -> None:
        """Others have all turns at a host: what is queued here goes back."""
        for number, (_, name, item) in list(self._items.items()):
            if name == host:
                del self._items[number]
                learned = learned_text(item.fetch_url, item.attempts, item.bounces, item.request)
                self._released.append((host, number, now, learned))
        self._queued[host] = 0

    def _hosts(self, now: float, wanted: int) -> list[HostReport]:
        names = {*self._dirty, *self._slots}
        self._dirty = {}
        reports = []
        quick = sum(1 for name in self._slots if not self.gate.host(name).spacing) or 1
        for name in names:
            host = self.gate.host(name)
            slots = self._slots.get(name, 0)
            more = self._more(host, wanted, quick) if slots and wanted else 0
            is_idle = bool(slots) and not (
                host.in_flight or self._queued[name] or name in self._claims
            )
            # A turn for something else, or as many at once as its URLs can use.
            claims = int(name in self._claims and not slots)
            if more and self._ahead and not host.spacing:
                claims = max(0, min(more, self._limits(name).concurrency) - slots)
            # What was more than its share goes back when its requests have ended.
            in_flight = host.in_flight if name in self._slots else 0
            kept = max(min(slots, host.allowed), in_flight)
            if name in self._sole:
                kept = min(slots, 1)
            reports.append(self._report_of(host, kept, now, is_idle, more, claims))
            if not (slots or in_flight):
                self._forget_slots(name)
            if is_idle:
                self._handed_back.add(name)
                self.gate.allow(name, 0)
        return reports

    def _more(self, host: Host, wanted: int, quick: int) -> int:
        """How many URLs of a host are wanted, where ``quick`` hosts have no delay and no rate."""
        queued = self._queued[host.name]
        if not self._ahead:
            return int(queued == 0 and self._allowed(host.name) > host.in_flight)
        if not host.spacing:
            return ceil(wanted / quick)
        return max(0, ceil(self._ahead / host.spacing) - queued)

    def _report_of(
        self, host: Host, slots: int, now: float, is_idle: bool, more: int, claims: int
    ) -> HostReport:
        before = self._requests.get(host.name, 0)
        self._requests[host.name] = host.requests
        # What is in flight may never reach the host, and then costs nothing.
        ready_at = host.ready_at if host.in_flight else host.start_at
        return HostReport(
            host.name,
            slots,
            ready_at - now,
            host.pause,
            host.spacing,
            1 if host.spacing > 0 else self._limits(host.name).concurrency,
            host.min_delay,
            host.throttle,
            host.failures,
            host.requests - before,
            is_idle,
            more,
            claims,
        )

    def _return_slots(self) -> None:
        for name in self._handed_back:
            self.gate.allow(name, self._allowed(name))
        self._handed_back.clear()

    def _allowed(self, name: str) -> int:
        """Requests that this worker may have in flight at a host."""
        slots = self._slots.get(name, 0)
        return self._limits(name).concurrency if slots and name in self._sole else slots

    def _forget_slots(self, name: str) -> None:
        self._slots.pop(name, None)
        self._sole.discard(name)

    def _forget_robots(self, host: str) -> None:
        for origin in self._origins.pop(host, ()):
            if origin not in self._new_robots:
                self.robots.pop(origin, None)

    def _lose(self) -> None:
        """The session has ended: others have what was queued here, and the slots."""
        self._items.clear()
        self._queued.clear()
        for name in self._slots:
            self.gate.allow(name, 0)
        self._slots.clear()
        self._sole.clear()
        self._handed_back.clear()

    def _resolve(self, key: Key) -> tuple[int, Item] | None:
        number = key[2]
        if number not in self._items:
            return None
        _, host, item = self._items.pop(number)
        self.out[number] = host
        self._queued[host] -= 1
        return number, item

    def _refill(self, host: Host, lane: Lane, size: int) -> list[Key]:
        horizon = lane.horizon or BEFORE_ALL
        keys = [key for key, name, _ in self._items.values() if name == host.name]
        mine = [key for key in keys if host.lane(key) is lane and key > horizon]
        return sorted(mine)[:size]

    def _changed(self, host: Host) -> None:
        self._dirty[host.name] = host
