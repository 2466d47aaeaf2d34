"""Fixtures for all rooms. Nothing here may import the reactor: pytest-twisted installs it."""

from tests import chance
from tests.redis_server import (
    redis_cluster,
    redis_server,
    redis_url,
    session_cluster,
    session_redis,
)
from tests.site.fixture import site

__all__ = [
    "chance",
    "redis_cluster",
    "redis_server",
    "redis_url",
    "session_cluster",
    "session_redis",
    "site",
]
