"""What is queued, and what else it waits for: its level, its place in a budget, its time."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from crawlproject.frontier.budget import PageBudget
from crawlproject.frontier.entry import Entry, Wait
from crawlproject.frontier.graph import LinkGraph
from crawlproject.frontier.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Way
    from crawlproject.scope.traps import Budget


class Queues(LinkGraph):
    def __init__(
        self,
        store: Entries,
        *,
        host_of: Callable[[str], str],
        depth_limit: int | None,
        budget: int | None,
        budgets: Callable[[str], tuple[Budget, ...]] | None,
        seeds_first: bool,
    ) -> None:
        super().__init__(store, depth_limit)
        self.host_of = host_of
        store.count(self._census)
        self._levels = Levels(store, budgets, seeds_first=seeds_first)
        self._budget = None
        # Queued, but beyond the budget.
        self._beyond = 0
        if budget is not None:
            self._budget = PageBudget(budget, store.within())
            self._beyond = store.beyond()

    @abstractmethod
    def _queue_at_host(self, entry: Entry) -> None:
        """An entry waits for nothing but its host."""

    def _let_in_again(self) -> None:
        """What the last run had let in has its place before all who wait for one."""
        if self._budget is None:
            return
        for number in self._store.let_in():
            entry = self._store.by_id(number)
            if self._budget.left() > 0:
                self._budget.let_in(entry.key)
                self._queue_at_host(entry)
            else:
                # The budget was a larger one.
                entry.due = None
                self._queue(entry)

    def _let_in(self, entry: Entry) -> None:
        if self._levels.has_to_wait(entry, self._census.floor()):
            self._levels.wait(entry)
        else:
            self._queue(entry)

    def _take_way(self, entry: Entry, way: Way) -> list[tuple[int, Way]]:
        level = entry.way.level
        behind = super()._take_way(entry, way)
        if way.level < level and self._budget is not None and self._budget.has(entry.id):
            self._budget.move(entry.key)
        return behind

    def _advance(self, entry: Entry, level: int) -> None:
        if entry.waits is Wait.LEVEL:
            self._levels.move(entry, level)
        else:
            self._queue(entry)

    def _release_levels(self) -> None:
        """Let those in whose level has come, the first by URL first."""
        while (level := self._levels.complete(self._census.open_up_to)) is not None:
            for number in self._store.at_level(level):
                entry = self._store.by_id(number)
                self._levels.leave(entry)
                if refusal := self._levels.refusal(entry):
                    self._skip(entry, refusal)
                else:
                    self._queue(entry)
                self._store.flush_if_large()

    def _free_links(self) -> None:
        """Let those in that wait for the seeds, and for nothing else."""
        for level in self._levels.free_links():
            for number in self._store.at_level(level):
                entry = self._store.by_id(number)
                if not self._levels.has_to_wait(entry, level):
                    self._levels.leave(entry)
                    self._queue(entry)
                    self._store.flush_if_large()
        self._fill_budget()

    def _stop_waiting(self, entry: Entry) -> None:
        if entry.waits is Wait.LEVEL:
            self._levels.leave(entry)
        elif entry.waits is Wait.BUDGET:
            entry.waits = Wait.NOTHING
            self._beyond -= 1
        self._store.wait(entry)

    def _queue(self, entry: Entry) -> None:
        if self._budget is None or self._budget.has(entry.id):
            self._queue_at_host(entry)
        elif entry.waits is not Wait.BUDGET:
            entry.waits = Wait.BUDGET
            self._beyond += 1
            self._store.wait(entry)

    def _fill_budget(self) -> None:
        if self._budget is None or not self._beyond:
            return
        while self._beyond and (room := self._budget.room()):
            numbers = self._store.first_beyond(room)
            for number in numbers:
                entry = self._store.by_id(number)
                self._stop_waiting(entry)
                self._budget.let_in(entry.key)
                self._queue_at_host(entry)
            if len(numbers) < room:
                return
