"""What a commit changes in Redis: commands that are run by one script, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlproject.frontier.redis.scripts import Scripts, Word

# Words of one command, at most: what Lua has room for.
_MOST_WORDS = 4_000


class Fenced(Exception):
    """Another worker is the committer now: what this one knows is out of date."""


class Batch:
    def __init__(self) -> None:
        self._words: list[Word] = []

    def call(self, command: str, key: str, *words: Word) -> None:
        """A command of Redis; ``key`` without the crawl's prefix. Many words are split in pairs."""
        for start in range(0, max(len(words), 1), _MOST_WORDS):
            some = words[start : start + _MOST_WORDS]
            self._words += (2 + len(some), command, key, *some)

    def run(self, scripts: Scripts, term: str, done: int) -> None:
        """Do all of it, and take ``done`` messages from the inbox."""
        if not scripts.run("commit", (term, done, *self._words)):
            raise Fenced
