"""A redis-server of a test's own: it may be stopped and started again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from crawlproject.frontier.redis.binary import Server

if TYPE_CHECKING:
    from collections.abc import Iterator


class OwnRedis:
    def __init__(self, server: Server) -> None:
        self.url = server.url
        self.start, self.stop = server.start, server.stop
        # Nobody here knows the type of a client whose answers are of any type.
        self.client: Any = Redis.from_url(server.url)


@pytest.fixture
def own_redis() -> Iterator[OwnRedis]:
    with Server() as server:
        redis = OwnRedis(server)
        yield redis
        redis.client.close()
