"""The shared frontier, for one worker: the contract of ``base.py`` over a session in Redis.

Without a ``Pump`` everything is told and asked at once, which waits for Redis: so it is
opened, closed, and tested. With one (``pump.py``), Redis is asked in the background.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawlproject.frontier import answers, clock
from crawlproject.frontier.base import Lease
from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.entry import depth_of
from crawlproject.frontier.guard import guarded
from crawlproject.frontier.notes import texts_in
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redis import messages
from crawlproject.frontier.redis.aside import Aside
from crawlproject.frontier.redis.committer import Committer
from crawlproject.frontier.redis.copies import Copies
from crawlproject.frontier.redis.desk import Desk
from crawlproject.frontier.redis.duty import Duty
from crawlproject.frontier.redis.forgetting import forget
from crawlproject.frontier.redis.orders import Orders
from crawlproject.frontier.redis.patience import patiently
from crawlproject.frontier.redis.pump import Pump
from crawlproject.frontier.redis.session import Gone, Session
from crawlproject.frontier.redis.store import RedisStore
from crawlproject.frontier.redis.tidying import move_wrong
from crawlproject.frontier.redis.wire import learned_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from crawlproject.frontier.base import Counts, Facts, Robots, Skip
    from crawlproject.frontier.hosts import Host, HostLimits
    from crawlproject.frontier.redis.scripts import Scripts
    from crawlproject.frontier.redis.seeding import Seeding
    from crawlproject.frontier.redis.session import Reply
    from crawlproject.frontier.redis.wire import Item
    from crawlproject.frontier.visits import Recrawl
    from crawlproject.records import Record

logger = logging.getLogger(__name__)

# Seconds that a committer gets at most before a crawl is read, and between two looks.
_PATIENCE, _BREAK = 30.0, 0.05
# Seconds in which a worker tries to take its leave.
_LEAVING = 5.0
# How often a session is renewed before it would end, and seconds between two renewals at most:
# so soon everyone knows that the crawl is to end.
_RENEWALS, _LONGEST_RENEWAL = 6, 5.0
# URLs that were admitted lately: they need not be judged again.
_JUDGED = 65_536
# No delay between two requests is longer: a host that has to wait more is held.
_LONG = 60.0


class RedisFrontier(Orders):
    """``options`` are those of the committer: what decides about URLs."""

    place = "the shared crawl"

    def __init__(
        self,
        scripts: Scripts,
        worker: str,
        *,
        host_of: Callable[[str], str],
        limits: Callable[[str], HostLimits],
        lasts: float = 60.0,
        ahead: float = 0.0,
        room: int = 1,
        asks_robots: bool = False,
        is_kept: bool = True,
        time_limit: float = 0.0,
        seeding: Seeding | None = None,
        waits_for_seeds: bool = False,
        share: float = 0.5,
        vary: Callable[[], float] = float,
        now: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.failure: str | None = None
        self.folder: Path | None = None
        self.host_of = host_of
        self._limits = limits
        self._scripts = scripts
        self._copies = Copies(scripts, host_of)
        scripts.mend = move_wrong
        self._options = options
        self._judge: Callable[[str], str | None] | None = options.pop("judge", None)
        self._depth_limit: int | None = options.get("depth_limit")
        self.desk = Desk(limits, room=room, ahead=ahead, share=share, vary=vary)
        self._gate = self.desk.gate
        self.session = Session(
            scripts,
            Aside(scripts),
            worker,
            lasts=lasts,
            ahead=ahead,
            asks_robots=asks_robots,
            share=share,
            time_limit=time_limit,
        )
        self._duty = Duty(scripts, self._new_committer, is_fed=seeding is not None)
        # Whose time it is: None is Redis'.
        self._now = now
        # The ids of leases.
        self._ids: dict[str, int] = {}
        self._notes: dict[str, str] = {}
        self._followers: dict[str, Callable[[str], object]] = {}
        self._judged: dict[str, None] = {}
        self._pump: Pump | None = None
        self._lasts = lasts
        self._seeding = seeding
        # Whether the crawl goes on when nothing is left.
        recrawl: Recrawl | None = options.get("recrawl")
        self._is_endless = waits_for_seeds or (recrawl is not None and recrawl.is_continuous)
        # Whether what is in Redis stays there when the crawl is complete.
        self._is_kept = is_kept
        self._is_flushed = False
        self._is_closed = False
        # Until when it is sure that the session lasts.
        self._sure_until = float("-inf")
        self._reply = patiently(self._exchange)
        self._settle()

    # --- with Redis, at once

    def _moment(self) -> float:
        return clock.now() if self._now is None else self._now

    def go_live(self, wake: Callable[[], None]) -> None:
        """From now on Redis is asked in the background; ``wake`` is called when there is more."""
        self._now = None
        self._pump = Pump(self, wake, renewal=min(self._lasts / _RENEWALS, _LONGEST_RENEWAL))

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within, Redis is asked at once, and waited for."""
        pump, self._pump = self._pump, None
        if pump is not None:
            pump.wait()
        try:
            yield
        finally:
            self._pump = pump
            if pump is not None:
                pump.poke(0)

    @property
    def stop_reason(self) -> str | None:
        """Why the whole crawl is to end now."""
        return self._reply.stop or None

    @property
    def term(self) -> str | None:
        return self._reply.term

    @property
    def next_in(self) -> float | None:
        return self._reply.next_in

    def _exchange(self, wanted: int = 0) -> Reply:
        moment = self._moment()
        report = self.desk.report(moment, wanted)
        try:
            reply = self.session.exchange(report, self._now)
        except RedisError:
            self.desk.put_back(report, self._moment())
            raise
        except Gone as error:
            self.fail(str(error))
            raise
        self.absorb(reply, moment)
        return reply

    def _exchange_at_once(self, wanted: int = 0) -> Reply:
        return patiently(lambda: self._exchange(wanted))

    def absorb(self, reply: Reply, told_at: float) -> None:
        """Take in what an exchange has brought that began at a time."""
        self._reply = reply
        self.desk.absorb(reply, self._moment())
        # A request takes half of the session's time at most, so it ends within it.
        self._sure_until = told_at + self._lasts / 2
        if reply.notes is not None:
            self._notes = reply.notes
            for name in self._followers:
                self._call_followers(name)
        self._duty.check(reply.term)

    def _settle(self) -> None:
        """Tell everything, and commit everything, as far as that is this worker's part."""
        if self._pump is not None:
            self._pump.has_news()
            return
        patiently(self._settle_now)

    def _settle_now(self) -> None:
        self._exchange()
        while self.desk.has_news():
            self._exchange()
        while (term := self._reply.term) and self.has_to_commit():
            self.commit_some(term)
            self._exchange()

    def has_to_commit(self) -> bool:
        """Whether there is something to do, if this worker is the committer."""
        return self._duty.has_to_commit(self._reply)

    def commit_some(self, term: str) -> int:
        """Commit some of what was handed in, as the committer: how many messages."""
        return self._duty.commit_some(term)

    def _new_committer(self, term: str) -> Committer:
        return Committer(
            RedisStore(self._scripts, host_of=self.host_of, limits=self._limits),
            term,
            host_of=self.host_of,
            judge=self._judge_now,
            joined=self._joined,
            seeding=self._seeding,
            **self._options,
        )

    def _judge_now(self, url: str) -> str | None:
        return None if self._judge is None else self._judge(url)

    def _tell(self, kind: str, *body: Any) -> None:
        self.desk.tell(messages.to_bytes(kind, *body))

    def is_alone(self) -> bool:
        return self._reply.workers == 1

    # --- what comes in

    def knows(self, url: str) -> bool:
        return url in self._judged

    def is_duplicate(self, url: str, depth: int) -> bool:
        # The committer decides about all others.
        return url in self._judged

    def unknown(self, urls: Iterable[str]) -> list[str]:
        judged = self._judged
        return [url for url in urls if url not in judged]

    # --- what goes out and comes back

    @guarded(None)
    def take(self, now: float) -> Lease | None:
        if self._pump is not None:
            taken = self._gate.take(now) if self._is_sure(now) else None
            self._pump.is_low()
        else:
            taken = self._take_at_once(now)
        if taken is None:
            return None
        host, (number, item) = taken
        self._flying[item.url] = now
        self._ids[item.url] = number
        return Lease(
            url=item.url,
            fetch_url=item.fetch_url or item.url,
            host=host.name,
            depth=depth_of(item.level),
            hops=item.hops,
            referrer=item.referrer,
            redirected_from=item.redirected_from,
            attempts=item.attempts,
            bounces=item.bounces,
            verdict=item.verdict,
            request=item.request,
            is_again=item.is_again,
            etag=item.etag,
            last_modified=item.last_modified,
        )

    def _is_sure(self, now: float) -> bool:
        """Whether a request that starts now ends before the session does."""
        return self._pump is None or now <= self._sure_until

    def _take_at_once(self, now: float) -> tuple[Host, tuple[int, Item]] | None:
        self._now = now
        taken = self._gate.take(now)
        if taken is None:
            self._exchange_at_once(1)
            taken = self._gate.take(now)
            while taken is None and self._unstick():
                self._exchange_at_once(1)
                taken = self._gate.take(now)
        if taken is not None:
            self._settle()
        return taken

    def _unstick(self) -> bool:
        """Let the links of a page in that wait, if nothing else can be had for long."""
        next_in = self._reply.next_in
        if self._reply.leased or (next_in is not None and next_in <= _LONG):
            return False
        return self._duty.commit_waiting()

    @guarded(None)
    def next_ready(self, now: float) -> float | None:
        if self._pump is not None:
            # It wakes the engine when there is more.
            return self._gate.next_ready(now)
        self._now = now
        self._exchange_at_once()
        ready = self._gate.next_ready(now)
        if self._reply.next_in is not None:
            later = now + self._reply.next_in
            return later if ready is None else min(ready, later)
        return ready

    @guarded(None)
    def release(self, lease: Lease, until: float, fetch_url: str | None = None) -> None:
        self._withdraw(lease)
        request = lease.request if isinstance(lease.request, str) else None
        spelling = fetch_url or (None if lease.fetch_url == lease.url else lease.fetch_url)
        learned = learned_text(spelling, lease.attempts, lease.bounces, request)
        self.desk.release(self._ids.pop(lease.url), until, learned)
        self._settle()

    @guarded(None)
    def finish(self, lease: Lease) -> None:
        self._withdraw(lease)
        number = self._ids.pop(lease.url)
        answer = answers.to_record(lease, is_whole=True)
        content = lease.content
        self.desk.end(number, messages.to_bytes("answer", number, answer, content=content))
        admitted = (url for url in lease.links if url not in lease.reasons)
        self._remember_admitted(admitted, lease.depth + 1)
        self._settle()

    def _remember_admitted(self, urls: Iterable[str], depth: int) -> None:
        if self._depth_limit is not None and depth > self._depth_limit:
            return
        if len(self._judged) > _JUDGED:
            self._judged.clear()
        self._judged.update(dict.fromkeys(urls))

    @guarded(True)
    def exhausted(self) -> bool:
        if self._is_endless and not self._reply.stop:
            return False
        return self._reply.is_complete and self.desk.is_clear()

    # --- hosts

    @guarded(0.0)
    def acquire_turn(self, host: str, now: float) -> float:
        if not self._is_sure(now):
            return _BREAK
        if not self.desk.has_slot(host):
            self.desk.claim(host, now)
            if self._pump is not None:
                self._pump.poke(0)
            else:
                self._now = now
                self._exchange_at_once()
        wait = self._gate.acquire_turn(host, now)
        if not wait:
            self.desk.served(host)
        return wait

    @guarded(None)
    def hold(self, host: str, until: float) -> None:
        self._gate.hold(host, until)
        self._hurry()

    @guarded(None)
    def set_min_delay(self, host: str, delay: float) -> None:
        self._gate.set_min_delay(host, delay)
        self._hurry()

    def _hurry(self) -> None:
        """Others ask the same host, perhaps."""
        if self._pump is not None:
            self._pump.poke(0)
        else:
            self._settle()

    def robots_of(self, origin: str) -> Robots | None:
        return self.desk.robots.get(origin)

    def keep_robots(self, origin: str, robots: Robots) -> None:
        self.desk.keep_robots(self.host_of(f"{origin}/"), origin, robots)

    # --- what is kept

    @guarded(None)
    def keep_item(self, kind: str, record: Record, url: str | None = None) -> None:
        self._tell("item", kind, record, url)

    @guarded(None)
    def remember(self, name: str, value: str) -> None:
        self._notes[name] = value
        self._tell("note", name, value)

    def recall(self, name: str) -> str | None:
        return self._notes.get(name)

    @guarded(None)
    def join(self, name: str, texts: Iterable[str]) -> None:
        self._tell("join", name, list(texts))
        self._settle()

    def follow(self, name: str, call: Callable[[str], object]) -> None:
        self._followers[name] = call
        self._call_followers(name)

    def _call_followers(self, name: str) -> None:
        # What is no list was not written by us.
        with suppress(ValueError):
            for text in texts_in(name, self._notes.get(name)):
                self._followers[name](text)

    def _joined(self, name: str, texts: list[str]) -> None:
        """Texts have joined a note: the committer has to know what follows, before it goes on."""
        if name in self._followers:
            for text in texts:
                self._followers[name](text)

    @guarded(None)
    def commit(self) -> None:
        self._settle()

    def fail(self, problem: str) -> None:
        # The first one is the reason of all others.
        self.failure = self.failure or problem

    def close(self) -> None:
        if self._pump is not None:
            self._pump.stop()
            self._pump = None
        # What is not told then, others do again when the session's time is up.
        with suppress(RedisError, Gone):
            if self.failure is None:
                # Of a host that was given back nobody has to wait.
                self.desk.waive()
                self._settle()
        # From now on nothing is told: that would be a new session, which nobody ends.
        self._is_closed = True
        with suppress(RedisError, Gone):
            # Else others wait for this worker, until the session's time is up.
            longest = 0.0 if self.failure else _LEAVING
            left = patiently(lambda: self.session.leave(self._now), longest)
            is_over = self._reply.is_complete or self._is_flushed
            if not left and not self._is_kept and is_over:
                forget(self._scripts)

    def forget_at_end(self) -> None:
        """Remove the crawl from Redis when the last worker leaves, finished or not."""
        self._is_kept = False
        self._is_flushed = True

    @guarded(None)
    def facts(self, url: str) -> Facts | None:
        if self._pump is not None:
            # The committer knows; whatever is admitted twice is known to it the second time.
            return None
        return self.read().facts(url)

    def read(self) -> Reader:
        """A copy of the crawl, as it is now; an empty one if there is none any more."""
        with self.at_once():
            found = self._read_now()
        return Reader(connect_to_memory()) if found is None else found

    @guarded(None)
    def _read_now(self) -> Reader:
        if not self._is_closed:
            self._settle()
            self._wait_for_committer()
        return patiently(lambda: self._copies.read(self.folder))

    def _wait_for_committer(self) -> None:
        """What was told is known only when the committer, another worker, has got to it."""
        ends_at = time.monotonic() + _PATIENCE
        while self._reply.inbox and self._reply.term is None and time.monotonic() < ends_at:
            # It is another process: nothing else tells.
            time.sleep(_BREAK)
            self._settle()

    def skips(self) -> Iterator[Skip]:
        return self.read().skips()

    def counts(self) -> Counts:
        return self._reply.counts

    def count_pages(self) -> int:
        counts = self._reply.counts
        moved = patiently(lambda: self._scripts.ask("HGET", "meta", "moved"))
        return counts.done + counts.failed - counts.sitemaps - int(moved or 0)

    def depths(self) -> dict[int, int]:
        return self.read().depths()
