"""A web that has changed is visited again by several workers: as by one machine, as if anew."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from scrapy.statscollectors import DummyStatsCollector
from scrapy.utils.test import get_crawler

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.rounds import ALL, end_round, visit_again
from crawlproject.frontier.visits import Recrawl
from tests.chance import times
from tests.frontier.redis.test_fleet_order import Crew, client
from tests.frontier.test_revisits import (
    DAY,
    SITEMAP,
    answer_visit,
    changing,
    known_in,
    play,
    without_past,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from crawlproject.frontier.redis.frontier import RedisFrontier
    from tests.frontier.test_order import Known, Web

__all__ = ["client"]


class Visitors(Crew):
    """Workers that come back."""

    named: Sequence[str] = ()

    def _join(self) -> RedisFrontier:
        self._options["recrawl"] = Recrawl()
        worker = super()._join()
        worker.admit([Candidate(SITEMAP)], depth=1)
        return worker

    def begin(self, web: Web, named: Sequence[str], now: float) -> None:
        self._web, self.named, self._now = web, named, now
        self.asked.clear()
        if now:
            visit_again(self.workers[0], ALL, now, now, DummyStatsCollector(get_crawler()))

    def finish_one(self) -> None:
        worker, lease = self.flying.pop(self._luck.randrange(len(self.flying)))
        worker.landed(lease, self._now)
        answer_visit(self._web, self.named, lease, self._now)
        worker.finish(lease)

    def is_done(self) -> bool:
        if not super().is_done():
            return False
        self.workers[0].settle(self._now)
        return super().is_done()

    def end(self) -> Known:
        end_round(self.workers[0], "finished", self._now)
        return without_past(self.known())


def visit_together(crew: Visitors, luck: random.Random, killed: float) -> None:
    idle = 0
    while True:
        crew.take()
        if luck.random() < killed:
            crew.end_session_of_one(is_killed=luck.random() < 0.5)
        elif crew.flying:
            crew.finish_one()
        elif crew.is_done():
            return
        else:
            idle += 1
            assert idle < 1000, "there is something to do, but nobody gets it"


@times(0.4)
@given(
    web=changing(),
    seed=st.integers(0, 10**6),
    depth_limit=st.sampled_from([None, 1, 2, 3]),
    killed=st.sampled_from([0.0, 0.2]),
)
def test_after_a_round_of_visits_the_answer_is_that_of_a_new_crawl(
    client: Redis,
    web: tuple[list[Web], list[list[str]]],
    seed: int,
    depth_limit: int | None,
    killed: float,
) -> None:
    luck = random.Random(seed)
    options: dict[str, Any] = {"in_flight": luck.choice([1, 2, 4]), "depth_limit": depth_limit}
    generations, sitemaps = web
    crew = Visitors(client, generations[0], ("p0",), luck, **options)
    for number, (one, named) in enumerate(zip(generations, sitemaps, strict=True)):
        crew.begin(one, named, number * DAY)
        visit_together(crew, luck, killed)
        fresh = connect_to_memory()
        play(one, named, luck, fresh, depth_limit=depth_limit)
        assert crew.end() == known_in(fresh)
    for worker in crew.workers:
        with closing(worker):
            assert worker.failure is None
