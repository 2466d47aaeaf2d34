"""Seeds that are fed while the crawl runs (``feeding.py``), let in by the committer.

They are removed from where they were fed when they are in the frontier: a kill in between
costs nothing. What is no seed for this spider is moved aside, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlproject.frontier.redis.fed import Fed
    from crawlproject.frontier.redis.feeding import Feed

# Seeds that are let in at once.
_AT_ONCE = 1000


class Seeding:
    """``seed_of`` gives the canonical form of a seed, or raises BadInput."""

    def __init__(self, feed: Feed, seed_of: Callable[[str], str]) -> None:
        self._feed = feed
        self._seed_of = seed_of
        self._fed: list[Fed] = []

    def look(self) -> list[str]:
        """The next seeds."""
        self._fed = []
        seeds = []
        for fed in self._feed.peek(_AT_ONCE):
            try:
                if fed.method != "GET":
                    raise BadInput(f"it is a {fed.method}, and this spider starts with GET only")
                seeds.append(self._seed_of(fed.url))
            except BadInput as error:
                self._feed.set_aside(fed.raw, str(error))
            else:
                self._fed.append(fed)
        return seeds

    def done(self) -> None:
        """Those of the last look are in the frontier for good."""
        self._feed.remove(self._fed)
        self._fed = []
