"""Removing a crawl from Redis."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

    from crawlproject.frontier.redis.scripts import Scripts

logger = logging.getLogger(__name__)

# Keys that are removed at once.
_AT_ONCE = 1000


def forget_if_alone(scripts: Scripts) -> bool:
    """Remove a crawl, unless somebody works on it: whether it was removed."""
    # A session that was killed has ended when its time is up.
    seconds, microseconds = scripts.client.time()
    now = seconds + microseconds / 1e6
    if scripts.ask("ZCOUNT", "workers", now, "+inf"):
        logger.warning("The crawl is not removed from Redis: other workers are at it")
        return False
    forget(scripts.client, scripts.prefix)
    return True


def forget(client: Redis, prefix: str) -> None:
    """Remove all keys of a crawl."""
    for some in keys_of(client, prefix):
        client.unlink(*some)


def keys_of(client: Redis, prefix: str) -> Iterator[list[bytes]]:
    """All keys of a crawl, some at a time."""
    escaped = "".join(f"[{letter}]" if letter in "*?[]^\\" else letter for letter in prefix)
    keys = []
    for key in client.scan_iter(match=f"{escaped}*", count=_AT_ONCE):
        keys.append(key)
        if len(keys) >= _AT_ONCE:
            yield keys
            keys = []
    if keys:
        yield keys
