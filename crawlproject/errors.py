"""What can be wrong with what a user gives us.

BadInput
 ├── BadArgument         a spider argument, a setting, a seed
 ├── BadOutput           a file that can't be written
 ├── BadCrawlDirectory   a crawl directory that can't be used as it is
 └── BadRedis            a Redis that can't be reached, or can't hold a crawl as it is
"""

from __future__ import annotations

from crawlproject.redaction import SECRETS


class BadInput(ValueError):
    """One line for the user: what was wrong, and what would be right. Exit status 2.

    Secrets are left out of the message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(SECRETS.clean(message))


class BadArgument(BadInput):
    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        self.problem = SECRETS.clean(problem)
        super().__init__(f"{name}: {self.problem}")


class BadOutput(BadInput):
    pass


class BadCrawlDirectory(BadInput):
    """It was not touched."""


class BadRedis(BadInput):
    """It was not changed. No password is in the message."""
