"""What the pages of a crawl add up to, in memory that does not grow with their number. Pure."""

from __future__ import annotations

import re
from bisect import insort
from collections import Counter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from crawlproject.failures import WORDS
from crawlproject.monitoring.times import Times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.items import Page

T = TypeVar("T")

# What a page can turn out to be.
FINE = "fine"
BROKEN = "broken"
BLOCKED = "blocked"
DENIED = "denied"
REFUSED = "refused"
OUTCOMES = (FINE, BROKEN, BLOCKED, DENIED, REFUSED)

OTHER = "other"
# The server is there and so is the page, perhaps; it is not for us: Unauthorized, Forbidden, Too
# Many Requests.
BLOCKING = frozenset({401, 403, 429})
# A server may answer any number as its status, and a team's own gatekeeper any word.
MAX_OUTCOMES = 200

BY_ROBOTS = "robots"
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

    ``outcome_of`` says what a page is: fine, broken …
    ``outcomes`` counts each page once, by its status and the word of its error. The word is
    absent where the status says it all, the status where there was no answer.
    ``first_broken`` and ``first_blocked`` are ordered by URL, ``slowest`` by time.
    """

    def __init__(self, *, slowest: int = 5, broken: int = 15) -> None:
        self.pages = 0
        self.by_outcome = dict.fromkeys(OUTCOMES, 0)
        self.bytes = 0
        self.deepest = 0
        self.outcomes: Counter[tuple[int | None, str | None]] = Counter()
        self.times = Times()
        self.slowest: First[Slow] = First(slowest, lambda page: (-page.fetch_ms, page.url))
        self.first_broken: First[Broken] = First(broken, lambda page: (0, page.url))
        self.first_blocked: First[Broken] = First(broken, lambda page: (0, page.url))

    def add(self, page: Page) -> None:
        self.pages += 1
        self.bytes += page.bytes or 0
        self.deepest = max(self.deepest, page.depth)
        self._count((page.status_code, error_word(page.error)))
        if page.fetch_ms is not None:
            self.times.add(page.fetch_ms)
            self.slowest.offer(Slow(page.fetch_ms, page.url))
        outcome = outcome_of(page.status_code, page.error)
        self.by_outcome[outcome] += 1
        if page.error is not None and outcome in (BROKEN, BLOCKED):
            first = self.first_broken if outcome == BROKEN else self.first_blocked
            first.offer(Broken(page.url, page.status_code, page.error, page.referrer))

    @property
    def fine(self) -> int:
        return self.by_outcome[FINE]

    @property
    def broken(self) -> int:
        return self.by_outcome[BROKEN]

    @property
    def blocked(self) -> int:
        return self.by_outcome[BLOCKED]

    @property
    def denied(self) -> int:
        return self.by_outcome[DENIED]

    @property
    def refused(self) -> int:
        return self.by_outcome[REFUSED]

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


def outcome_of(status: int | None, error: str | None) -> str:
    """What a page is: *fine*, *denied* (robots.txt says no), *refused* (by a team's own gatekeeper,
    in a word of its own), *blocked* (its server wants a password, forbids it, or asks for less) or
    *broken* (any other error, a robots.txt that can't be had among them).
    """
    if error is None:
        return FINE
    if error == BY_ROBOTS:
        return DENIED
    word = error_word(error)
    if _is_refusal(status, word):
        return REFUSED
    return BLOCKED if word is None and status in BLOCKING else BROKEN


def _is_refusal(status: int | None, word: str | None) -> bool:
    """Whether nothing was asked for, for a reason that is none of ours."""
    return status is None and word is not None and word not in WORDS and word != OTHER


def error_word(error: str | None) -> str | None:
    """The fixed word of an error, without its detail; None where the status says it."""
    if error is None or _STATUS_ERROR.fullmatch(error):
        return None
    return error.partition(":")[0].strip() or OTHER
