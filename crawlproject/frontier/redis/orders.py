"""What a worker wants done to the crawl as a whole: it tells the committer, who does it.

How many URLs come of it is known when the committer has got to it, so at once only where this
worker is the committer.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.base import LASTING
from crawlproject.frontier.guard import guarded
from crawlproject.frontier.restore import NOT_KEPT
from crawlproject.frontier.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlproject.frontier.base import Candidate
    from crawlproject.frontier.redis.session import Reply

# Candidates of a message.
_AT_ONCE = 1000


class Orders(Turns):
    # What Redis has said last.
    _reply: Reply
    _judge: Callable[[str], str | None] | None

    @abstractmethod
    def _tell(self, kind: str, *body: Any) -> None:
        """Have a message for the committer."""

    @abstractmethod
    def _settle(self) -> None:
        """Tell everything, and commit everything, as far as that is this worker's part."""

    @abstractmethod
    def _remember_admitted(self, urls: Iterable[str], depth: int) -> None:
        """URLs were let in by the current scope, unless they are too deep."""

    def _order(self, kind: str, *body: Any) -> int:
        """How many more URLs are queued then, as far as it is known."""
        queued = self._reply.counts.queued
        self._tell(kind, *body)
        self._settle()
        return self._reply.counts.queued - queued

    @guarded(0)
    def admit(self, candidates: Iterable[Candidate], depth: int = 0) -> int:
        queued = self._reply.counts.queued
        told = [_shareable(candidate) for candidate in candidates]
        self._remember_admitted((url for url, reason, _ in told if url and reason is None), depth)
        for start in range(0, len(told), _AT_ONCE):
            self._tell("admit", told[start : start + _AT_ONCE], depth)
        self._settle()
        return self._reply.counts.queued - queued

    @guarded(None)
    def free_links(self) -> None:
        self._tell("free_links")

    @guarded(0)
    def reconsider(self, reason: str, judge: Callable[[str], str | None]) -> int:
        self._judge = judge
        return self._order("reconsider", reason)

    @guarded((0, 0))
    def rejudge(
        self, judge: Callable[[str], str | None], lasting: Sequence[str] = LASTING
    ) -> tuple[int, int]:
        self._judge = judge
        skipped = self._skipped()
        entered = self._order("rejudge", list(lasting))
        return max(self._skipped() - skipped, 0), max(entered, 0)

    @guarded(0)
    def retry(self, *, failed: bool, denied: bool = False) -> int:
        return self._order("retry", failed, denied)

    @guarded(0)
    def revisit(self, now: float, *, before: float | None = None) -> int:
        return max(0, self._order("revisit", now, before))

    @guarded(0)
    def begin_round(self, mode: str, now: float, since: float) -> int:
        return max(0, self._order("round", mode, now, since))

    @guarded(0)
    def end_visits(self) -> int:
        return max(0, -self._order("end_visits"))

    @guarded(0)
    def settle(self, now: float) -> int:
        skipped = self._skipped()
        self._order("settle", now)
        return max(0, self._skipped() - skipped)

    def _skipped(self) -> int:
        return sum(self._reply.counts.skipped.values())


def _shareable(candidate: Candidate) -> list[str | None]:
    """A request that can't be written down is nobody's but this worker's: it is skipped."""
    url, reason, request = candidate
    if request is None or isinstance(request, str):
        return [url, reason, request]
    return [url, reason or NOT_KEPT, None]
