"""Crawler traps: URLs that a site makes without end. Pure: URLs in, reasons and budgets out.

Three answers. A URL that goes round in circles is refused. A link that only makes the path
of its page longer is not followed (``growth.py``). URLs of a shape that can be counted up
without end share a budget of pages; the frontier counts. ``shape.py`` says which parts of a
URL vary: from three on, it is such a shape.

| URLs | answer |
|---|---|
| one segment again and again: ``/a/x/a/y/a/z/a`` | refused |
| half of the path said before: ``/a/b/a/b/a/b``, ``/x/a/b/c/a/b/c`` | refused |
| the same relative links on every page: ``/a/b/c/``, ``/b/c/a/`` | not followed from there |
| more parameters than anybody links to on purpose | refused |
| a calendar, from day to day: ``/cal/2026/11/16/``, ``?date=2026-11-16`` | budget |
| … or from month to month: ``?month=11&year=2026``, ``/cal/11/2026``, ``?month=-3`` | budget |
| three facets and more: ``?brand=b&color=c&size=s`` | budget |
| two of them, or of tags, that can be had alone too: ``?brand=b&color=c``, ``/tag/a+b`` | budget |
| … of what is called by an ID: ``/shop/12345?brand=b&color=c&size=s`` | budget of its own |
| searches: ``?q=red+shoes`` | budget |
| views of a calendar: ``/cal/2026/11/16/week``, ``/cal/year/2026/month/11/day/16`` | budget |
| numbers that grow: ``/2/2/2/2/2`` | budget |
| a new session in each link: ``?zenid=8f14e45fceea167a5a36dedd4bea2543`` | budget, for the host |
| a blog: ``/2026/11/16/some-title`` | free |
| a forum, a shop, news with IDs: ``?f=2&t=12345&start=30``, ``/2026/11/1234567.html`` | free |
| … and with small ones: ``/board/7/120/3``, ``?option=content&view=article&id=7&lang=en`` | free |
| an archive: ``/2026/``, from there to ``/2026/11/``, from there to ``/2026/11/16/`` | free |
| pages of a list: ``?page=7&sort=up`` | free |
| versions, UUIDs: ``/docs/1.2.3/``, ``/item/6fa459ea-ee8a-3ca4-894e-db77e160355e`` | free |

What is free is still held by DEPTH_LIMIT, SCOPE_MAX_PAGES and SCOPE_MAX_PAGES_PER_HOST.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.scope.dates import is_small_number
from crawlproject.scope.growth import growing
from crawlproject.scope.shape import shape_of
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from collections.abc import Collection

REPEATED_PATH = "repeated path"
GROWING_PATH = "growing path"
TOO_MANY_PARAMS = "too many parameters"
HOST_BUDGET = "host budget"
PREFIX_BUDGET = "prefix budget"

# An archive leads to a year, from there to a month and from there to a day.
_DATE_STEPS = 3


class Budget(NamedTuple):
    """Pages that a group of URLs may have between them, and the reason for the others.

    It counts only where all URLs of ``alone`` are known, no deeper than the one it is for.
    The first ``steps`` links into groups that have them are always fetched: they count, but may
    exceed it.
    """

    group: str
    pages: int
    reason: str
    alone: tuple[str, ...] = ()
    steps: int = 0


class Traps:
    """The limits, each 0 for none."""

    def __init__(
        self,
        *,
        max_repeated_segments: int = 0,
        max_query_params: int = 0,
        max_pages_per_host: int = 0,
        max_pages_per_prefix: int = 0,
    ) -> None:
        self._max_repeated = max_repeated_segments
        self._repeated_path = f"{REPEATED_PATH}: SCOPE_MAX_REPEATED_SEGMENTS={self._max_repeated}"
        self._growing_path = f"{GROWING_PATH}: SCOPE_MAX_REPEATED_SEGMENTS={self._max_repeated}"
        self._max_params = max_query_params
        self._too_many_params = f"{TOO_MANY_PARAMS}: SCOPE_MAX_QUERY_PARAMS={self._max_params}"
        self._max_per_host = max_pages_per_host
        self._max_per_prefix = max_pages_per_prefix
        # A group has many URLs, and often the next one is of the same.
        self._host_budget = lru_cache(maxsize=16_384)(self._make_host_budget)
        self._prefix_budget = lru_cache(maxsize=1_024)(self._make_prefix_budget)

    def reason(self, url: str) -> str | None:
        """Why a canonical URL is a trap by itself; None when it is not."""
        # Counting characters screens nearly all URLs. Three slashes come before the path.
        if (
            self._max_repeated
            and url.count("/") > self._max_repeated + 2
            and self._goes_round(url.partition("?")[0].split("/")[3:])
        ):
            return self._repeated_path
        if (
            self._max_params
            and url.count("&") >= self._max_params
            and url.partition("?")[2].count("&") >= self._max_params
        ):
            return self._too_many_params
        return None

    def reasons_on(self, page: str, links: Collection[str]) -> dict[str, str]:
        """Which links of a page are a trap because of the page they are on, and why."""
        if not self._max_repeated:
            return {}
        return dict.fromkeys(growing(page, links), self._growing_path)

    def budgets(self, url: str) -> tuple[Budget, ...]:
        """The budgets that a canonical URL draws on."""
        shape = shape_of(url) if self._max_per_prefix else None
        prefix: tuple[Budget, ...] = ()
        if shape is not None:
            budget = self._prefix_budget(shape.group)
            if shape.alone or shape.is_date:
                steps = _DATE_STEPS if shape.is_date else 0
                budget = budget._replace(alone=shape.alone, steps=steps)
            prefix = (budget,)
        return (self._host_budget(host_of(url)), *prefix) if self._max_per_host else prefix

    def _goes_round(self, segments: list[str]) -> bool:
        if len(set(segments)) == len(segments):
            return False
        if not segments[-1]:
            segments.pop()
        # Dates repeat small numbers, and where those grow without end they have a budget.
        names = [segment for segment in segments if not is_small_number(segment)]
        times = Counter(names)
        if max(times.values(), default=0) > self._max_repeated:
            return True
        start = 0
        while start < len(names) and times[names[start]] == 1:
            start += 1
        circle = names[start:]
        return len(circle) >= 2 * self._max_repeated and 2 * len(set(circle)) <= len(circle)

    def _make_host_budget(self, host: str) -> Budget:
        limit = f"SCOPE_MAX_PAGES_PER_HOST={self._max_per_host}"
        return Budget(f"host {host}", self._max_per_host, f"{HOST_BUDGET}: {limit} for {host}")

    def _make_prefix_budget(self, prefix: str) -> Budget:
        limit = f"SCOPE_MAX_PAGES_PER_PREFIX={self._max_per_prefix}"
        return Budget(
            f"prefix {prefix}", self._max_per_prefix, f"{PREFIX_BUDGET}: {limit} for {prefix}"
        )
