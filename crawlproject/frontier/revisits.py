"""What is visited again, and in which order.

Of each host, the next few URLs are queued, and more when these are done: so a million that are due
cost memory for their ids, and no host keeps others waiting. A visit keeps its turn when it is put
off. With a page budget all are queued at once, by level and URL, since answers are committed in
that order.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlproject.frontier.base import State
from crawlproject.frontier.entry import SITEMAP, depth_of
from crawlproject.frontier.judging import Judging
from crawlproject.frontier.notes import LOSING, ROUND
from crawlproject.frontier.rounds import ALL, DUE, Round, round_in
from crawlproject.recrawl.importance import USUAL_PRIORITY, importance
from crawlproject.recrawl.interval import DAY, NEVER
from crawlproject.recrawl.priority import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.entry import Entry
    from crawlproject.frontier.logbook import Due

# URLs of a host that are queued at once, and how few are left when more are.
_BATCH, _LOW = 256, 64
# Seconds after which it is looked again how much URLs matter.
_COUNTED_SECONDS = 3600.0
# Seconds after which a robots.txt that denied something, or was not there, is asked again.
_RETRY_SECONDS = 3600.0
# Seconds between two looks for what is due, at least, and one more for so many URLs.
_LEAST_REST, _A_SECOND = 1.0, 1000


class _Line:
    """URLs of a host that are to be visited, by id, in order."""

    __slots__ = ("ids", "next", "out")

    def __init__(self) -> None:
        self.ids = array("Q")
        # Where the next is, and how many before it are queued or on their way.
        self.next = 0
        self.out = 0

    def left(self) -> int:
        return len(self.ids) - self.next


class Revisits(Judging):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_continuous = self._recrawl is not None and self._recrawl.is_continuous
        self._lines: dict[str, _Line] = {}
        self._turn = 0
        # How many pages link to each URL, what sitemaps say of how much they matter, and when both
        # were looked at.
        none = np.zeros(0, np.int64)
        self._weighed: tuple[float, NDArray[np.int64], dict[int, float]] = 0.0, none, {}
        # When what a robots.txt has denied is asked for again; and when it is looked what is due.
        self._retry_at = 0.0
        self._look_at = 0.0 if self._is_continuous else NEVER

    def _look_for_due(self, now: float) -> None:
        """Queue what has become due, and say when to look again."""
        if self._census.later:
            # What is to be visited anyway comes first.
            self._look_at = now + _LEAST_REST
            return
        if not self._census.queued and not self._census.leased:
            self._settle_if_idle(now)
        if now >= self._retry_at:
            self._retry(failed=False, denied=True)
            self._retry_at = now + _RETRY_SECONDS
            if self._store.recall(LOSING):
                self._unsettle()
        due = self._revisit(now, None)
        # To look takes time, too.
        rest = max(_LEAST_REST, due / _A_SECOND)
        next_due = self._store.logbook.next_due() or now
        self._look_at = max(now + rest, next_due)

    @abstractmethod
    def _settle_if_idle(self, now: float) -> None:
        """Nothing is queued, and nothing on its way."""

    def _revisit(self, now: float, before: float | None) -> int:
        """Queue what is due, or was visited before a time: how many URLs."""
        due = [one for one in self._store.logbook.due(now, before) if self._may_be_visited(one)]
        for line in self._lines.values():
            line.ids, line.next = array("Q"), 0
        for place in self._order(due, now):
            host = self.host_of(due[place].url)
            if host not in self._lines:
                self._lines[host] = _Line()
            self._lines[host].ids.append(due[place].id)
        if due:
            self._is_later = True
        self._census.later = len(due)
        for line in self._lines.values():
            self._call_some(line)
        self._release_levels()
        self._fill_budget()
        return len(due)

    def _begin_round(self, mode: str, now: float, since: float, *, is_complete: bool) -> int:
        last = round_in(self._store.recall(ROUND))
        goes_on = last.is_open and last.mode == mode
        if not goes_on and not last.may_be_followed(since, is_complete=is_complete):
            return 0
        began_at = last.began_at if goes_on else now
        called = self._revisit(now, began_at if mode == ALL else None)
        if self._store.recall(LOSING):
            # Visits may show whether links lead there.
            self._unsettle()
        if called:
            number = last.number + (not goes_on)
            begun = Round(number, began_at, mode, is_open=True, ended_at=last.ended_at)
            self._store.remember(ROUND, begun.text())
            self._retry(failed=False, denied=True)
        return called

    def _visit_soon(self, pages: list[Entry]) -> None:
        last = round_in(self._store.recall(ROUND))
        if not pages or not (self._is_continuous or (last.is_open and last.mode == DUE)):
            # Otherwise all are visited, or nothing is.
            return
        for page in pages:
            is_out = self._judge is not None and self._judge(page.url) is not None
            if page.state in (State.DONE, State.FAILED) and not is_out:
                line = self._lines.setdefault(self.host_of(page.url), _Line())
                line.ids.append(page.id)
                self._census.later += 1
        for line in self._lines.values():
            if line.out < _LOW and line.left():
                self._call_some(line)

    def _may_be_visited(self, due: Due) -> bool:
        """Whether the scope of now has it, too. Of seeds and sitemaps nobody asks that."""
        is_exempt = due.level == 0 or due.url.endswith(SITEMAP)
        return is_exempt or self._judge is None or self._judge(due.url) is None

    def _order(self, due: list[Due], now: float) -> list[int]:
        if self._budget is not None:
            return sorted(range(len(due)), key=lambda place: (due[place].level, due[place].url))
        if not due:
            return []
        ids = np.array([one.id for one in due])
        ages = now - np.array([one.visited_at for one in due])
        weights = self._importance(due, ids, now)
        order = in_order(np.array([one.rate for one in due]), ages / DAY, weights).tolist()
        # What sitemaps say may change what is due.
        return sorted(order, key=lambda place: not due[place].url.endswith(SITEMAP))

    def _importance(
        self, due: list[Due], ids: NDArray[np.int64], now: float
    ) -> NDArray[np.float64]:
        counted_at, counts, said = self._weighed
        if len(counts) <= ids.max() or now - counted_at > _COUNTED_SECONDS:
            links = self._store.edges().links >> 1
            counts = np.bincount(links, minlength=self._store.last_id + 1)
            said = self._store.logbook.priorities()
            self._weighed = now, counts, said
        inlinks = counts[ids]
        priorities = np.array([said.get(one.id, USUAL_PRIORITY) for one in due], np.float64)
        return importance(inlinks, np.array([depth_of(one.level) for one in due]), priorities)

    def _call_some(self, line: _Line) -> None:
        """Queue the next URLs of a host."""
        most = line.left() if self._budget is not None else _BATCH
        self._store.prepare(line.ids[line.next : line.next + most])
        while line.left() and most > 0:
            entry = self._store.by_id(line.ids[line.next])
            line.next += 1
            self._census.later -= 1
            if entry.state in (State.DONE, State.FAILED):
                self._call(entry)
                line.out += 1
                most -= 1
            self._store.flush_if_large()
        if not line.left():
            line.ids, line.next = array("Q"), 0

    def _call(self, entry: Entry) -> None:
        self._turn += 1
        if self._budget is not None and entry.has_place(entry.state):
            self._budget.give_back()
        entry.again, entry.rank = entry.state, self._turn
        entry.start_over()
        self._move(entry, State.QUEUED)
        if self._budget is not None:
            self._budget.let_in(entry.key)
        self._queue_at_host(entry)

    def _commit_answer(self, entry: Entry, lease: Lease) -> None:
        super()._commit_answer(entry, lease)
        if lease.before is not None:
            self._leave_line(entry)

    def _leave_line(self, entry: Entry) -> None:
        """A visit has come to its end."""
        line = self._lines.get(self.host_of(entry.url))
        if line is not None:
            line.out -= 1
            if line.out < _LOW and line.left():
                self._call_some(line)

    def _end_visits(self) -> int:
        """Let those be what they were that are not on their way: how many URLs."""
        ended = self._census.later
        self._lines.clear()
        self._census.later = 0
        for number in self._store.called():
            entry = self._store.by_id(number)
            self._uncall(entry)
            ended += 1
            self._store.flush_if_large()
        self._fill_budget()
        return ended

    def _uncall(self, entry: Entry) -> None:
        was = entry.again
        assert was is not None
        if self._budget is not None and self._budget.has(entry.id):
            self._budget.withdraw(entry.id)
            if entry.has_place(was):
                self._budget.take_place()
        entry.due, entry.again = None, None
        self._move(entry, was)
