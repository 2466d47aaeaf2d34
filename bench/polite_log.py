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


class Pace(NamedTuple):
    """How fast one host was asked."""

    # Pages started a second, without robots.txt and the seed, which nothing else can overlap.
    per_second: float
    in_flight: int
    # Requests that began too soon after another one had ended, whatever else was in flight.
    too_soon: int
    most_in_a_second: int


def pace_of(log: Iterable[Asked], delay: float) -> Pace:
    """Raises ValueError when there are too few pages."""
    requests = sorted(log, key=lambda request: request.start)
    starts = [request.start for request in requests]
    pages = [request.start for request in requests if request.path not in ("/", "/robots.txt")]
    if len(pages) < 2:
        raise ValueError("too few pages were asked for")
    changes = [(request.start, 1) for request in requests]
    changes += [(request.end, -1) for request in requests]
    ends = [request.end for request in requests]
    return Pace(
        per_second=(len(pages) - 1) / (pages[-1] - pages[0]),
        in_flight=max(accumulate(change for _, change in sorted(changes))),
        too_soon=sum(any(end <= start < end + delay for end in ends) for start in starts),
        most_in_a_second=max(sum(one <= start < one + 1 for start in starts) for one in starts),
    )


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
