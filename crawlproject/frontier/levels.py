"""URLs that wait until all above them are done, because only then it is known who is first.

A group of URLs with a budget, such as the pages of a calendar, takes the first ones by depth
and then by URL. Who they are is known when no page is open any more that could link, or
redirect, to one of them; so they wait until all others at their depth and above are done,
and the answer does not depend on who answered first. With several seeds, all links wait for
the seeds, because these decide about the scope; but not for a seed whose host is out of order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlproject.frontier.entry import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlproject.frontier.entries import Entries
    from crawlproject.frontier.entry import Entry
    from crawlproject.scope.traps import Budget

# Groups of which it is known without a question what they have spent.
_REMEMBERED = 16_384


class Levels:
    def __init__(
        self,
        store: Entries,
        budgets: Callable[[str], tuple[Budget, ...]] | None,
        *,
        seeds_first: bool,
    ) -> None:
        self._store = store
        self._budgets = budgets
        self._seeds_first = seeds_first
        # What groups have spent, as far as it was asked for lately or is not written yet.
        self._spent: dict[str, int] = {}
        self._changed: set[str] = set()
        self._waiting_at: Counter[int] = Counter(store.waiting_at())
        self.waiting = self._waiting_at.total()

    def has_to_wait(self, entry: Entry, floor: int) -> bool:
        if self._seeds_first and floor == 0 and entry.way.level > 0:
            return True
        return self._budgets is not None and bool(self._budgets(entry.url))

    def free_links(self) -> list[int]:
        """Links wait for seeds no longer: the levels at which some have."""
        if not self._seeds_first:
            return []
        self._seeds_first = False
        return [level for level, count in self._waiting_at.items() if count]

    def wait(self, entry: Entry) -> None:
        entry.waits = Wait.LEVEL
        self._waiting_at[entry.way.level] += 1
        self.waiting += 1
        self._store.wait(entry)

    def move(self, entry: Entry, level: int) -> None:
        """An entry that waits was at ``level`` before."""
        self._waiting_at[level] -= 1
        self._waiting_at[entry.way.level] += 1
        self._store.wait(entry)

    def leave(self, entry: Entry) -> None:
        """An entry does not wait any more."""
        entry.waits = Wait.NOTHING
        self._waiting_at[entry.way.level] -= 1
        self.waiting -= 1
        self._store.wait(entry)

    def complete(self, open_up_to: Callable[[int], Iterable[tuple[int, int]]]) -> int | None:
        """The level of those who wait no longer: nobody else is open there or above.

        ``open_up_to`` says how many URLs are open at the levels up to one, those that wait among
        them.
        """
        if not self.waiting:
            return None
        first = min(level for level, count in self._waiting_at.items() if count)
        if any(count > self._waiting_at[level] for level, count in open_up_to(first)):
            return None
        return first

    def refusal(self, entry: Entry) -> str | None:
        """Why no budget has room for the entry; None: it has its place now."""
        budgets = self._budgets_of(entry)
        for budget in budgets:
            is_spent = self._spent_by(budget.group) >= budget.pages
            if is_spent and not self._is_near(entry, budget):
                return budget.reason
        for budget in budgets:
            self._spend(budget.group, 1)
        return None

    def give_back(self, entry: Entry) -> None:
        """An entry that had its place in its budgets goes without having been fetched."""
        for budget in self._budgets_of(entry):
            if self._spent_by(budget.group) > 0:
                self._spend(budget.group, -1)

    def _budgets_of(self, entry: Entry) -> list[Budget]:
        if self._budgets is None:
            return []
        return [
            budget
            for budget in self._budgets(entry.url)
            if all(self._is_above(url, entry) for url in budget.alone)
        ]

    def _is_near(self, entry: Entry, budget: Budget) -> bool:
        """Whether few steps lead here from a page that is not of such a group.

        Of any: the days, weeks and months of a calendar may be three, and link to each other.
        """
        for _ in range(budget.steps):
            referrer = self._store.get(entry.way.referrer)
            if referrer is None or not self._has_steps(referrer):
                return True
            entry = referrer
        return False

    def _has_steps(self, entry: Entry) -> bool:
        budgets = self._budgets(entry.url) if self._budgets else ()
        return any(budget.steps for budget in budgets)

    def _is_above(self, url: str, entry: Entry) -> bool:
        """Whether a URL is known at the level of the entry, or above: that is settled by then."""
        found = self._store.get(url)
        return found is not None and found.way.level <= entry.way.level

    def _spent_by(self, group: str) -> int:
        spent = self._spent.get(group)
        if spent is None:
            spent = self._spent[group] = self._store.spent_by(group)
        return spent

    def _spend(self, group: str, pages: int) -> None:
        self._spent[group] = self._spent_by(group) + pages
        self._changed.add(group)
        if len(self._spent) > _REMEMBERED:
            self.flush()

    def flush(self) -> None:
        if self._changed:
            self._store.keep_spent([(name, self._spent[name]) for name in self._changed])
            self._changed.clear()
        if len(self._spent) > _REMEMBERED:
            self._spent.clear()
