"""What can be wrong with what a user gives us.

BadInput
 ├── BadArgument         a spider argument, a setting, a seed
 ├── BadOutput           a file that can't be written
 ├── BadCrawlDirectory   a crawl directory that can't be used as it is
 └── BadRedis            a Redis that can't be reached, or can't hold a crawl as it is
"""

from __future__ import annotations


class BadInput(ValueError):
    """One line for the user: what was wrong, and what would be right. Exit status 2."""


class BadArgument(BadInput):
    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem


class BadOutput(BadInput):
    pass


class BadCrawlDirectory(BadInput):
    """It was not touched."""


class BadRedis(BadInput):
    """It was not changed. No password is in the message."""
