"""Values in Redis that are not ours: counted, moved aside, reported, and never run."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from redis.exceptions import ResponseError

from crawlproject.frontier.redis.trouble import Mended

if TYPE_CHECKING:
    from crawlproject.frontier.redis.scripts import Scripts

logger = logging.getLogger(__name__)

# How many are kept, and how much of each.
MOST, _MOST_BYTES = 1000, 4096


class Aside:
    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self.count = 0

    def put(self, key: str, value: bytes, problem: str) -> None:
        """``key`` is without the crawl's prefix. Whoever calls takes the value away."""
        self.count += 1
        words = f"{key}: {problem}: ".encode("utf-8", "surrogateescape")
        # A count that is not ours either is not worth the crawl.
        with suppress(ResponseError, Mended):
            self._scripts.ask_all(
                [
                    ("RPUSH", "aside", words + value[:_MOST_BYTES]),
                    ("LTRIM", "aside", -MOST, -1),
                    ("HINCRBY", "meta", "malformed", 1),
                ],
                as_one=True,
            )
        level = logging.WARNING if self.count == 1 else logging.INFO
        logger.log(
            level,
            "A value in Redis is not ours, and was moved to %r: %r has %s",
            f"{self._scripts.prefix}aside",
            f"{self._scripts.prefix}{key}",
            problem,
        )

    def move(self, key: str, value: bytes, problem: str) -> None:
        """The same for all that a key has."""
        self.put(key, value, problem)
        self._scripts.ask("DEL", key)


class LeftThere(Aside):
    """For who only looks on: what is not ours is counted, and stays."""

    def put(self, key: str, value: bytes, problem: str) -> None:
        self.count += 1

    def move(self, key: str, value: bytes, problem: str) -> None:
        self.count += 1
