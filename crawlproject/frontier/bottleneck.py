"""What a host's requests wait for, and which limit costs a crawl most of its time. *Pure.*

When a request starts, the time since the start before it is divided among the limits that were in
force, in the order in which they ended. With a delay of 0.25 s, one request at a time and
responses that take 0.2 s, each request waits 0.2 s for the concurrency and 0.25 s for the delay.
Time that no limit explains is the crawler's own.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlproject.frontier.hosts import Host


class Limit(IntEnum):
    """What a request waits for. Its number is its place in ``Host.waited``."""

    DELAY = 0
    CRAWL_DELAY = 1
    RATE = 2
    AUTOTHROTTLE = 3
    CONCURRENCY = 4
    HOLD = 5
    # The host could have been asked: the crawler was busy, or had all of its requests in flight.
    CRAWLER = 6


class Bottleneck(NamedTuple):
    """The host that waited longest, and the limit that it waited for most."""

    host: str
    limit: Limit
    # That this limit cost, and all limits of the host together.
    seconds: float
    waited: float
    # To that host, in this run.
    requests: int
    # Of the limit: seconds, requests a second, or requests in flight.
    value: float
    # Requests in flight at all hosts together, at most.
    most_in_flight: int = 0


def add_waiting(host: Host, now: float) -> None:
    """A request for a queued URL starts: account for the time since the start before it."""
    since = max(host.accounted_at, host.queued_at)
    if since == float("-inf") or since >= now:
        return
    if host.waited is None:
        host.waited = [0.0] * len(Limit)
    interval_limit = Limit.AUTOTHROTTLE if host.is_throttled() else Limit.RATE
    is_held = host.ready_at > host.delayed_until
    limits = [(host.freed_at, _cap_limit(host)), (host.started_at + host.interval, interval_limit)]
    if is_held or host.delay:
        limits.append((host.ready_at, Limit.HOLD if is_held else _delay_limit(host)))
    for until, limit in sorted(limits):
        if until > since:
            end = min(until, now)
            host.waited[limit] += end - since
            since = end
    host.waited[Limit.CRAWLER] += now - since


def _cap_limit(host: Host) -> Limit:
    if host.min_delay > 0:
        return Limit.CRAWL_DELAY
    return Limit.AUTOTHROTTLE if host.limits.is_target else Limit.CONCURRENCY


def _delay_limit(host: Host) -> Limit:
    return Limit.CRAWL_DELAY if host.min_delay >= host.limits.delay else Limit.DELAY


def bottleneck_of(hosts: Iterable[Host], most_in_flight: int) -> Bottleneck | None:
    """Of all hosts, the one that waited longest; None: none has waited."""
    slowest: Host | None = None
    longest = 0.0
    for host in hosts:
        if host.waited is not None and (waited := sum(host.waited)) > longest:
            slowest, longest = host, waited
    if slowest is None or slowest.waited is None:
        return None
    seconds = max(slowest.waited)
    limit = Limit(slowest.waited.index(seconds))
    value = {
        Limit.DELAY: slowest.limits.delay,
        Limit.CRAWL_DELAY: slowest.min_delay,
        Limit.RATE: slowest.limits.rate,
        Limit.AUTOTHROTTLE: slowest.interval,
        Limit.CONCURRENCY: float(slowest.limits.concurrency),
    }.get(limit, 0.0)
    return Bottleneck(slowest.name, limit, seconds, longest, slowest.started, value, most_in_flight)
