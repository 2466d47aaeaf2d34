"""Waiting for a Redis that can't be used now, where a crawl can't go on without: at its start and
its end. In between nobody waits (``pump.py``).
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import RedisError

from crawlproject.frontier.redis.trouble import trouble_of

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Seconds that it may take, and between two attempts, at first and at most.
_LONGEST = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


def patiently(do: Callable[[], T], longest: float = _LONGEST) -> T:
    """Do something that may be done again; raises RedisError when that has failed for long."""
    ends_at = time.monotonic() + longest
    pause = 0.0
    while True:
        try:
            done = do()
        except RedisError as error:
            words = trouble_of(error)
            if words is None or time.monotonic() > ends_at:
                raise
            if not pause:
                logger.warning("Redis can't be used, so the crawl waits for it: %s", words)
            pause = min(max(_FIRST_PAUSE, 2 * pause), _LONGEST_PAUSE)
            # At a worker's start and end, where nothing else is to be done.
            time.sleep(pause)
        else:
            if pause:
                logger.warning("Redis can be used again: the crawl goes on")
            return done
