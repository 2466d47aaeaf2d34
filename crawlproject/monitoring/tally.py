"""What the pages of a crawl add up to, in memory that does not grow with their number. Pure."""

from __future__ import annotations

import re
from bisect import insort
from collections import Counter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from crawlproject.failures import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.items import Page

T = TypeVar("T")

DENIED = "robots"
OTHER = "other"
# A server may answer any number as its status, and a team's own gatekeeper any word.
MAX_OUTCOMES = 200

_STATUS_ERROR = re.compile(r"unexpected status \d+")


class Broken(NamedTuple):
    """A page that could not be had, and a page that links to it."""

    url: str
    status: int | None
    error: str
    referrer: str | None


class Slow(NamedTuple):
    fetch_ms: int
    url: str


class First(Generic[T]):
    """The first few, by ``key``, of all the values it was shown."""

    def __init__(self, limit: int, key: Callable[[T], tuple[int, str]]) -> None:
        self._limit = limit
        self._key = key
        self._values: list[T] = []

    def offer(self, value: T) -> None:
        values = self._values
        if len(values) >= self._limit:
            if not values or self._key(value) >= self._key(values[-1]):
                return
            values.pop()
        insort(values, value, key=self._key)

    def __iter__(self) -> Iterator[T]:
        return iter(self._values)


class Tally:
    """Counts, and the few pages worth naming.

    A page is *fine*, *denied* (robots.txt says no), *refused* (by a team's own gatekeeper, in a
    word of its own) or *broken* (any other error, a robots.txt that can't be had among them).
    ``outcomes`` counts each page once, by its status and the word of its error. The word is
    absent where the status says it all, the status where there was no answer.
    ``first_broken`` is ordered by URL, ``slowest`` by time.
    """

    def __init__(self, *, slowest: int = 5, broken: int = 15) -> None:
        self.pages = 0
        self.fine = 0
        self.denied = 0
        self.refused = 0
        self.broken = 0
        self.bytes = 0
        self.deepest = 0
        self.outcomes: Counter[tuple[int | None, str | None]] = Counter()
        self.slowest: First[Slow] = First(slowest, lambda page: (-page.fetch_ms, page.url))
        self.first_broken: First[Broken] = First(broken, lambda page: (0, page.url))

    def add(self, page: Page) -> None:
        self.pages += 1
        self.bytes += page.bytes or 0
        self.deepest = max(self.deepest, page.depth)
        word = error_word(page.error)
        self._count((page.status_code, word))
        if page.fetch_ms is not None:
            self.slowest.offer(Slow(page.fetch_ms, page.url))
        if page.error is None:
            self.fine += 1
        elif page.error == DENIED:
            self.denied += 1
        elif _is_refusal(page.status_code, word):
            self.refused += 1
        else:
            self.broken += 1
            self.first_broken.offer(Broken(page.url, page.status_code, page.error, page.referrer))

    @property
    def by_status(self) -> Counter[int | None]:
        """Pages by status; None: there was no answer."""
        counts: Counter[int | None] = Counter()
        for (status, _), count in self.outcomes.items():
            counts[status] += count
        return counts

    @property
    def by_error(self) -> Counter[str]:
        """Pages by the word of their error, without those that the status speaks for."""
        counts: Counter[str] = Counter()
        for (_, word), count in self.outcomes.items():
            if word is not None:
                counts[word] += count
        return counts

    @property
    def refusals(self) -> list[str]:
        """The words of refusals, the most frequent first."""
        counts = {
            word: count
            for (status, word), count in self.outcomes.items()
            if word is not None and _is_refusal(status, word)
        }
        return sorted(counts, key=lambda word: (-counts[word], word))

    def _count(self, outcome: tuple[int | None, str | None]) -> None:
        if outcome not in self.outcomes and len(self.outcomes) >= MAX_OUTCOMES:
            outcome = (None, OTHER)
        self.outcomes[outcome] += 1


def _is_refusal(status: int | None, word: str | None) -> bool:
    """Whether nothing was asked for, for a reason that is none of ours."""
    return status is None and word is not None and word not in WORDS and word != OTHER


def error_word(error: str | None) -> str | None:
    """The fixed word of an error, without its detail; None where the status says it."""
    if error is None or _STATUS_ERROR.fullmatch(error):
        return None
    return error.partition(":")[0].strip() or OTHER
