"""How well rates of change are told by visits at irregular intervals, by ours and by others."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from crawlproject.recrawl.interval import DAY, Intervals
from crawlproject.recrawl.visit import Change, Visit

if TYPE_CHECKING:
    from collections.abc import Iterator

_VISITS, _PAGES = 20, 300
# Changes that are to be expected between two visits.
_EXPECTED = (0.1, 0.3, 1.0, 2.0)
_RATE = 0.5


def errors_of_estimates(seed: int = 3) -> Iterator[tuple[float, tuple[float, float, float]]]:
    """For each number of changes between two visits, the root of the mean square of the error, in
    parts of the rate: of ours, of changes by time, and of the one that takes all intervals for
    equal.
    """
    chance = random.Random(seed)  # noqa: S311 - nobody is to be kept from guessing it
    for expected in _EXPECTED:
        days = expected / _RATE
        pages = [_estimates(chance, days) for _ in range(_PAGES)]
        yield (
            expected,
            (
                _error(page[0] for page in pages),
                _error(page[1] for page in pages),
                _error(page[2] for page in pages),
            ),
        )


def _estimates(chance: random.Random, days: float) -> tuple[float, float, float]:
    policy = Intervals()
    history = policy.after(None, Visit(0.0), Change.NEW)
    at, changes = 0.0, 0
    for _ in range(_VISITS):
        # From a fifth to almost twice as long.
        waited = days * chance.uniform(0.2, 1.8)
        at += waited
        is_changed = chance.random() < 1 - math.exp(-_RATE * waited)
        changes += is_changed
        history = policy.after(
            history, Visit(at * DAY), Change.CHANGED if is_changed else Change.SAME
        )
    # Who takes all for changed would have to divide by nothing.
    part = min(changes, _VISITS - 0.5) / _VISITS
    return history.rate, changes / at, -math.log(1 - part) / (at / _VISITS)


def _error(rates: Iterator[float]) -> float:
    squares = [(rate / _RATE - 1) ** 2 for rate in rates]
    return math.sqrt(sum(squares) / len(squares))
