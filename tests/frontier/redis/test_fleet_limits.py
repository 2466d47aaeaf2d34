"""Several workers at one host, with a clock of the test's own: its limits hold for all together."""

from __future__ import annotations

from contextlib import ExitStack, closing
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from tests.frontier.engines import fetched, joined

if TYPE_CHECKING:
    from crawlproject.frontier.base import Lease

URLS = 40


class Host:
    """What the server would see: starts and ends, on the clock of the test."""

    def __init__(self, limits: HostLimits, crawl_delay: float = 0.0) -> None:
        self.limits = limits
        self.crawl_delay = crawl_delay
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.in_flight = self.most_in_flight = 0

    def start(self, now: float) -> None:
        limits = self.limits
        cap = 1 if self.crawl_delay else limits.concurrency
        assert self.in_flight < cap
        delay = max(limits.delay, self.crawl_delay)
        assert all(now >= end + delay for end in self.ends[-1:])
        if self.starts and limits.rate:
            assert now >= self.starts[-1] + 1 / limits.rate
        self.starts.append(now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def end(self, now: float) -> None:
        self.ends.append(now)
        self.in_flight -= 1


def crawl(workers: list[Any], host: Host, chance: Random) -> None:
    """Take and fetch by chance, until there is nothing left."""
    flying: list[tuple[Any, Lease]] = []
    now = 0.0
    for _ in range(3_000):
        now += chance.choice((0.0, 0.125, 0.25))
        worker = chance.choice(workers)
        if flying and chance.random() < 0.4:
            owner, lease = flying.pop(chance.randrange(len(flying)))
            host.end(now)
            owner._now = now
            fetched(owner, lease, now=now)
        elif (lease := worker.take(now)) is not None:
            if chance.random() < 0.2:
                # It never reaches the host, as what robots.txt denies.
                worker.finish(lease)
            else:
                host.start(now)
                flying.append((worker, lease))
        elif not flying:
            # One of them commits what the others have handed in.
            for one in workers:
                one._now = now
                one.commit()
        if all(one.exhausted() for one in workers) and not flying:
            return
    raise AssertionError("the crawl does not end")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ahead", [0.0, 2.0])
@pytest.mark.parametrize(
    ("limits", "crawl_delay"),
    [
        (HostLimits(0.5, 2), 0.0),
        (HostLimits(0.0, 3, rate=2.0), 0.0),
        (HostLimits(0.25, 3, rate=1.0), 0.0),
        (HostLimits(0.25, 3), 1.0),
        (HostLimits(0.0, 3), 0.0),
    ],
)
def test_several_workers_keep_the_limits_of_a_host_together(
    redis_url: str, limits: HostLimits, crawl_delay: float, ahead: float, seed: int
) -> None:
    host = Host(limits, crawl_delay)
    options: dict[str, Any] = {"limits": {"a": limits}, "ahead": ahead, "room": 4, "now": 0.0}
    with ExitStack() as stack:
        workers = [stack.enter_context(closing(joined(redis_url, **options))) for _ in range(3)]
        workers[0].admit(Candidate(f"a/{number}") for number in range(URLS))
        if crawl_delay:
            workers[0].set_min_delay("a", crawl_delay)
            for worker in workers:
                worker.commit()
        crawl(workers, host, Random(seed))
        assert workers[0].counts().done == URLS
    if not limits.rate:
        # With a rate it is a matter of chance.
        assert host.most_in_flight == (1 if crawl_delay else limits.concurrency)


def test_what_a_lost_worker_had_in_flight_counts_until_its_session_ends(redis_url: str) -> None:
    limits = HostLimits(2.0, 2, rate=0.25)
    options: dict[str, Any] = {"limits": {"a": limits}, "now": 0.0}
    with closing(joined(redis_url, **options)) as first:
        first.admit(Candidate(f"a/{number}") for number in range(4))
        assert first.take(0) is not None
        with closing(joined(redis_url, **options)) as second:
            # The host is the first worker's alone.
            assert second.take(100) is None
            # Its time is up: whatever it has started, and when, was before.
            second._scripts.run("leave", (first.session.worker, "200.0"))
            assert second.take(203.9) is None
            assert second.take(204) is not None
            # Both slots of the host are the second worker's now.
            assert second.take(207.9) is None
            assert second.take(208) is not None
            assert second.take(300) is None
