"""How many URLs are in which state, and up to which level the crawl is settled. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlproject.frontier.base import Counts, State
from crawlproject.frontier.entry import OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlproject.frontier.entry import Entry, Way
    from crawlproject.records import Record

_HAD = frozenset({State.DONE, State.FAILED})


class Census:
    """The only one that changes the state of an entry, so that the counts are always right."""

    def __init__(self) -> None:
        self._states: Counter[State] = Counter()
        self._reasons: Counter[str] = Counter()
        self._open_at: Counter[int] = Counter()
        self._floor = 0
        self._deepest = 0
        # URLs that are going to be queued, to be visited again.
        self.later = 0
        # Sitemaps that are done, or failed.
        self._sitemaps = 0

    @property
    def queued(self) -> int:
        return self._states[State.QUEUED]

    @property
    def leased(self) -> int:
        return self._states[State.LEASED]

    def floor(self) -> int:
        """The first level at which a URL is open: no shorter way can be found any more to a page
        at this level or above.
        """
        if self._floor < self._deepest and not self._open_at[self._floor]:
            self._floor = min((level for level, _ in self.open_up_to(self._deepest)), default=0)
        return self._floor

    def open_up_to(self, level: int) -> Iterator[tuple[int, int]]:
        """The levels up to this one at which URLs are open, and how many are."""
        return ((one, count) for one, count in self._open_at.items() if count and one <= level)

    def add(
        self, state: State, reason: str | None, level: int, number: int, *, are_sitemaps: bool
    ) -> None:
        """Count entries that were counted in an earlier run."""
        self._states[state] += number
        if are_sitemaps and state in _HAD:
            self._sitemaps += number
        if reason is not None:
            self._reasons[reason] += number
        if state in OPEN:
            self._open_at[level] += number
            self._deepest = max(self._deepest, level)

    def move(self, entry: Entry, state: State, reason: str | None = None) -> None:
        if entry.state is not None:
            self._states[entry.state] -= 1
        if entry.reason is not None:
            self._reasons[entry.reason] -= 1
        if entry.state in OPEN:
            self._open_at[entry.way.level] -= 1
        if entry.is_sitemap:
            self._sitemaps += (state in _HAD) - (entry.state in _HAD)
        entry.state = state
        entry.reason = reason
        self._states[state] += 1
        if reason is not None:
            self._reasons[reason] += 1
        if state in OPEN:
            self._open(entry.way.level)

    def take_way(self, entry: Entry, way: Way) -> None:
        if entry.is_open:
            self._open_at[entry.way.level] -= 1
            self._open(way.level)
        entry.way = way

    def written(self) -> Record:
        """All counts, as ``restore`` takes them."""
        return {
            "states": {state: count for state, count in self._states.items() if count},
            "reasons": {reason: count for reason, count in self._reasons.items() if count},
            "open_at": {str(level): count for level, count in self._open_at.items() if count},
            "later": self.later,
            "sitemaps": self._sitemaps,
        }

    def restore(self, written: Record) -> None:
        self._states.update({State(key): n for key, n in written.get("states", {}).items()})
        self._reasons.update(written.get("reasons", {}))
        self._open_at.update({int(key): n for key, n in written.get("open_at", {}).items()})
        self._deepest = max(self._open_at, default=0)
        self.later = int(written.get("later", 0))
        self._sitemaps = int(written.get("sitemaps", 0))

    def counts(self) -> Counts:
        return Counts(
            queued=self._states[State.QUEUED] + self.later,
            leased=self._states[State.LEASED],
            done=self._states[State.DONE],
            failed=self._states[State.FAILED],
            skipped={reason: count for reason, count in self._reasons.items() if count},
            sitemaps=self._sitemaps,
        )

    def _open(self, level: int) -> None:
        self._open_at[level] += 1
        self._floor = min(self._floor, level)
        self._deepest = max(self._deepest, level)
