"""What is known, judged again: by a scope that has changed, or because nothing could be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.base import ROBOTS, ROBOTS_UNREACHABLE, State
from crawlproject.frontier.commits import Commits
from crawlproject.frontier.entry import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlproject.frontier.entry import Entry

    Judge = Callable[[str], str | None]


class Judging(Commits):
    def _reconsider(self, reason: str, judge: Judge) -> int:
        # Candidates that were judged before, but come in later, are judged again too.
        self._judges[reason] = judge
        queued = self._census.queued
        for number in self._store.skipped_for(reason):
            entry = self._store.by_id(number)
            if judge(entry.url) is None:
                self._enter(entry)
                self._store.flush_if_large()
        self._release_levels()
        self._fill_budget()
        return self._census.queued - queued

    def _rejudge(self, judge: Judge, lasting: Sequence[str]) -> tuple[int, int]:
        left = self._put_out(judge)
        entered = self._take_in(judge, lasting)
        self._release_levels()
        self._fill_budget()
        # A budget may have turned some away again.
        return left, sum(self._store.by_id(number).reason is None for number in entered)

    def _put_out(self, judge: Judge) -> int:
        """Skip what is queued and not in scope any more: how many URLs."""
        left = 0
        # Not what a spider asks for itself: no scope was asked about it.
        for number in self._store.found_by_links():
            entry = self._store.by_id(number)
            reason = judge(entry.url)
            if reason is None and self._is_too_deep(entry.way):
                reason = self._too_deep
            if reason is not None:
                self._take_back(entry)
                self._skip(entry, reason)
                left += 1
            self._store.flush_if_large()
        return left

    def _take_back(self, entry: Entry) -> None:
        """Undo what was done when it was queued."""
        if entry.waits is not Wait.LEVEL:
            self._levels.give_back(entry)
        if self._budget is not None and self._budget.has(entry.id):
            self._budget.withdraw(entry.id)
        self._stop_waiting(entry)
        entry.due = None

    def _take_in(self, judge: Judge, lasting: Sequence[str]) -> list[int]:
        """Queue what was skipped and is in scope now: the ids."""
        entered = []
        for number in self._store.skipped_but_for(lasting):
            entry = self._store.by_id(number)
            if judge(entry.url) is None and not self._is_too_deep(entry.way):
                self._enter(entry)
                entered.append(number)
            self._store.flush_if_large()
        return entered

    def _retry(self, *, failed: bool, denied: bool) -> int:
        reasons = (ROBOTS_UNREACHABLE, ROBOTS) if denied else (ROBOTS_UNREACHABLE,)
        numbers = self._store.not_had(reasons, failed=failed)
        for number in numbers:
            entry = self._store.by_id(number)
            self._store.drop_page(entry)
            self._store.drop_items(entry)
            if self._budget is not None and not entry.is_sitemap:
                self._budget.give_back()
            entry.attempts = entry.bounces = 0
            entry.verdict = None
            self._move(entry, State.QUEUED)
            self._queue(entry)
        self._fill_budget()
        return len(numbers)
