"""What a server's log says about a crawl: was it polite, and did it waste time? *Pure.*"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Asked(NamedTuple):
    """A request, by the server's clock."""

    host: str
    path: str
    start: float
    end: float


class Judgement(NamedTuple):
    requests: int
    # What one host alone needs at least, and what it took to crawl them all.
    ideal_seconds: float
    actual_seconds: float
    # From the first request to the one with which the last host begins.
    beginning_seconds: float
    # Of its own time, how much the average host has spent on what it needs.
    host_utilisation: float
    # Requests that began too soon after those before had ended, and those that did not wait.
    too_soon: int
    overlapping: int

    @property
    def utilisation(self) -> float:
        return self.ideal_seconds / self.actual_seconds


def judge(log: Iterable[Asked], delay: float) -> Judgement:
    """Raises ValueError when nothing was asked."""
    hosts: dict[str, list[Asked]] = defaultdict(list)
    for request in log:
        hosts[request.host].append(request)
    if not hosts:
        raise ValueError("nothing was asked")
    ideals, ratios = [], []
    too_soon = overlapping = 0
    for requests in hosts.values():
        requests.sort(key=lambda request: request.start)
        ideal = (len(requests) - 1) * delay
        ideal += sum(request.end - request.start for request in requests)
        ideals.append(ideal)
        ended = list(accumulate((request.end for request in requests), max))
        ratios.append(ideal / ((ended[-1] - requests[0].start) or 1.0))
        for request, last_end in zip(requests[1:], ended, strict=False):
            too_soon += request.start < last_end + delay
            overlapping += request.start < last_end
    begins = [requests[0].start for requests in hosts.values()]
    ends = [request.end for requests in hosts.values() for request in requests]
    return Judgement(
        requests=len(ends),
        ideal_seconds=max(ideals),
        actual_seconds=max(ends) - min(begins),
        beginning_seconds=max(begins) - min(begins),
        host_utilisation=sum(ratios) / len(ratios),
        too_soon=too_soon,
        overlapping=overlapping,
    )
