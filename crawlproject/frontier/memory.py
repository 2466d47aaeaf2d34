"""The frontier in this process's memory.

What is known is in ``graph.py``; here is what goes out, what comes back and what it changes.

With a page budget the frontier is *ordered*: answers are committed in the order in which
one patient worker would have got them, whenever they come. Then which URLs exist, and
which of them are within the budget, does not depend on who answered first. The price is
that the links of a page wait for the slowest page before it.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from crawlproject.frontier.base import NOFOLLOW, Candidate, Lease, State
from crawlproject.frontier.budget import PageBudget
from crawlproject.frontier.entry import Entry, Way, loop_of, sources_of
from crawlproject.frontier.graph import LinkGraph
from crawlproject.frontier.hosts import HostGate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlproject.frontier.hosts import HostLimits

NO_LIMIT = 2**31


class MemoryFrontier(LinkGraph):
    """An engine of the contract in ``base.py``. Everything is lost with the process.

    ``capacity`` bounds the queue: at the bound the links of finished pages wait, whole
    pages at a time, until the queue has room. Nothing is dropped. With a ``budget`` it is
    not kept. ``seeds_first`` gives out no link before all seeds are done.
    """

    def __init__(
        self,
        *,
        host_of: Callable[[str], str],
        limits: Callable[[str], HostLimits],
        depth_limit: int | None = None,
        budget: int | None = None,
        capacity: int | None = None,
        max_redirects: int = 20,
        seeds_first: bool = False,
    ) -> None:
        super().__init__(depth_limit)
        self._host_of = host_of
        self._budget = None if budget is None else PageBudget(budget)
        self._capacity = capacity or NO_LIMIT
        self._max_redirects = max_redirects
        self._seeds_first = seeds_first
        self._after_seeds: list[Entry] = []
        self._gate: HostGate[Entry] = HostGate(limits, Entry.is_queued_at)
        self._flying: set[str] = set()
        self._delayed: list[tuple[float, Entry]] = []
        # Finished, but the queue has no room for the links.
        self._waiting_for_room: deque[Lease] = deque()

    # --- what comes in

    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        queued = self._census.queued
        for candidate in candidates:
            self._offer(candidate, Way(depth))
        self._fill_budget()
        return self._census.queued - queued

    def reconsider(self, reason: str, judge: Callable[[str], str | None]) -> int:
        # Candidates that were judged before, but come in later, are judged again too.
        self._judges[reason] = judge
        admitted = 0
        for entry in self._entries.values():
            if entry.reason == reason and judge(entry.url) is None:
                self._enter(entry)
                admitted += entry.reason is None
        self._fill_budget()
        return admitted

    # --- what goes out and comes back

    def take(self, now: float) -> Lease | None:
        while self._delayed and self._delayed[0][0] <= now:
            entry = heappop(self._delayed)[1]
            entry.delayed = False
            self._queue_at_host(entry)
        taken = self._gate.take(now)
        if taken is None:
            return None
        self._flying.add(taken.url)
        self._move(taken, State.LEASED)
        self._commit_what_fits()
        return Lease(
            url=taken.url,
            fetch_url=taken.fetch_url or taken.url,
            host=self._host_of(taken.url),
            depth=taken.way.depth,
            hops=taken.way.hops,
            referrer=taken.way.referrer or None,
            redirected_from=sources_of(taken),
            attempts=taken.attempts,
            bounces=taken.bounces,
            verdict=taken.verdict,
            request=taken.request,
        )

    def next_ready(self, now: float) -> float | None:
        ready = self._gate.next_ready(now)
        if self._delayed and (ready is None or self._delayed[0][0] < ready):
            return self._delayed[0][0]
        return ready

    def landed(self, lease: Lease, now: float) -> None:
        if lease.url in self._flying:
            self._flying.remove(lease.url)
            self._gate.landed(lease.host, now)

    def release(self, lease: Lease, until: float, fetch_url: str | None = None) -> None:
        self._withdraw(lease)
        entry = self._entries[lease.url]
        entry.attempts, entry.bounces = lease.attempts, lease.bounces
        entry.fetch_url = fetch_url or entry.fetch_url
        entry.delayed = True
        self._move(entry, State.QUEUED)
        heappush(self._delayed, (until, entry))

    def finish(self, lease: Lease) -> None:
        self._withdraw(lease)
        if self._budget is None:
            self._waiting_for_room.append(lease)
        else:
            self._budget.answered(lease)
        self._commit_what_fits()

    def enter(self, host: str, now: float) -> float:
        return self._gate.enter(host, now)

    def leave(self, host: str, now: float) -> None:
        self._gate.landed(host, now)

    def hold(self, host: str, until: float) -> None:
        self._gate.hold(host, until)

    def slow(self, host: str, delay: float) -> None:
        self._gate.slow(host, delay)

    def insist(self, host: str, delay: float) -> None:
        self._gate.insist(host, delay)

    # --- what is known

    def exhausted(self) -> bool:
        beyond_budget = self._budget.beyond if self._budget else 0
        return not self._census.leased and self._census.queued == beyond_budget

    # --- commits: a page, its links and its state, as one

    def _commit_what_fits(self) -> None:
        while self._waiting_for_room and self._has_room():
            self._commit(self._waiting_for_room.popleft())
        while self._budget and (lease := self._budget.next_answer()):
            self._commit(lease)
            self._fill_budget()

    def _commit(self, lease: Lease) -> None:
        entry = self._entries[lease.url]
        self._move(entry, State.FAILED if lease.failed else State.DONE)
        if lease.redirect is not None:
            self._commit_redirect(entry, lease.redirect)
        elif not self._unblock(entry):
            self._commit_links(entry, lease.found)
        self._settle()
        if self._after_seeds and self._census.floor() > 0:
            waiting, self._after_seeds = self._after_seeds, []
            for waited in waiting:
                # A redirect of a seed may have called it up already.
                if waited.state is State.QUEUED:
                    self._queue(waited)
            self._fill_budget()

    def _commit_links(self, entry: Entry, found: list[Candidate]) -> None:
        entries = self._entries
        step = entry.way.step(entry.url)
        children = []
        for candidate in found:
            child = entries.get(candidate.url)
            # Most links of a page lead where others have led before, and change nothing.
            if child is None or step < child.way or child.reason is not None or child.fewest_hops:
                child = self._offer(candidate, step)
            if candidate.reason != NOFOLLOW:
                children.append(child)
        if entry.way.depth > self._census.floor():
            entry.children = children
            self._unsettled[entry.way.depth].append(entry)

    def _commit_redirect(self, entry: Entry, target_url: str) -> None:
        if entry.fewest_hops >= self._max_redirects:
            target = entry
            entry.blocked = target_url
            self._report(entry, "too many redirects")
        else:
            entry.target = target = self._offer(Candidate(target_url), entry.way.hop())
            target.sources.append(entry)
            self._spare_hops(target, entry.fewest_hops + 1)
            if loop := loop_of(entry):
                target = min(loop)
                self._report(target, "redirect loop")
        if self._budget is not None:
            self._budget.give_back()
            if target.state is State.QUEUED and not target.released:
                # The target takes the turn of its source.
                target.rank = entry.rank
                self._budget.release(target)
                self._queue_at_host(target)

    def _report(self, entry: Entry, verdict: str) -> None:
        """Give a URL out again, to say that no page will come of it."""
        entry.verdict = verdict
        entry.released = False
        self._move(entry, State.QUEUED)
        self._queue(entry)

    def _unblock(self, entry: Entry) -> bool:
        """Follow what was one redirect too many, if a way with fewer of them has been found."""
        if entry.blocked is None or entry.fewest_hops >= self._max_redirects or self._budget:
            return False
        target, entry.blocked, entry.verdict = entry.blocked, None, None
        self._move(entry, State.DONE)
        self._commit_redirect(entry, target)
        return True

    # --- queues

    def _has_room(self) -> bool:
        # What waits for the seeds is not given out, so no room would come of it.
        return self._census.queued - len(self._after_seeds) < self._capacity

    def _waits_for_seeds(self, entry: Entry) -> bool:
        return self._seeds_first and entry.way.depth > 0 and self._census.floor() == 0

    def _let_in(self, entry: Entry) -> None:
        if self._waits_for_seeds(entry):
            self._after_seeds.append(entry)
        else:
            self._queue(entry)

    def _advance(self, entry: Entry) -> None:
        if not self._waits_for_seeds(entry):
            self._queue(entry)

    def _queue(self, entry: Entry) -> None:
        if self._budget is None or entry.released:
            self._queue_at_host(entry)
        else:
            self._budget.put(entry)

    def _queue_at_host(self, entry: Entry) -> None:
        if not entry.delayed:
            self._gate.push(self._host_of(entry.url), entry.key, entry)

    def _fill_budget(self) -> None:
        if self._budget is not None:
            for entry in self._budget.let_in():
                self._queue_at_host(entry)

    def _withdraw(self, lease: Lease) -> None:
        """End a lease whose request never reached the host."""
        if lease.url in self._flying:
            self._flying.remove(lease.url)
            self._gate.withdraw(lease.host)

    def _move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        if self._budget is not None and state is State.QUEUED and not entry.released:
            self._budget.beyond += 1
        self._census.move(entry, state, reason)
