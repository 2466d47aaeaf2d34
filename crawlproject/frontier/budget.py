"""A budget of pages, spent in breadth-first order whatever the order of the answers. Pure."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.hosts import Key


class PageBudget:
    """Lets in the first entries by key, and gives their answers back in that order.

    An entry that lets itself in can only be followed by ones with a larger key, so what is
    within the budget once stays within it. A redirect that was followed gives its place to
    its target.
    """

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._within = 0
        self.beyond = 0
        # Both cleaned lazily: an entry whose key has changed is there twice.
        self._backlog: list[tuple[Key, Entry]] = []
        self._turns: list[tuple[Key, Entry]] = []
        self._answers: dict[str, Lease] = {}

    def put(self, entry: Entry) -> None:
        heappush(self._backlog, (entry.key, entry))

    def let_in(self) -> Iterator[Entry]:
        """The entries that are within the budget now and were not before."""
        while self._backlog and self._within < self._pages:
            key, entry = heappop(self._backlog)
            if entry.is_queued_at(key) and not entry.released:
                self.release(entry)
                yield entry

    def release(self, entry: Entry) -> None:
        self.beyond -= 1
        self._within += 1
        entry.released = True
        heappush(self._turns, (entry.key, entry))

    def give_back(self) -> None:
        """What was let in is no page after all."""
        self._within -= 1

    def answered(self, lease: Lease) -> None:
        self._answers[lease.url] = lease

    def next_answer(self) -> Lease | None:
        """The next answer in order, if it has come."""
        if not self._turns or self._turns[0][1].url not in self._answers:
            return None
        return self._answers.pop(heappop(self._turns)[1].url)
