"""A host that gets slower while several workers are at it."""

from __future__ import annotations

from typing import Any

from redis import Redis

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.scripts import Scripts

RULES: dict[str, Any] = {
    "depth_limit": None,
    "budget": None,
    "budgets": None,
    "capacity": None,
    "max_redirects": 20,
    "seeds_first": False,
}


def worker(url: str, name: str) -> RedisFrontier:
    return RedisFrontier(
        Scripts(Redis.from_url(url), "slower"),
        name,
        host_of=lambda url: url.split("/")[0],
        limits=lambda host: HostLimits(0, 2),
        lasts=1e9,
        ahead=4.0,
        room=8,
        now=0,
        **RULES,
    )


def test_one_worker_keeps_it_and_the_others_give_back_what_they_have(redis_url: str) -> None:
    first, second = worker(redis_url, "first"), worker(redis_url, "second")
    first.admit(Candidate(f"a/{number}") for number in range(8))
    one, other = first.take(0), second.take(0)
    assert one is not None
    assert other is not None
    # It asks for time: from now on it has one request at a time, of all workers.
    first.set_min_delay("a", 5)
    second.commit()
    first.landed(one, 0)
    first.finish(one)
    second.landed(other, 0)
    second.finish(other)
    starts: list[float] = []
    for now in range(1, 60):
        for frontier in (first, second):
            lease = frontier.take(now)
            if lease is not None:
                starts.append(now)
                frontier.landed(lease, now)
                frontier.finish(lease)
    assert starts == [5, 10, 15, 20, 25, 30]
    assert first.exhausted()
    assert second.counts().done == 8


def test_a_worker_keeps_its_hosts_until_another_has_nothing_to_do(redis_url: str) -> None:
    first = worker(redis_url, "first")
    first.admit(Candidate(f"{host}/{number}") for host in "abcd" for number in range(20))

    def ask(frontier: RedisFrontier, now: float) -> str | None:
        lease = frontier.take(now)
        if lease is None:
            return None
        frontier.landed(lease, now)
        frontier.finish(lease)
        return lease.host

    # What it works at stays its own.
    assert {ask(first, now) for now in range(20)} == {"a"}
    second = worker(redis_url, "second")
    given = set()
    for now in range(20, 100):
        ask(first, now)
        given.add(ask(second, now))
    assert given - {None}
