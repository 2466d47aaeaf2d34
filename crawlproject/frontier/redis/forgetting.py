"""Ending a crawl in Redis, and removing it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawlproject.frontier.redis.crawls import count_alive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.frontier.redis.scripts import Scripts

# Why a crawl has ended, in Scrapy's stats.
STOPPED = "stopped"

logger = logging.getLogger(__name__)

# Keys that are removed at once.
_AT_ONCE = 1000


def stop_all(scripts: Scripts) -> int:
    """Have all workers end, as after Ctrl-C: how many there are. A new run takes it back."""
    if workers := count_alive(scripts):
        scripts.ask("HSET", "meta", "stop", STOPPED)
    return workers


def forget_if_alone(scripts: Scripts) -> bool:
    """Remove a crawl, unless somebody works on it: whether it was removed."""
    if count_alive(scripts):
        logger.warning("The crawl is not removed from Redis: other workers are at it")
        return False
    forget(scripts)
    return True


def forget(scripts: Scripts) -> None:
    """Remove all keys of a crawl."""
    for some in keys_of(scripts):
        scripts.client.unlink(*some)


def keys_of(scripts: Scripts) -> Iterator[list[bytes]]:
    """All keys of a crawl, some at a time."""
    for prefix in scripts.prefixes:
        escaped = "".join(f"[{letter}]" if letter in "*?[]^\\" else letter for letter in prefix)
        keys = []
        for key in scripts.client.scan_iter(match=f"{escaped}*", count=_AT_ONCE):
            keys.append(key)
            if len(keys) >= _AT_ONCE:
                yield keys
                keys = []
        if keys:
            yield keys
