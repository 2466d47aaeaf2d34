"""A worker's duty while it is the committer: when to commit, and what to do if that fails."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawlproject.frontier.clock import now
from crawlproject.frontier.redis.batch import Fenced, finish
from crawlproject.frontier.redis.committer import Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.redis.committer import Committer
    from crawlproject.frontier.redis.scripts import Scripts
    from crawlproject.frontier.redis.session import Reply

logger = logging.getLogger(__name__)

# Seconds between two looks for new seeds.
_SEEDS_EVERY = 1.0


class Duty:
    """``make`` makes a committer for a term, which reads from Redis where the last one stopped."""

    def __init__(self, scripts: Scripts, make: Callable[[str], Committer], *, is_fed: bool) -> None:
        self._scripts = scripts
        self._make = make
        self._is_fed = is_fed
        # When it is looked for new seeds.
        self._look_at = float("-inf")
        self._committer: Committer | None = None

    def check(self, term: str | None) -> None:
        """What was known in another term is out of date."""
        if self._committer is not None and self._committer.term != term:
            self._committer = None

    def has_to_commit(self, reply: Reply) -> bool:
        """Whether there is something to do, if this worker is the committer."""
        if self._committer is None:
            return True
        self._committer.taken = reply.leased
        if self._is_fed and time.monotonic() > self._look_at:
            self._look_at = time.monotonic() + _SEEDS_EVERY
            return True
        if self._committer.has_to_look(now()):
            return True
        return reply.inbox > 0 or self._committer.has_room_again()

    def commit_some(self, term: str) -> int:
        """Commit some of what was handed in: how many messages."""
        try:
            if self._committer is None:
                self._committer = self._new(term)
            return self._committer.commit()
        except Fenced:
            self._committer = None
            return 0
        except RedisError:
            self._committer = None
            raise
        except Exception:
            # Whatever is in a message, it costs that message at most.
            logger.debug("A batch failed", exc_info=True)
            return self._commit_one(term)

    def commit_waiting(self) -> bool:
        """Let the links of one page in that wait for room: whether there was one."""
        return self._committer is not None and self._committer.commit_waiting()

    def _commit_one(self, term: str) -> int:
        """One of the next messages can't be used: all that can are committed."""
        self._committer = self._new(term)
        try:
            self._committer.commit_one()
        except Fenced:
            self._committer = None
        except Unusable as error:
            # What is in memory is half changed.
            self._committer = self._new(term)
            self._committer.drop_one(error.shard)
            if error.number is not None:
                self._fail(error.number, term)
        return 1

    def _fail(self, number: int, term: str) -> None:
        assert self._committer is not None
        try:
            self._committer.fail(number)
        except RedisError:
            raise
        except Exception:
            # There is no such URL.
            logger.debug("A URL can't be failed", exc_info=True)
            self._committer = self._new(term)

    def _new(self, term: str) -> Committer:
        finish(self._scripts, term)
        committer = self._make(term)
        committer.write()
        return committer
