"""How long answers took, in memory that does not grow with their number. Pure.

What took less than a second is counted to the millisecond, more to three digits: a percentile is
off by one per cent at most.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

# Where one bar of a histogram ends and the next begins, in milliseconds.
STEPS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)

_DIGITS = 3


class Percentiles(NamedTuple):
    """So many milliseconds, at most, took half of the answers, and so on."""

    p50: int
    p90: int
    p99: int


class Times:
    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, milliseconds: int) -> None:
        self._counts[milliseconds if milliseconds < 1_000 else _rounded(milliseconds)] += 1

    def percentiles(self) -> Percentiles | None:
        """None: nothing was answered."""
        total = self._counts.total()
        if not total:
            return None
        return Percentiles(*(self._percentile(percent, total) for percent in (50, 90, 99)))

    def histogram(self) -> list[int]:
        """How many answers took less than each of ``STEPS``, but no less than the one before; at
        last, how many took longer.
        """
        bars = [0] * (len(STEPS) + 1)
        for milliseconds, count in self._counts.items():
            bars[sum(milliseconds >= step for step in STEPS)] += count
        return bars

    def _percentile(self, percent: int, total: int) -> int:
        """The smallest time within which so many of the answers came."""
        seen = 0
        for milliseconds in sorted(self._counts):
            seen += self._counts[milliseconds]
            if seen * 100 >= total * percent:
                break
        return milliseconds


def _rounded(milliseconds: int) -> int:
    unit: int = 10 ** (len(str(milliseconds)) - _DIGITS)
    return milliseconds - milliseconds % unit
