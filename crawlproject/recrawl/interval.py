"""How often a page changes, by what its visits have found, and when the next visit is due. *Pure.*

Changes are taken to come by chance, at a rate of the page's own (a Poisson process): so they do,
about, by all who have measured it. A visit tells that nothing has changed in a time, or that
something has, once or more often. Who counts changes and divides by visits, or by time, takes
ten changes between two visits for one: the rate comes out too low, the more so the rarer the
visits are. Here it is the rate that makes most likely what was seen, over intervals of any length::

    likelihood = Π exp(-rate · t)  ·  Π (1 - exp(-rate · t))  ·  Π rate · exp(-rate · age)
                 unchanged after t     changed within t            changed, and it says when

times what is likely before anything was seen (a gamma distribution, which a hint of the site may
shift). The first product needs the sum of times only. Times of the second are kept in classes, a
half octave wide, so a page's history takes a hundred bytes however long it is. The third is for
pages that tell when they were changed last, and tells more: the time since then is known to be
quiet. Old evidence fades, so that a page which was news becomes an old one.

``scripts/simulate`` compares the estimate with others, and the policy with the best possible one.
"""

from __future__ import annotations

from math import exp, expm1, inf, isfinite, log, log2
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.recrawl.visit import Change

if TYPE_CHECKING:
    from crawlproject.recrawl.visit import Visit

DAY = 86_400.0
# In place of a time: it is not visited any more.
NEVER = 1e12

# What is expected of a page before anything is known: the rate is likely to be around
# (_SHAPE - 1) / _DAYS changes a day, and a few days of evidence say more.
_SHAPE, _DAYS = 1.3, 3.0
_HINTED_DAYS = (0.05, 60.0)
# Changes a day, by what a sitemap says.
_FREQUENCIES = {
    "always": 24.0,
    "hourly": 24.0,
    "daily": 1.0,
    "weekly": 1 / 7,
    "monthly": 1 / 30,
    "yearly": 1 / 365,
    "never": 1 / 1000,
}
# What is left of evidence with each further visit.
_FADING = 0.97
# What the date of a page tells that was not visited before: it may be older than its date.
_FIRST_DATE = 0.5
_OLDEST_DAYS = 365.0
# A date that is younger says when the answer was made, and not when the page was.
_YOUNGEST = 60.0
_RATES = (1e-4, 100.0)
# Classes of times: half octaves around a day.
_CLASSES = range(-30, 31)
_ROUNDS = 50


class History(NamedTuple):
    """What is known of a page by its visits."""

    next_at: float
    visited_at: float
    # Changes a day.
    rate: float
    visits: int = 0
    changed_at: float | None = None
    # Days in which nothing has changed, and changes with a known date.
    quiet: float = 0.0
    dated: float = 0.0
    # Times in which something has changed: their class, and how much of that is left.
    busy: tuple[tuple[int, float], ...] = ()
    # How often in a row it was gone, and could not be had.
    misses: int = 0
    failures: int = 0
    # What the next visit can be made on condition of, and how the page was read.
    etag: str | None = None
    last_modified: str | None = None
    reading: int = 0

    def kept(self) -> list[Any]:
        """What is not in columns of its own."""
        busy = [[one, round(weight, 4)] for one, weight in self.busy]
        return [
            self.visits,
            self.changed_at,
            round(self.quiet, 6),
            round(self.dated, 4),
            busy,
            *self[8:],
        ]


def history_from(next_at: float, visited_at: float, rate: float, kept: Any) -> History:
    """Raises ValueError for what was not written by us."""
    try:
        visits, changed_at, quiet, dated, busy, misses, failures, etag, modified, reading = kept
        history = History(
            float(next_at),
            float(visited_at),
            float(rate),
            int(visits),
            None if changed_at is None else float(changed_at),
            float(quiet),
            float(dated),
            tuple((int(one), float(weight)) for one, weight in busy),
            int(misses),
            int(failures),
            None if etag is None else str(etag),
            None if modified is None else str(modified),
            int(reading),
        )
    except (TypeError, ValueError, OverflowError):
        raise ValueError("no history of visits") from None
    numbers = (history.rate, history.quiet, history.dated, *(weight for _, weight in history.busy))
    is_sound = all(isfinite(number) and number >= 0 for number in numbers)
    if not is_sound or not all(one in _CLASSES for one, _ in history.busy) or rate <= 0:
        raise ValueError("no history of visits")
    return history


class Intervals(NamedTuple):
    """How soon pages are visited again: when the ``chance`` is that they have changed, but not
    before ``least`` seconds, nor after ``most``; gone ones ``gone_visits`` times.
    """

    least: float = 3600.0
    most: float = 30 * DAY
    chance: float = 0.3
    gone_visits: int = 5

    def after(
        self,
        before: History | None,
        visit: Visit,
        change: Change,
        changefreq: str | None = None,
        dated_at: float | None = None,
    ) -> History:
        """What is known after a visit. A sitemap may say how often the page changes, and when it
        did last.
        """
        at = visit.at
        dated_at = visit.modified_at if visit.modified_at is not None else dated_at
        history = before or History(at, at, 0.0)
        if change in (Change.GONE, Change.FAILED):
            return self._after_failure(history, visit, change, changefreq)
        history = _observed(history, at, change, dated_at)
        is_changed = change in (Change.NEW, Change.CHANGED, Change.BACK)
        history = history._replace(
            rate=_rate(history, changefreq),
            visited_at=at,
            visits=history.visits + 1,
            changed_at=at if is_changed else history.changed_at,
            misses=0,
            failures=0,
            etag=visit.etag,
            last_modified=visit.last_modified,
            reading=visit.reading,
        )
        return history._replace(next_at=at + self._interval(history, visit))

    def _interval(self, history: History, visit: Visit) -> float:
        interval = -log(1 - self.chance) / history.rate * DAY if self.chance < 1 else inf
        if visit.fresh_until is not None:
            promised = visit.fresh_until - visit.at
            # Unless it is known to break its promise.
            if history.rate * promised <= DAY:
                interval = max(interval, promised)
        return min(max(interval, self.least), self.most)

    def _after_failure(
        self, history: History, visit: Visit, change: Change, changefreq: str | None
    ) -> History:
        """What has failed is tried again soon, what is gone not so soon, and both ever later."""
        is_gone = change is Change.GONE
        misses = history.misses + 1 if is_gone else history.misses
        failures = 0 if is_gone else history.failures + 1
        first = max(self.least, DAY) if is_gone else self.least
        times = min(misses if is_gone else failures, 64)
        interval = min(first * 2.0 ** (times - 1), self.most)
        is_over = is_gone and misses >= self.gone_visits
        return history._replace(
            next_at=NEVER if is_over else visit.at + interval,
            visited_at=visit.at,
            rate=history.rate or _rate(history, changefreq),
            visits=history.visits + 1,
            changed_at=visit.at if history.misses + history.failures == 0 else history.changed_at,
            misses=misses,
            failures=failures,
            # What it said is not what is kept of it now.
            etag=None,
            last_modified=None,
            reading=visit.reading,
        )


def _observed(history: History, at: float, change: Change, dated_at: float | None) -> History:
    """With what a visit tells of the time since the last one."""
    age = None if dated_at is None else at - dated_at
    if age is not None and age < _YOUNGEST:
        age = None
    if not history.visits:
        if age is None:
            return history
        return history._replace(quiet=min(age / DAY, _OLDEST_DAYS), dated=_FIRST_DATE)
    elapsed = max(at - history.visited_at, 1.0)
    faded = history._replace(
        quiet=history.quiet * _FADING,
        dated=history.dated * _FADING,
        busy=tuple((one, weight * _FADING) for one, weight in history.busy),
    )
    if change in (Change.SAME, Change.COSMETIC):
        return faded._replace(quiet=faded.quiet + elapsed / DAY)
    if change is not Change.CHANGED:
        # It was away: nobody knows what happened meanwhile.
        return faded
    if age is not None and age < elapsed:
        return faded._replace(quiet=faded.quiet + age / DAY, dated=faded.dated + 1)
    busy = dict(faded.busy)
    one = min(max(round(2 * log2(elapsed / DAY)), _CLASSES[0]), _CLASSES[-1])
    busy[one] = busy.get(one, 0.0) + 1
    return faded._replace(busy=tuple(sorted(busy.items())))


def _rate(history: History, changefreq: str | None) -> float:
    """The most likely rate, in changes a day."""
    days = _DAYS
    if changefreq in _FREQUENCIES:
        least, most = _HINTED_DAYS
        days = min(max((_SHAPE - 1) / _FREQUENCIES[changefreq], least), most)
    events, quiet = _SHAPE - 1 + history.dated, days + history.quiet
    if not history.busy:
        return _bounded(events / quiet)
    return _bounded(likeliest(events, quiet, [(2 ** (one / 2), n) for one, n in history.busy]))


def likeliest(events: float, quiet: float, busy: list[tuple[float, float]]) -> float:
    """The rate at which it is most likely that ``quiet`` days had no change, ``events`` changes
    were seen as they came, and each of some times (in days, with its weight) had one or more.
    """
    # What is sought is where the slope is 0: it falls from the left to the right.
    low, high = (log(rate) for rate in _RATES)
    for _ in range(_ROUNDS):
        rate = exp((low + high) / 2)
        slope = events / rate - quiet
        slope += sum(n * days / expm1(min(rate * days, 500.0)) for days, n in busy)
        if slope > 0:
            low = log(rate)
        else:
            high = log(rate)
        if high - low < 1e-3:
            break
    return exp((low + high) / 2)


def _bounded(rate: float) -> float:
    return min(max(rate, _RATES[0]), _RATES[1])
