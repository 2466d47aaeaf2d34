"""The frontier in this process's memory.

Depths settle as the crawl goes on. While a URL at depth m is still open, no new way can be
shorter than m, so a page at depth m or less has its final depth, and the list of its
children, kept to pass a shorter way on, can go. Only the pages that overtook a slow one
keep theirs.

With a page budget the frontier is *ordered*: answers are committed in the order in which
one patient worker would have got them, whenever they come. Then which URLs exist, and
which of them are within the budget, does not depend on who answered first. The price is
that the links of a page wait for the slowest page before it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from crawlproject.frontier.base import DEPTH, NOFOLLOW, Candidate, Counts, Facts, Lease, Skip, State
from crawlproject.frontier.budget import PageBudget
from crawlproject.frontier.census import Census
from crawlproject.frontier.entry import Entry, Way, loop_of, sources_of
from crawlproject.frontier.hosts import HostGate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlproject.frontier.hosts import HostLimits

NO_LIMIT = 2**31


class MemoryFrontier:
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
        self._host_of = host_of
        self._depth_limit = NO_LIMIT if depth_limit is None else depth_limit
        self._budget = None if budget is None else PageBudget(budget)
        self._capacity = capacity or NO_LIMIT
        self._max_redirects = max_redirects
        self._seeds_first = seeds_first
        self._after_seeds: list[Entry] = []
        self._entries: dict[str, Entry] = {}
        self._gate: HostGate[Entry] = HostGate(limits, Entry.is_queued_at)
        self._flying: set[str] = set()
        self._delayed: list[tuple[float, Entry]] = []
        self._census = Census()
        self._judges: dict[str, Callable[[str], str | None]] = {}
        self._ranks = 0
        # Finished, but the queue has no room for the links.
        self._waiting_for_room: deque[Lease] = deque()
        # Done entries by depth, to which a shorter way may still be found.
        self._unsettled: defaultdict[int, list[Entry]] = defaultdict(list)

    # --- what comes in

    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        queued = self._census.queued
        for candidate in candidates:
            self._offer(candidate, Way(depth))
        self._fill_budget()
        return self._census.queued - queued

    def known(self, url: str) -> bool:
        return url in self._entries

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

    def facts(self, url: str) -> Facts | None:
        entry = self._entries.get(url)
        if entry is None:
            return None
        is_page = entry.target is None or entry.state is State.FAILED
        return Facts(entry.way.depth, entry.way.referrer or None, sources_of(entry), is_page)

    def skips(self) -> Iterator[Skip]:
        for entry in self._entries.values():
            if entry.reason is not None:
                yield Skip(entry.url, entry.reason, entry.way.depth, entry.way.referrer or None)

    def counts(self) -> Counts:
        return self._census.counts()

    def depths(self) -> dict[int, int]:
        pages = (
            entry
            for entry in self._entries.values()
            if entry.state is State.FAILED or (entry.state is State.DONE and entry.target is None)
        )
        return dict(sorted(Counter(entry.way.depth for entry in pages).items()))

    # --- ways: who is how deep

    def _offer(self, candidate: Candidate, way: Way) -> Entry:
        """A way to a URL: let the URL in if it is new, take the way if it is better."""
        entry = self._entries.get(candidate.url)
        if entry is None:
            self._ranks += 1
            entry = Entry(
                candidate.url, way, self._ranks, request=candidate.request, fewest_hops=way.hops
            )
            self._entries[candidate.url] = entry
            reason = candidate.reason
            if reason in self._judges:
                reason = self._judges[reason](candidate.url)
            if reason is None:
                self._enter(entry)
            else:
                self._skip(entry, reason)
        elif candidate.reason is None and entry.reason == NOFOLLOW:
            # The way that was not to be followed counts for nothing.
            entry.way, entry.fewest_hops = way, way.hops
            self._enter(entry)
        elif way < entry.way and _counts(candidate, entry):
            self._improve(entry, way)
        if candidate.reason is None:
            self._spare_hops(entry, way.hops)
        return entry

    def _spare_hops(self, entry: Entry | None, hops: int) -> None:
        """Fewer redirects lead here, and so to what it redirects to: it may be followed now."""
        while entry is not None and hops < entry.fewest_hops:
            entry.fewest_hops = hops
            if entry.state is not State.LEASED:
                self._unblock(entry)
            entry, hops = entry.target, hops + 1

    def _enter(self, entry: Entry) -> None:
        if entry.way.depth > self._depth_limit:
            self._skip(entry, DEPTH)
            return
        self._move(entry, State.QUEUED)
        if self._waits_for_seeds(entry):
            self._after_seeds.append(entry)
        else:
            self._queue(entry)

    def _skip(self, entry: Entry, reason: str) -> None:
        self._move(entry, State.SKIPPED, reason)

    def _improve(self, entry: Entry, way: Way) -> None:
        """Take the better way, and pass it on to what lies behind."""
        improved = [(entry, way)]
        while improved:
            entry, way = improved.pop()
            if not way < entry.way:
                continue
            is_shorter = way.depth < entry.way.depth
            self._census.take_way(entry, way)
            if entry.reason is not None:
                if entry.reason == DEPTH:
                    self._enter(entry)
                continue
            if is_shorter and entry.state is State.QUEUED and not self._waits_for_seeds(entry):
                self._queue(entry)
            if is_shorter and entry.children:
                step = way.step(entry.url)
                improved.extend((child, step) for child in entry.children)
            if entry.target is not None:
                improved.append((entry.target, way.hop()))

    def _settle(self) -> None:
        """Forget the links of the pages that no shorter way can reach any more."""
        floor = self._census.floor()
        for depth in [depth for depth in self._unsettled if depth <= floor]:
            for entry in self._unsettled.pop(depth):
                entry.children = None

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


def _counts(candidate: Candidate, entry: Entry) -> bool:
    """Whether a link may change the way to a URL that is known."""
    if candidate.reason is None:
        return True
    # One that must not be followed opens no door, but it may be the better one to name.
    return entry.reason is not None and (candidate.reason, entry.reason) != (NOFOLLOW, DEPTH)
