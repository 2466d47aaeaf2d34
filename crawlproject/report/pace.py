"""How fast a crawl was, by the times of its answers. *Pure.*

A crawl may have been stopped, and gone on the next day: the time in between does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Longer without an answer, and nobody was crawling.
PAUSE_SECONDS = 300
_POINTS = 80
# On average a point stands for so many pages, or the curve would be a saw.
_PAGES_A_POINT = 3


class Pace(NamedTuple):
    """When the first and the last answer came (seconds of the epoch), the seconds between them in
    which somebody was crawling, and how often nobody was. ``points`` are seconds since the first
    answer, and pages a second until then; ``answers`` is how many there were.
    """

    first: float | None = None
    last: float | None = None
    seconds: float = 0.0
    pauses: int = 0
    points: tuple[tuple[float, float], ...] = ()
    answers: int = 0


def pace_of(fetched: NDArray[np.float64]) -> Pace:
    """``fetched``: times of answers, in any order; not a number: there was none."""
    moments = np.sort(fetched[~np.isnan(fetched)])
    if not len(moments):
        return Pace()
    gaps = np.diff(moments)
    is_pause = gaps > PAUSE_SECONDS
    elapsed = np.r_[0.0, np.cumsum(np.where(is_pause, 0.0, gaps))]
    seconds = float(elapsed[-1])
    return Pace(
        round(float(moments[0]), 3),
        round(float(moments[-1]), 3),
        round(seconds, 3),
        int(is_pause.sum()),
        _points(elapsed, seconds) if seconds > 0 else (),
        len(moments),
    )


def _points(elapsed: NDArray[np.float64], seconds: float) -> tuple[tuple[float, float], ...]:
    bins = min(_POINTS, max(len(elapsed) // _PAGES_A_POINT, 1))
    counts, edges = np.histogram(elapsed, bins, (0.0, seconds))
    width = seconds / bins
    return tuple(
        (round(float(end), 3), round(float(count) / width, 3))
        for count, end in zip(counts, edges[1:], strict=True)
    )
