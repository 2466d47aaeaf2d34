"""Exchanges in the background: a real event loop, and a Redis that can be stopped."""

from __future__ import annotations

from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.redis.binary import Server
from tests.frontier.engines import joined
from tests.redis_server import frozen
from tests.waiting import until


@deferred_f_from_coro_f
async def test_a_crawl_is_not_exhausted_while_its_news_are_on_their_way_to_redis() -> None:
    with Server() as server:
        frontier = joined(server.url)
        assert frontier.exhausted()
        frontier.go_live(lambda: None)
        try:
            with frozen(server):
                frontier.admit([Candidate("a.example/")], 0)
                # It leaves this process, and the last reply is from before it.
                await until(lambda: not frontier.desk.has_news())
                assert not frontier.exhausted()
            await until(lambda: frontier.desk.queued > 0)
            lease = frontier.take(0)
            with frozen(server):
                frontier.finish(lease)
                await until(lambda: not frontier.desk.has_news())
                assert not frontier.exhausted()
            await until(frontier.exhausted)
        finally:
            frontier.close()
