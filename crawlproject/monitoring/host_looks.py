"""Looking at all hosts now and then, and no more often than that is worth. Pure."""

from __future__ import annotations

from itertools import chain
from operator import sub
from typing import TYPE_CHECKING

from crawlproject.frontier.hosts import HostsNow
from crawlproject.monitoring.snapshot import Hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# After a look, no other one for so many times as long as it took: a hundred thousand hosts take
# a twentieth of a second.
_REST = 50
# Seconds over which requests to a host are counted; in the beginning, the least.
_SPAN, _LEAST_SPAN = 5.0, 1.0


class HostLooks:
    """``look`` says how hosts are at a time; ``stopwatch``, how long that takes."""

    def __init__(
        self,
        look: Callable[[float], HostsNow],
        now: float,
        stopwatch: Callable[[], float],
    ) -> None:
        self._look = look
        self._stopwatch = stopwatch
        self._next_at = float("-inf")
        self._seen = HostsNow()
        self._busiest = 0.0
        self._is_first_span = True
        self._counted_at = now
        # A crawl that goes on has requests of before.
        self._counted = self._look_at(now).requests

    def look_again(self) -> None:
        """The next answer is worth a look, whatever that costs: it may be the last one."""
        self._next_at = float("-inf")

    def hosts(self, now: float) -> Hosts:
        if now >= self._next_at:
            self._count(self._look_at(now).requests, now)
        seen = self._seen
        return Hosts(
            seen.total,
            seen.ready,
            seen.waiting,
            seen.held,
            seen.idle,
            seen.mean_delay,
            seen.longest_delay,
            self._busiest,
        )

    def _look_at(self, now: float) -> HostsNow:
        began = self._stopwatch()
        self._seen = self._look(now)
        self._next_at = now + _REST * (self._stopwatch() - began)
        return self._seen

    def _count(self, requests: Sequence[int], now: float) -> None:
        span = now - self._counted_at
        if span < (_LEAST_SPAN if self._is_first_span else _SPAN):
            return
        of_new_hosts = requests[len(self._counted) :]
        most = max(chain([0], map(sub, requests, self._counted), of_new_hosts))
        self._busiest = most / span
        if span >= _SPAN:
            self._is_first_span = False
            self._counted, self._counted_at = requests, now
