"""Pages that change by chance, and policies that visit them: how fresh is what they know?

Time goes on in hours. A page is *fresh* as long as nothing has changed since its last visit; its
*age* is the time since the first change that was missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from crawlproject.recrawl.interval import DAY, Intervals
from crawlproject.recrawl.priority import in_order
from crawlproject.recrawl.visit import Change, Visit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlproject.recrawl.interval import History

    Numbers = NDArray[np.float64]
    Ids = NDArray[np.intp]

HOURS = 24
# Mean days between two changes: how many pages are in which range. As those who have followed half
# a million pages for months found it, about: a quarter change daily, a third hardly ever.
_RANGES = ((0.25, 1, 0.23), (1, 7, 0.15), (7, 30, 0.16), (30, 120, 0.16), (120, 1000, 0.30))
# How unevenly pages matter: the exponent of a Pareto distribution.
_UNEVEN = 1.5


class World(NamedTuple):
    # Changes a day, and how much it matters that a page is fresh: 1 on average.
    rates: Numbers
    weights: Numbers

    @classmethod
    def by_chance(cls, pages: int, seed: int) -> World:
        chance = np.random.default_rng(seed)
        kinds = chance.choice(len(_RANGES), pages, p=[part for _, _, part in _RANGES])
        shortest, longest = (np.log([one[place] for one in _RANGES]) for place in (0, 1))
        days = np.exp(chance.uniform(shortest[kinds], longest[kinds]))
        weights = chance.pareto(_UNEVEN, pages) + 1
        return cls(1 / days, weights / weights.mean())


class Policy(Protocol):
    def choose(self, day: float, most: int) -> Ids:
        """The pages to visit now."""

    def learn(self, pages: Ids, day: float, has_changed: NDArray[np.bool_]) -> None:
        """What their visits have found."""


class Outcome(NamedTuple):
    # Of the time, of all pages by their weight.
    fresh: float
    # Days, by weight, over all pages: a fresh one has none.
    age: float
    fetches: int
    # The part that is fresh, day by day.
    days: list[float]


def play(world: World, policy: Policy, *, days: int, fetches_a_day: float, seed: int) -> Outcome:
    """All pages were visited before; what happens is the same for every policy."""
    chance = np.random.default_rng(seed)
    pages = len(world.rates)
    is_fresh = np.ones(pages, bool)
    stale_since = np.zeros(pages)
    changes = 1 - np.exp(-world.rates / HOURS)
    fresh, ages = [], []
    fetches, budget = 0, 0.0
    for hour in range(1, days * HOURS + 1):
        day = hour / HOURS
        has_changed = chance.random(pages) < changes
        stale_since[has_changed & is_fresh] = day
        is_fresh &= ~has_changed
        # What is not spent is kept for a day.
        budget = min(budget + fetches_a_day / HOURS, fetches_a_day)
        chosen = policy.choose(day, int(budget))
        policy.learn(chosen, day, ~is_fresh[chosen])
        is_fresh[chosen] = True
        budget -= len(chosen)
        fetches += len(chosen)
        fresh.append(float((world.weights * is_fresh).mean()))
        ages.append(float((world.weights * np.where(is_fresh, 0, day - stale_since)).mean()))
    by_day = np.array(fresh).reshape(days, HOURS).mean(axis=1)
    return Outcome(float(by_day.mean()), float(np.mean(ages)), fetches, by_day.tolist())


class Uniform:
    """Every page in turn."""

    def __init__(self, world: World) -> None:
        self._pages = len(world.rates)
        self._next = 0

    def choose(self, day: float, most: int) -> Ids:
        chosen = np.unique((self._next + np.arange(min(most, self._pages))) % self._pages)
        self._next = (self._next + most) % self._pages
        return chosen

    def learn(self, pages: Ids, day: float, has_changed: NDArray[np.bool_]) -> None:
        return


class BestIntervals:
    """Knows all rates, and visits each page at the interval that keeps most of all pages fresh."""

    def __init__(self, world: World, fetches_a_day: float, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self._frequencies = best_frequencies(world, fetches_a_day)
        with np.errstate(divide="ignore"):
            self._intervals = 1 / self._frequencies
        self._next = np.where(
            self._frequencies > 0, chance.random(len(world.rates)) * self._intervals, np.inf
        )

    def choose(self, day: float, most: int) -> Ids:
        due = np.flatnonzero(self._next <= day)
        chosen = due[np.argsort(self._next[due], kind="stable")][:most]
        self._next[chosen] = np.maximum(self._next[chosen] + self._intervals[chosen], day)
        return chosen

    def learn(self, pages: Ids, day: float, has_changed: NDArray[np.bool_]) -> None:
        return


class BestOrder:
    """Knows all rates, and visits what gains most by it, as soon as it may."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._visited = np.zeros(len(world.rates))

    def choose(self, day: float, most: int) -> Ids:
        ages = day - self._visited
        return in_order(self._world.rates, ages, self._world.weights)[:most]

    def learn(self, pages: Ids, day: float, has_changed: NDArray[np.bool_]) -> None:
        self._visited[pages] = day


def best_frequencies(world: World, fetches_a_day: float) -> Numbers:
    """Visits a day to each page: such that one visit more is worth the same everywhere, or the page
    is not worth any.
    """
    low, high = 1e-9, 1e9
    frequencies = np.zeros_like(world.rates)
    for _ in range(100):
        worth = np.sqrt(low * high)
        frequencies = _frequencies(world, worth)
        if frequencies.sum() > fetches_a_day:
            low = worth
        else:
            high = worth
    return frequencies


def _frequencies(world: World, worth: float) -> Numbers:
    # With x changes between two visits a visit is worth weight / rate * (1 - exp(-x) (1 + x)).
    wanted = worth * world.rates / world.weights
    low, high = np.zeros_like(wanted), np.full_like(wanted, 60.0)
    for _ in range(50):
        middle = (low + high) / 2
        is_less = 1 - np.exp(-middle) * (1 + middle) < wanted
        low, high = np.where(is_less, middle, low), np.where(is_less, high, middle)
    return np.where(wanted < 1, world.rates / np.maximum((low + high) / 2, 1e-9), 0.0)


class Ours:
    """What a crawl does: it visits what is due, the most deserving first (``recrawl/``)."""

    def __init__(self, world: World, seed: int, intervals: Intervals | None = None) -> None:
        self._weights = world.weights
        self._intervals = intervals or Intervals()
        first = self._intervals.after(None, Visit(0.0), Change.NEW)
        self._histories: list[History] = [first] * len(world.rates)
        self._visited = np.zeros(len(world.rates))
        self._rates = np.full(len(world.rates), first.rate)
        # They were not all found at once.
        chance = np.random.default_rng(seed)
        self._next = chance.random(len(world.rates)) * first.next_at / DAY

    def choose(self, day: float, most: int) -> Ids:
        due = np.flatnonzero(self._next <= day)
        ages = day - self._visited[due]
        return due[in_order(self._rates[due], ages, self._weights[due])[:most]]

    def learn(self, pages: Ids, day: float, has_changed: NDArray[np.bool_]) -> None:
        visit = Visit(day * DAY)
        for page, is_changed in zip(pages.tolist(), has_changed.tolist(), strict=True):
            change = Change.CHANGED if is_changed else Change.SAME
            history = self._intervals.after(self._histories[page], visit, change)
            self._histories[page] = history
            self._rates[page] = history.rate
            self._next[page] = history.next_at / DAY
        self._visited[pages] = day
