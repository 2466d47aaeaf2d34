"""The frontier in a crawl directory: the engine for one machine.

In layers, each of which knows those below: the file (``database``), entries and pages in it
(``store``), the shortest way to each URL (``graph``), what is queued and what it waits for
(``queues``), what a visit leaves for the next (``visits``), what an answer changes (``commits``),
what another scope changes (``judging``), what is visited again (``revisits``), what follows when
links have gone (``settled``), and here the contract of ``base.py``.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import nullcontext, suppress
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from crawlproject.frontier import restore
from crawlproject.frontier.base import (
    LASTING,
    Candidate,
    Facts,
    Lease,
    State,
)
from crawlproject.frontier.entry import Entry, Way, depth_of
from crawlproject.frontier.guard import guarded
from crawlproject.frontier.hosts import HostGate
from crawlproject.frontier.notes import texts_in
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redirects import sources_of
from crawlproject.frontier.settled import Settled
from crawlproject.frontier.store import Store
from crawlproject.frontier.turns import Turns
from crawlproject.recrawl.interval import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from crawlproject.frontier.base import Counts, Robots, Skip
    from crawlproject.frontier.hosts import Host, HostLimits, Key
    from crawlproject.frontier.seen import Seen
    from crawlproject.frontier.visits import Recrawl
    from crawlproject.records import Record
    from crawlproject.scope.traps import Budget

# No delay between two requests is longer: a host that has to wait more is held.
_LONG_SECONDS = 60.0


class SqliteFrontier(Turns, Settled):
    """An engine of the contract in ``base.py``, on a database of ``database.py``.

    ``batch`` pages at most are committed at once; where nothing ``is_lasting``, no fewer, whoever
    asks for it. ``capacity`` bounds the queue: at the bound the links of finished pages wait,
    whole pages at a time, until the queue has room or all of its hosts are held. Nothing is
    dropped. With a ``budget`` it is not kept.
    ``seeds_first`` gives out no link before all seeds are done. ``budgets`` says which groups
    of pages a URL belongs to that have a budget of their own. Without ``recrawl`` nothing is kept
    for another visit; ``share`` is the part of a host's turns that visits get while others wait;
    ``vary`` is the gate's source of random numbers.
    """

    place = "the crawl directory"
    _store: Store

    def __init__(
        self,
        database: sqlite3.Connection,
        *,
        host_of: Callable[[str], str],
        hosts_by: str = "hostname",
        limits: Callable[[str], HostLimits],
        now: float = 0.0,
        depth_limit: int | None = None,
        budget: int | None = None,
        budgets: Callable[[str], tuple[Budget, ...]] | None = None,
        capacity: int | None = None,
        max_redirects: int = 20,
        seeds_first: bool = False,
        batch: int = 1,
        is_lasting: bool = True,
        judge: Callable[[str], str | None] | None = None,
        seen: Seen | None = None,
        recrawl: Recrawl | None = None,
        share: float = 0.5,
        vary: Callable[[], float] = float,
    ) -> None:
        restore.requeue(database, ordered=budget is not None, hosts_by=hosts_by, now=now)
        self._store = Store(database, seen)
        self._delayed = restore.delayed(database)
        heapify(self._delayed)
        self._gate: HostGate[Entry] = HostGate(
            limits, self._resolve, self._store.queue, self._store.change_host, share, vary
        )
        for host in restore.hosts(database, limits, now):
            self._gate.restore(host)
        self._gate.not_before = restore.not_before(database, now)
        Settled.__init__(
            self,
            self._store,
            host_of=host_of,
            depth_limit=depth_limit,
            budget=budget,
            budgets=budgets,
            capacity=capacity,
            max_redirects=max_redirects,
            seeds_first=seeds_first,
            judge=judge,
            recrawl=recrawl,
        )
        self.failure: str | None = None
        self.folder: Path | None = None
        self._when_closed: Callable[[], None] = lambda: None
        # A file that must stay there.
        self._file: Path | None = None
        self._batch = batch
        self._is_lasting = is_lasting
        self._unbatched = 0
        # Hosts are numbered: those up to here are known to the store for good.
        self._committed_hosts = len(self._gate)
        Turns.__init__(self)
        self._go_on()

    @guarded(None)
    def _go_on(self) -> None:
        """Do what would have been done next if the last run had gone on."""
        self._let_in_again()
        self._release_levels()
        self._fill_budget()
        if self._budget is None:
            self._queue_unassigned()

    def go_live(self, wake: Callable[[], None]) -> None:
        """Nobody else has anything to give."""

    def at_once(self) -> AbstractContextManager[None]:
        return nullcontext()

    def is_alone(self) -> bool:
        return True

    # --- what comes in

    @guarded(0)
    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        queued = self._census.queued
        for candidate in candidates:
            self._offer(candidate, Way(depth))
            self._store.flush_if_large()
        self._release_levels()
        self._fill_budget()
        return self._census.queued - queued

    @guarded(None)
    def free_links(self) -> None:
        self._free_links()

    @guarded(0)
    def reconsider(self, reason: str, judge: Callable[[str], str | None]) -> int:
        return self._reconsider(reason, judge)

    @guarded((0, 0))
    def rejudge(
        self, judge: Callable[[str], str | None], lasting: Sequence[str] = LASTING
    ) -> tuple[int, int]:
        return self._rejudge(judge, lasting)

    @guarded(0)
    def retry(self, *, failed: bool, denied: bool = False) -> int:
        return self._retry(failed=failed, denied=denied)

    @guarded(0)
    def revisit(self, now: float, *, before: float | None = None) -> int:
        return self._revisit(now, before)

    @guarded(0)
    def begin_round(self, mode: str, now: float, since: float) -> int:
        return self._begin_round(mode, now, since, is_complete=self.exhausted())

    @guarded(0)
    def end_visits(self) -> int:
        return self._end_visits()

    @guarded(0)
    def settle(self, now: float) -> int:
        return self._settle(now)

    # --- what goes out and comes back

    @guarded(None)
    def take(self, now: float) -> Lease | None:
        if self._waiting:
            self._commit_what_fits()
        self._queue_due(now)
        if now >= self._look_at:
            self._look_for_due(now)
        taken = self._gate.take(now)
        while taken is None and self._is_stuck(now):
            self._commit_waiting()
            taken = self._gate.take(now)
        if taken is None:
            return None
        host, entry = taken
        self._flying[entry.url] = now
        self._move(entry, State.LEASED)
        self._commit_what_fits()
        self._commit_before_first_contact(host)
        etag, last_modified = self._conditions(entry)
        return Lease(
            url=entry.url,
            fetch_url=entry.fetch_url or entry.url,
            host=host.name,
            depth=depth_of(entry.way.level),
            hops=entry.way.hops,
            referrer=entry.way.referrer or None,
            redirected_from=sources_of(entry, self._store),
            attempts=entry.attempts,
            bounces=entry.bounces,
            verdict=entry.verdict,
            request=self._requests.get(entry.id, entry.request),
            is_again=entry.again is not None,
            etag=etag,
            last_modified=last_modified,
        )

    @guarded(None)
    def next_ready(self, now: float) -> float | None:
        moments = [self._gate.next_ready(now), self._look_at]
        if self._delayed:
            moments.append(self._delayed[0][0])
        return min((one for one in moments if one is not None and one < NEVER), default=None)

    @guarded(None)
    def release(self, lease: Lease, until: float, fetch_url: str | None = None) -> None:
        self._withdraw(lease)
        entry = self._leased(lease)
        entry.attempts, entry.bounces = lease.attempts, lease.bounces
        entry.fetch_url = fetch_url or entry.fetch_url
        self._keep_request(entry, lease.request)
        entry.due = until
        self._move(entry, State.QUEUED)
        heappush(self._delayed, (until, entry.id))

    @guarded(None)
    def finish(self, lease: Lease) -> None:
        self._withdraw(lease)
        entry = self._leased(lease)
        self._compare(entry, lease)
        if self._is_its_turn(entry):
            self._commit_answer(entry, lease)
        else:
            self._put_aside(entry, lease)
        self._commit_what_fits()
        self._store.flush_if_large()
        self._unbatched += 1
        if self._unbatched >= self._batch:
            self.commit()

    @guarded(0.0)
    def acquire_turn(self, host: str, now: float) -> float:
        wait = self._gate.acquire_turn(host, now)
        if not wait:
            self._commit_before_first_contact(self._gate.host(host))
        return wait

    @guarded(None)
    def hold(self, host: str, until: float) -> None:
        self._gate.hold(host, until)
        self.commit()

    @guarded(None)
    def set_min_delay(self, host: str, delay: float) -> None:
        self._gate.set_min_delay(host, delay)
        self.commit()

    # --- what must not be forgotten

    def commit(self) -> None:
        if self._is_lasting or self._unbatched >= self._batch:
            self._commit()

    @guarded(None)
    def _commit(self) -> None:
        self._unbatched = 0
        if self._file is not None and not self._file.exists():
            self.fail(f"{str(self._file)!r} is gone")
            return
        self._levels.flush()
        self._store.commit()
        self._committed_hosts = len(self._gate)

    def fail(self, problem: str) -> None:
        self.failure = problem
        with suppress(sqlite3.Error):
            self._store.abandon()

    def when_closed(self, call: Callable[[], None]) -> None:
        self._when_closed = call

    def watch(self, file: Path) -> None:
        """Fail when the file of the database is gone: what is written then is lost."""
        self._file = file

    def close(self) -> None:
        self._commit()
        with suppress(sqlite3.Error):
            # One file is left, unless somebody else reads it now.
            self._store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._when_closed()

    @guarded(None)
    def keep_item(self, kind: str, record: Record, url: str | None = None) -> None:
        self._keep_item(kind, record, url)
        self._store.flush_if_large()

    @guarded(None)
    def keep_robots(self, origin: str, robots: Robots) -> None:
        self._store.keep_robots(origin, robots)

    @guarded(None)
    def robots_of(self, origin: str) -> Robots | None:
        return self._store.robots_of(origin)

    @guarded(None)
    def remember(self, name: str, value: str) -> None:
        self._store.remember(name, value)

    @guarded(None)
    def recall(self, name: str) -> str | None:
        return self._store.recall(name)

    def join(self, name: str, texts: Iterable[str]) -> None:
        known = texts_in(name, self.recall(name))
        self.remember(name, json.dumps(list(dict.fromkeys([*known, *texts]))))

    def follow(self, name: str, call: Callable[[str], object]) -> None:
        for text in texts_in(name, self.recall(name)):
            call(text)

    # --- what is known

    @guarded(False)
    def knows(self, url: str) -> bool:
        return self._store.get(url) is not None

    @guarded(False)
    def is_duplicate(self, url: str, depth: int) -> bool:
        entry = self._store.get(url)
        return entry is not None and not self._opens(entry, Way(depth))

    def unknown(self, urls: Iterable[str]) -> list[str]:
        return self._store.missing(urls)

    def exhausted(self) -> bool:
        if self.failure is not None:
            return True
        if self._census.leased or self._is_continuous:
            return False
        return self._budget.is_idle() if self._budget else not self._census.queued

    @guarded(None)
    def facts(self, url: str) -> Facts | None:
        entry = self._store.get(url)
        if entry is None:
            return None
        is_page = entry.target is None or entry.state is State.FAILED
        sources = sources_of(entry, self._store)
        return Facts(depth_of(entry.way.level), entry.way.referrer or None, sources, is_page)

    def read(self) -> Reader:
        """What is known, page by page."""
        if self.failure is None:
            self._commit()
        return Reader(self._store.database)

    def skips(self) -> Iterator[Skip]:
        return self.read().skips()

    def counts(self) -> Counts:
        return self._census.counts()

    def count_pages(self) -> int:
        return self.read().count_pages()

    def depths(self) -> dict[int, int]:
        return self.read().depths()

    def _queue_unassigned(self) -> None:
        """Give hosts what has none: an ordered run does so only within the budget."""
        for number in self._store.unassigned():
            self._queue_at_host(self._store.by_id(number))
            self._store.flush_if_large()

    def _queue_due(self, now: float) -> None:
        """Queue what was to wait until now."""
        while self._delayed and self._delayed[0][0] <= now:
            due, number = heappop(self._delayed)
            entry = self._store.by_id(number)
            if entry.due == due and entry.state is State.QUEUED:
                entry.due = None
                self._store.change(entry)
                self._queue(entry)

    def _queue_at_host(self, entry: Entry) -> None:
        if entry.due is None:
            host = self._gate.host(self.host_of(entry.url))
            if entry.host != host.id:
                entry.host = host.id
                self._store.change(entry)
            self._gate.push(host, entry.key)

    def _resolve(self, key: Key) -> Entry | None:
        entry = self._store.by_id(key[2])
        return entry if entry.is_queued_at(key) else None

    def _leased(self, lease: Lease) -> Entry:
        entry = self._store.get(lease.url)
        assert entry is not None
        return entry

    def _is_stuck(self, now: float) -> bool:
        """Whether the queue is full of hosts that are held, while links of others may wait."""
        if not self._waiting or self._budget is not None or self._flying:
            return False
        ready = self.next_ready(now)
        return ready is None or ready > now + _LONG_SECONDS

    def _commit_before_first_contact(self, host: Host) -> None:
        """So that the next run, should this one be killed, knows whom it may have disturbed."""
        if host.id > self._committed_hosts:
            self.commit()
