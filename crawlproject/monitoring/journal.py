"""What a snapshot tells of the pages of a run, besides their tally. Pure.

Kept only while somebody wants snapshots, in memory that does not grow with the pages: of a page
some fields, and never the page, which has its answer with it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from crawlproject.monitoring.snapshot import (
    ERROR_CHARS,
    FETCH_BOUNDS,
    MAX_DEPTH,
    MAX_LATEST_ERRORS,
    MAX_LATEST_PAGES,
    TITLE_CHARS,
    URL_CHARS,
    FetchSeconds,
    LatestError,
    LatestPage,
    cut,
    cut_or_none,
)
from crawlproject.monitoring.tally import BY_ROBOTS

if TYPE_CHECKING:
    from crawlproject.items import Page

_BOUNDS_MS = [round(seconds * 1000) for seconds in FETCH_BOUNDS]


class Journal:
    def __init__(self) -> None:
        # When the first page of the run came, and the newest.
        self.first_at: float | None = None
        self.newest_at: float | None = None
        self._depths: Counter[int] = Counter()
        self._fetches = [0] * (len(_BOUNDS_MS) + 1)
        self._fetch_ms = 0
        self._pages: deque[tuple[Any, ...]] = deque(maxlen=MAX_LATEST_PAGES)
        self._errors: deque[tuple[Any, ...]] = deque(maxlen=MAX_LATEST_ERRORS)

    def add(self, page: Page, at: float) -> None:
        """A page that has come at a time. Called for each: what can wait, waits."""
        if self.first_at is None:
            self.first_at = at
        self.newest_at = at
        self._depths[min(page.depth, MAX_DEPTH)] += 1
        took = page.fetch_ms
        if took is not None:
            self._fetches[bisect_left(_BOUNDS_MS, took)] += 1
            self._fetch_ms += took
        error = page.error
        self._pages.append((page.url, page.status_code, page.title, page.depth, took, error))
        if error is not None and error != BY_ROBOTS:
            self._errors.append((page.url, page.status_code, error, page.referrer, at))

    def depths(self) -> dict[str, int]:
        return {str(depth): self._depths[depth] for depth in sorted(self._depths)}

    def fetch_seconds(self) -> FetchSeconds:
        return FetchSeconds(list(FETCH_BOUNDS), self._fetches.copy(), self._fetch_ms / 1000)

    def latest_pages(self) -> list[LatestPage]:
        """The newest first."""
        return [
            LatestPage(
                cut(url, URL_CHARS),
                _whole_number(status),
                cut_or_none(title, TITLE_CHARS),
                depth,
                _whole_number(took),
                cut_or_none(error, ERROR_CHARS),
            )
            for url, status, title, depth, took, error in reversed(self._pages)
        ]

    def latest_errors(self) -> list[LatestError]:
        """The newest first, without what robots.txt denies: that is no error."""
        return [
            LatestError(
                cut(url, URL_CHARS),
                _whole_number(status),
                cut(error, ERROR_CHARS),
                cut_or_none(referrer, URL_CHARS),
                at,
            )
            for url, status, error, referrer, at in reversed(self._errors)
        ]


def _whole_number(value: object) -> int | None:
    """A pipeline may have changed it to anything."""
    return value if type(value) is int and value >= 0 else None
