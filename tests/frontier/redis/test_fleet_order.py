"""Same site, same answer: what several workers find together is what one machine finds alone.

Random webs, with answers in a random order from workers that are killed, or that lose their
session and go on, against the same crawl in a crawl directory.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.keys import prefix_of
from crawlproject.frontier.redis.scripts import Scripts
from tests.chance import times
from tests.frontier.test_order import answer, crawl, groups_of, known_to, webs
from tests.redis_server import connected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis import Redis

    from crawlproject.frontier.base import Lease
    from crawlproject.frontier.redis.binary import Server
    from tests.frontier.test_order import Known, Web


@pytest.fixture(scope="module")
def client(session_redis: Server) -> Iterator[Redis]:
    with connected(session_redis) as client:
        yield client


class Crew:
    """Workers of one crawl, each of which asks Redis at once."""

    def __init__(
        self, client: Redis, web: Web, seeds: Sequence[str], luck: random.Random, **options: Any
    ) -> None:
        self._client, self._web, self._seeds, self._luck = client, web, seeds, luck
        self._options = options
        self._in_flight = options.pop("in_flight")
        self._group_budget = options.pop("group_budget", None)
        self._crawl = f"order-{token_hex(4)}"
        self.flying: list[tuple[RedisFrontier, Lease]] = []
        self.asked: Counter[str] = Counter()
        # Requests that may be sent once more: their worker was killed, or lost its session.
        self.spared = 0
        self._now = 0.0
        self.workers = [self._join() for _ in range(luck.choice([1, 2, 3]))]

    def _join(self) -> RedisFrontier:
        options = {"depth_limit": None, "budget": None, "capacity": None, "max_redirects": 20}
        worker = RedisFrontier(
            Scripts(self._client, self._crawl),
            token_hex(4),
            host_of=lambda url: "host",
            limits=lambda host: HostLimits(0, self._in_flight),
            lasts=1e9,
            now=self._now,
            seeds_first=len(self._seeds) > 1,
            budgets=groups_of(self._group_budget),
            **{**options, **self._options},
        )
        worker.admit(Candidate(seed) for seed in self._seeds)
        return worker

    def take(self) -> None:
        """All take what they can have, one after the other."""
        self._now += 1
        for worker in self._luck.sample(self.workers, len(self.workers)):
            while (lease := worker.take(self._now)) is not None:
                self.asked[lease.url] += lease.verdict is None
                self.flying.append((worker, lease))
            assert worker.failure is None, worker.failure

    def finish_one(self) -> None:
        worker, lease = self.flying.pop(self._luck.randrange(len(self.flying)))
        worker.landed(lease, self._now)
        answer(self._web, lease)
        worker.finish(lease)

    def end_session_of_one(self, *, is_killed: bool) -> None:
        """Its time is up. One that was killed is replaced; another one goes on."""
        number = self._luck.randrange(len(self.workers))
        worker = self.workers[number]
        name = worker.session.worker
        self._client.zadd(f"{prefix_of(self._crawl)}workers", {name: float("-inf")})
        self.spared += sum(owner is worker for owner, _ in self.flying)
        if is_killed:
            self.flying = [one for one in self.flying if one[0] is not worker]
            self.workers[number] = self._join()

    def is_done(self) -> bool:
        for worker in self.workers:
            worker.commit()
        return all(worker.exhausted() for worker in self.workers)

    def known(self) -> Known:
        return known_to(self.workers[0].read())


def crawl_together(
    client: Redis,
    web: Web,
    luck: random.Random,
    *,
    seeds: Sequence[str],
    killed: float = 0.0,
    lost: float = 0.0,
    **options: Any,
) -> Known:
    """``killed`` and ``lost`` are how likely they are, at each answer."""
    crew = Crew(client, web, seeds, luck, **options)
    idle = 0
    while True:
        crew.take()
        chance = luck.random()
        if chance < killed + lost:
            crew.end_session_of_one(is_killed=chance < killed)
        elif crew.flying:
            crew.finish_one()
        elif crew.is_done():
            break
        else:
            idle += 1
            assert idle < 1000, "there is something to do, but nobody gets it"
    again = sum(count - 1 for count in crew.asked.values())
    assert again <= crew.spared
    known = crew.known()
    for worker in crew.workers:
        with closing(worker):
            assert worker.failure is None
    return known


LIMITS: dict[str, Any] = {
    "depth_limit": st.sampled_from([None, 1, 2]),
    "budget": st.sampled_from([None, 1, 2, 5, 9]),
    "capacity": st.sampled_from([None, 1, 3]),
    "max_redirects": st.sampled_from([1, 2, 20]),
    "group_budget": st.sampled_from([None, 1, 2]),
}
SEEDS = st.sampled_from([("p0",), ("p0", "p1"), ("p2", "p0", "p1")])
KINDLY = times(0.6)


@KINDLY
@given(web=webs(with_nofollow=True), seed=st.integers(0, 10**6), seeds=SEEDS, **LIMITS)
def test_the_number_of_workers_and_luck_change_nothing(
    client: Redis, web: Web, seed: int, seeds: tuple[str, ...], **limits: Any
) -> None:
    known = [name for name in seeds if name in web.links]
    alone, _ = crawl(web, random.Random(0), in_flight=1, seeds=known, **limits)
    luck = random.Random(seed)
    in_flight = luck.choice([1, 2, 4, 64])
    assert crawl_together(client, web, luck, seeds=known, in_flight=in_flight, **limits) == alone


@KINDLY
@given(web=webs(with_nofollow=True), seed=st.integers(0, 10**6), seeds=SEEDS, **LIMITS)
def test_nor_do_kills_nor_sessions_that_were_lost(
    client: Redis, web: Web, seed: int, seeds: tuple[str, ...], **limits: Any
) -> None:
    known = [name for name in seeds if name in web.links]
    alone, _ = crawl(web, random.Random(0), in_flight=1, seeds=known, **limits)
    luck = random.Random(seed)
    together = crawl_together(
        client, web, luck, seeds=known, in_flight=4, killed=0.15, lost=0.15, **limits
    )
    assert together == alone
