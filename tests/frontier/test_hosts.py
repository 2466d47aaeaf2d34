"""The gate, with a clock of the test's own: its limits hold, and none of them costs more."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.bottleneck import Limit
from crawlproject.frontier.hosts import HostGate, HostLimits, Key


def gate_of(limits: HostLimits, urls: int = 1000) -> HostGate[Key]:
    gate: HostGate[Key] = HostGate(
        lambda name: limits,
        resolve=lambda key: key,
        refill=lambda host, lane, size: [],
        changed=lambda host: None,
    )
    for number in range(urls):
        gate.push(gate.host("a"), (0, number, number))
    return gate


class Fetch(NamedTuple):
    start: float
    end: float


def crawl(gate: HostGate[Key], latencies: list[float]) -> list[Fetch]:
    """Fetch one URL after the other, each as soon as the gate lets it, on a clock that jumps."""
    now = 0.0
    fetches: list[Fetch] = []
    in_flight: list[float] = []
    while len(fetches) < len(latencies):
        if gate.take(now) is not None:
            end = now + latencies[len(fetches)]
            fetches.append(Fetch(now, end))
            heappush(in_flight, end)
            continue
        moments = in_flight[:1]
        if (ready := gate.next_ready(now)) is not None:
            assert ready > now
            moments.append(ready)
        now = min(moments)
        while in_flight and in_flight[0] <= now:
            gate.landed("a", heappop(in_flight))
    return fetches


# In eighths of a second, so that sums are exact.
eighths = st.integers(0, 24).map(lambda number: number / 8)


@given(
    delay=eighths,
    concurrency=st.integers(1, 4),
    rate=st.sampled_from([0.0, 0.25, 1.0, 2.0, 8.0]),
    throttle=eighths,
    crawl_delay=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
    latencies=st.lists(st.integers(1, 24).map(lambda number: number / 8), min_size=2, max_size=30),
)
def test_every_start_keeps_all_limits_and_waits_for_nothing_else(
    delay: float,
    concurrency: int,
    rate: float,
    throttle: float,
    crawl_delay: float,
    latencies: list[float],
) -> None:
    gate = gate_of(HostLimits(delay, concurrency, start_delay=throttle, rate=rate))
    if crawl_delay:
        gate.set_min_delay("a", crawl_delay)
    fetches = crawl(gate, latencies)
    cap = 1 if crawl_delay else concurrency
    pause = max(delay, crawl_delay)
    interval = max(throttle, 1 / rate if rate else 0.0)
    for number, (start, _) in enumerate(fetches):
        before = fetches[:number]
        ended = [end for _, end in before if end <= start]
        assert sum(end > start for _, end in before) < cap
        assert all(start >= end + pause for end in ended)
        assert all(start >= other + interval for other, _ in before)
        # It could not have started at any moment before.
        latest = max((other for other, _ in before), default=0.0)
        waits = [latest, latest + interval if before else 0.0]
        waits += [end + pause for end in ended]
        if len(before) >= cap:
            ends = sorted((end for _, end in before), reverse=True)
            waits.append(ends[cap - 1])
        assert start == max(waits)


@pytest.mark.parametrize(
    ("limits", "takes", "held_up", "wait"),
    [
        # The other one ends at 3, so this one may start at 5.
        (HostLimits(delay=2, concurrency=2), [0.0, 0.0], 0, 1.5),
        # The other one has started at 2, so this one may start at 4.
        (HostLimits(0, rate=0.5, concurrency=2), [0.0, 2.0], 0, 0.5),
        (HostLimits(0, rate=0.5, concurrency=2), [0.0, 2.0], 1, 0.0),
        (HostLimits(0, concurrency=2), [0.0, 0.0], 0, 0.0),
    ],
)
def test_a_request_that_is_held_up_starts_when_its_host_may_be_asked(
    limits: HostLimits, takes: list[float], held_up: int, wait: float
) -> None:
    gate = gate_of(limits)
    assert all(gate.take(moment) for moment in takes)
    gate.landed("a", 3.0)
    assert gate.start_late("a", takes[held_up], 3.5) == wait
    started_at = 3.5 + wait
    assert not wait or gate.start_late("a", takes[held_up], started_at) == 0
    assert gate.host("a").started_at == started_at
    # It never reached the host after all.
    gate.withdraw("a", started_at)
    assert gate.host("a").started_at == takes[1 - held_up]


@given(
    delay=eighths,
    concurrency=st.integers(1, 3),
    rate=st.sampled_from([0.0, 0.5, 4.0]),
    latencies=st.lists(st.integers(1, 16).map(lambda number: number / 8), min_size=2, max_size=30),
)
def test_all_time_between_starts_is_explained_by_limits(
    delay: float, concurrency: int, rate: float, latencies: list[float]
) -> None:
    gate = gate_of(HostLimits(delay, concurrency, rate=rate))
    gate.host("a").queued_at = 0.0
    fetches = crawl(gate, latencies)
    waited = gate.host("a").waited or [0.0] * len(Limit)
    assert sum(waited) == pytest.approx(fetches[-1].start)
    assert waited[Limit.CRAWLER] == pytest.approx(0)
    assert not waited[Limit.RATE] or rate


@pytest.mark.parametrize(
    ("limits", "crawl_delay", "latency", "limit", "value"),
    [
        (HostLimits(0.25, 1), 0, 0.2, Limit.DELAY, 0.25),
        # A shorter delay would save little.
        (HostLimits(0.25, 2), 0, 2.0, Limit.CONCURRENCY, 2),
        (HostLimits(0, 4, rate=10), 0, 0.2, Limit.RATE, 10),
        (HostLimits(0, 4, rate=100), 0, 0.2, Limit.CONCURRENCY, 4),
        (HostLimits(0, 4, start_delay=0.1), 0, 0.2, Limit.AUTOTHROTTLE, 0.1),
        (HostLimits(0, 4, start_delay=0.1, rate=2), 0, 0.2, Limit.RATE, 2),
        (HostLimits(0.1, 1, is_target=True), 0, 0.2, Limit.AUTOTHROTTLE, 0),
        (HostLimits(0.25, 4), 10, 0.2, Limit.CRAWL_DELAY, 10),
        (HostLimits(0, 4), 0.1, 2.0, Limit.CRAWL_DELAY, 0.1),
    ],
)
def test_the_bottleneck_is_the_limit_that_costs_most(
    limits: HostLimits, crawl_delay: float, latency: float, limit: Limit, value: float
) -> None:
    gate = gate_of(limits)
    if crawl_delay:
        gate.set_min_delay("a", crawl_delay)
    crawl(gate, [latency] * 40)
    bottleneck = gate.bottleneck()
    assert bottleneck is not None
    assert (bottleneck.host, bottleneck.limit, bottleneck.value) == ("a", limit, value)
    assert bottleneck.requests == 40
    assert 0 < bottleneck.seconds <= bottleneck.waited


def test_a_hold_and_a_late_start_are_bottlenecks_too() -> None:
    gate = gate_of(HostLimits(1.0, 1))
    gate.take(0)
    gate.landed("a", 1)
    gate.hold("a", 50)
    gate.take(50)
    assert (found := gate.bottleneck()) is not None
    assert (found.limit, found.seconds, found.waited) == (Limit.HOLD, 49, 50)
    gate.landed("a", 51)
    # It was ready at 52, and nobody came.
    gate.take(200)
    assert (found := gate.bottleneck()) is not None
    assert (found.limit, found.seconds) == (Limit.CRAWLER, 148)


def test_a_host_without_a_queue_waits_for_no_limit() -> None:
    gate = gate_of(HostLimits(1.0, 1), urls=1)
    gate.take(0)
    gate.landed("a", 0)
    # A request without a lease, such as for robots.txt.
    assert gate.acquire_turn("a", 100) == 0
    gate.landed("a", 100)
    gate.push(gate.host("a"), (0, 1, 1))
    gate.take(101)
    assert (found := gate.bottleneck()) is not None
    assert (found.limit, found.waited) == (Limit.DELAY, 1)


def test_the_next_turn_is_kept_for_a_request_that_was_told_to_wait() -> None:
    gate = gate_of(HostLimits(2.0, 1), urls=2)
    gate.take(0)
    assert gate.acquire_turn("a", 0) > 0
    gate.landed("a", 0)
    assert gate.acquire_turn("a", 1) == 1
    assert gate.take(2) is None
    assert gate.acquire_turn("a", 2) == 0
    gate.landed("a", 2)
    assert gate.take(4) is not None


def test_a_turn_is_not_kept_for_long() -> None:
    gate = gate_of(HostLimits(2.0, 1), urls=2)
    gate.take(0)
    gate.landed("a", 0)
    assert gate.acquire_turn("a", 1) == 1
    ready = gate.next_ready(2)
    assert ready is not None
    assert 2 < ready < 2.1
    assert gate.take(ready) is not None


def test_the_host_that_waited_longest_is_the_bottleneck() -> None:
    limits = {"a": HostLimits(1.0, 1), "b": HostLimits(5.0, 1)}
    gate: HostGate[Key] = HostGate(
        limits.__getitem__,
        resolve=lambda key: key,
        refill=lambda host, lane, size: [],
        changed=lambda host: None,
    )
    assert gate.bottleneck() is None
    for name in limits:
        for number in range(2):
            gate.push(gate.host(name), (0, number, number))
    for moment in (0, 1, 5):
        while (taken := gate.take(moment)) is not None:
            gate.landed(taken[0].name, moment)
    assert (found := gate.bottleneck()) is not None
    assert (found.host, found.limit) == ("b", Limit.DELAY)


@pytest.mark.parametrize(("chance", "ready"), [(-1.0, 5.0), (0.0, 10.0), (1.0, 15.0)])
def test_jitter_varies_the_delay_but_never_below_a_crawl_delay(chance: float, ready: float) -> None:
    limits = HostLimits(10.0, 1, jitter=0.5)
    gate: HostGate[Key] = HostGate(
        lambda name: limits,
        resolve=lambda key: key,
        refill=lambda host, lane, size: [],
        changed=lambda host: None,
        vary=lambda: chance,
    )
    gate.acquire_turn("a", 0)
    gate.landed("a", 0)
    assert gate.acquire_turn("a", 0) == ready
    gate.set_min_delay("a", 8.0)
    gate.acquire_turn("a", 100)
    gate.landed("a", 100)
    assert gate.acquire_turn("a", 100) == max(ready, 8.0)


def test_a_shorter_throttle_lets_a_waiting_host_start_sooner() -> None:
    gate = gate_of(HostLimits(0, 2, start_delay=8.0))
    gate.take(0)
    assert gate.next_ready(0) == 8
    gate.set_throttle("a", 2.0)
    assert gate.next_ready(0) == 2
    assert gate.take(2) is not None


def test_a_crawl_delay_that_becomes_known_with_two_in_flight_stops_the_third() -> None:
    gate = gate_of(HostLimits(0, 3))
    gate.take(0)
    gate.take(0)
    gate.set_min_delay("a", 2.0)
    assert gate.take(0) is None
    gate.landed("a", 1)
    # One is still in flight.
    assert gate.take(10) is None
    gate.landed("a", 11)
    assert gate.next_ready(11) == 13
