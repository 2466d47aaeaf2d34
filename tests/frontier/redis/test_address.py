from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawlproject.frontier.redis.address import is_shared


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"REDIS_PORT": 6380}, True),
        ({"REDIS_PORT": ""}, False),
        ({"REDIS_PARAMS": {"db": 2}}, True),
        ({"REDIS_PARAMS": "broken"}, False),
        ({"REDIS_URL": "redis://localhost"}, True),
        ({"REDIS_HOST": "localhost"}, True),
        ({"REDIS_PARAMS": {"host": "localhost"}}, True),
        ({"REDIS_PARAMS": {"url": "redis://localhost"}}, True),
    ],
)
def test_a_crawl_is_shared_where_scrapy_redis_is_told_of_a_redis(
    settings: dict[str, object], expected: bool
) -> None:
    assert is_shared(Settings(settings)) is expected
