"""The URLs of ``bench frontier``: pages of links, new or known. *Pure.*

A URL has a number, which says all about it, so that a known one costs nothing to remember.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Links of a page that brings nothing but new ones.
NEW_LINKS = 100
# … and of one in the middle of a crawl: the navigation of its site, pages met before, new ones.
NAVIGATION_LINKS = 40
KNOWN_LINKS = 18
FEW_NEW_LINKS = 2
LINKS = NAVIGATION_LINKS + KNOWN_LINKS + FEW_NEW_LINKS
# Sites whose pages are fetched at about the same time: their navigation is what is hot.
_SITES = 100

SEED = "http://seed.example/"


class Workload:
    """``urls`` URLs on ``hosts`` hosts, the neighbours of one all on different hosts."""

    def __init__(self, urls: int, hosts: int) -> None:
        self.urls = urls
        self.hosts = hosts

    def url(self, number: int) -> str:
        host = number * 2_654_435_761 % 2**32 % self.hosts
        return f"http://www.host-{host}.example/section-{number % 97}/the-title-{number}.html"

    def new(self) -> Iterator[list[str]]:
        """Pages that bring every URL once."""
        for start in range(0, self.urls, NEW_LINKS):
            end = min(start + NEW_LINKS, self.urls)
            yield [self.url(number) for number in range(start, end)]

    def mostly_known(self, pages: int) -> Iterator[list[str]]:
        """Pages of LINKS links, of which FEW_NEW_LINKS are new after ``new``."""
        random = Random(pages)  # noqa: S311  (the same each time, and no secret)
        sites = [
            [self.url(random.randrange(self.urls)) for _ in range(NAVIGATION_LINKS)]
            for _ in range(_SITES)
        ]
        for page in range(pages):
            known = [self.url(random.randrange(self.urls)) for _ in range(KNOWN_LINKS)]
            first = self.urls + page * FEW_NEW_LINKS
            new = [self.url(number) for number in range(first, first + FEW_NEW_LINKS)]
            yield [*random.choice(sites), *known, *new]
