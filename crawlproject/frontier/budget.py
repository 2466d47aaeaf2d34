"""A budget of pages, spent in breadth-first order whatever the order of the answers. Pure."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlproject.frontier.hosts import Key

# Entries that are let in and not committed yet: enough to keep any number of workers busy.
_WINDOW = 1024


class PageBudget:
    """Lets in the first entries by key, and says when the answer of each may be committed.

    What is within the budget once stays within it. A redirect that was followed gives its place
    to its target.
    """

    def __init__(self, pages: int, within: int) -> None:
        self._pages = pages
        self._within = within
        self._turns: list[Key] = []
        self._let_in: set[int] = set()
        # Who has answered, and where the answer is.
        self._answers: dict[int, int] = {}

    def room(self) -> int:
        """How many more may be let in now."""
        if len(self._turns) > _WINDOW // 2:
            return 0
        return max(0, min(self.left(), _WINDOW - len(self._turns)))

    def left(self) -> int:
        """How many pages of the budget are neither spent nor let in."""
        return self._pages - self._within

    def spent(self) -> int:
        """How many pages of the budget are spent."""
        return self._within - len(self._let_in)

    def let_in(self, key: Key) -> None:
        self._within += 1
        self._let_in.add(key[2])
        heappush(self._turns, key)

    def has(self, number: int) -> bool:
        """Whether the entry is let in, and not committed."""
        return number in self._let_in

    def move(self, key: Key) -> None:
        """An entry that is let in has come nearer."""
        self._turns = [other for other in self._turns if other[2] != key[2]]
        self._turns.append(key)
        heapify(self._turns)

    def give_back(self) -> None:
        """What was let in is no page after all."""
        self._within -= 1

    def take_place(self) -> None:
        """A page is within the budget that was not let in."""
        self._within += 1

    def withdraw(self, number: int) -> None:
        """An entry that was let in goes, as if it had never been."""
        self._within -= 1
        self._let_in.remove(number)
        self._turns = [key for key in self._turns if key[2] != number]
        heapify(self._turns)

    def is_idle(self) -> bool:
        return not self._turns

    def answered(self, number: int, answer: int) -> None:
        self._answers[number] = answer

    def is_next(self, number: int) -> bool:
        return bool(self._turns) and self._turns[0][2] == number

    def next_answer(self) -> int | None:
        """Where the next answer in order is, if it has come."""
        return self._answers.get(self._turns[0][2]) if self._turns else None

    def commit(self) -> None:
        """The answer of the first in turn is about to be committed."""
        number = heappop(self._turns)[2]
        self._let_in.discard(number)
        self._answers.pop(number, None)
