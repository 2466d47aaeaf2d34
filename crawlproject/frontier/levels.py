"""URLs that wait until all above them are done, because only then it is known who is first.

A group of URLs with a budget, such as the pages of a calendar, takes the first ones by depth
and then by URL. Who they are is known when no page is open any more that could link, or
redirect, to one of them; so they wait until all others at their depth and above are done,
and the answer does not depend on who answered first. With several seeds, all links wait for
the seeds, because these decide about the scope.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlproject.frontier.entry import Wait

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from crawlproject.frontier.entry import Entry
    from crawlproject.scope.traps import Budget


class Levels:
    def __init__(
        self,
        database: sqlite3.Connection,
        budgets: Callable[[str], tuple[Budget, ...]] | None,
        get: Callable[[str], Entry | None],
        *,
        seeds_first: bool,
    ) -> None:
        self._database = database
        self._get = get
        self._budgets = budgets
        self._seeds_first = seeds_first
        self._spent: dict[str, int] = dict(database.execute("SELECT name, spent FROM budgets"))
        self._changed: set[str] = set()
        self._waiting_at: Counter[int] = Counter(
            dict(
                database.execute(
                    "SELECT depth, count(*) FROM urls WHERE waits = ? GROUP BY depth",
                    (int(Wait.LEVEL),),
                )
            )
        )
        self.waiting = self._waiting_at.total()

    def has_to_wait(self, entry: Entry, floor: int) -> bool:
        if self._seeds_first and floor == 0 and entry.way.depth > 0:
            return True
        return self._budgets is not None and bool(self._budgets(entry.url))

    def wait(self, entry: Entry) -> None:
        entry.waits = Wait.LEVEL
        self._waiting_at[entry.way.depth] += 1
        self.waiting += 1

    def move(self, entry: Entry, depth: int) -> None:
        """An entry that waits was at ``depth`` before."""
        self._waiting_at[depth] -= 1
        self._waiting_at[entry.way.depth] += 1

    def leave(self, entry: Entry) -> None:
        """An entry does not wait any more."""
        entry.waits = Wait.NOTHING
        self._waiting_at[entry.way.depth] -= 1
        self.waiting -= 1

    def complete(self, open_at: Callable[[int], int]) -> int | None:
        """The depth of those who wait no longer: nobody else is open there or above.

        ``open_at`` says how many URLs are open at a depth, those that wait among them.
        """
        if not self.waiting:
            return None
        first = min(depth for depth, count in self._waiting_at.items() if count)
        if any(open_at(depth) > self._waiting_at[depth] for depth in range(first + 1)):
            return None
        return first

    def refusal(self, entry: Entry) -> str | None:
        """Why no budget has room for the entry; None: it has its place now."""
        budgets = self._budgets_of(entry)
        for budget in budgets:
            is_spent = self._spent.get(budget.group, 0) >= budget.pages
            if is_spent and not self._is_near(entry, budget):
                return budget.reason
        for budget in budgets:
            self._spent[budget.group] = self._spent.get(budget.group, 0) + 1
            self._changed.add(budget.group)
        return None

    def give_back(self, entry: Entry) -> None:
        """An entry that had its place in its budgets goes without having been fetched."""
        for budget in self._budgets_of(entry):
            if self._spent.get(budget.group, 0) > 0:
                self._spent[budget.group] -= 1
                self._changed.add(budget.group)

    def _budgets_of(self, entry: Entry) -> list[Budget]:
        if self._budgets is None:
            return []
        return [
            budget
            for budget in self._budgets(entry.url)
            if all(self._is_above(url, entry) for url in budget.alone)
        ]

    def _is_near(self, entry: Entry, budget: Budget) -> bool:
        """Whether few steps lead here from a page that is not of the group."""
        for _ in range(budget.steps):
            referrer = self._get(entry.way.referrer)
            if referrer is None or not self._is_in(referrer, budget.group):
                return True
            entry = referrer
        return False

    def _is_in(self, entry: Entry, group: str) -> bool:
        budgets = self._budgets(entry.url) if self._budgets else ()
        return any(budget.group == group for budget in budgets)

    def _is_above(self, url: str, entry: Entry) -> bool:
        """Whether a URL is known at the depth of the entry, or above: that is settled by then."""
        found = self._get(url)
        return found is not None and found.way.depth <= entry.way.depth

    @property
    def has_changes(self) -> bool:
        return bool(self._changed)

    def flush(self) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO budgets VALUES (?, ?)",
            [(name, self._spent[name]) for name in self._changed],
        )
        self._changed.clear()
