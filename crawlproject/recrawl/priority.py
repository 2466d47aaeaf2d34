"""What deserves the next fetch. *Pure.*

Of all ways to spend a number of fetches, the one that keeps most pages fresh visits each page
when one more visit to it is worth as much as one more to any other. With visits at an interval, a
page with a rate of changes is fresh for a part of the time; how much that part grows with one
visit more is ``gain``: at first it grows with the time since the last visit, and in the end it is
1 / rate. So a page that changes all the time gains little, however long it was left alone, and of
two pages that wait equally long, the one comes first that is about to have changed.

Times importance, this is the order. It needs no other knowledge than the page's own, and comes
near the best that is possible (``scripts/simulate``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gain(rates: NDArray[np.float64], ages: NDArray[np.float64]) -> NDArray[np.float64]:
    """What visits now are worth, of pages with rates of changes a day, ``ages`` days after the
    last one: days of freshness.
    """
    expected = rates * np.maximum(ages, 0.0)
    # Near 0 the difference would be lost among the digits.
    small = expected**2 / 2 - expected**3 / 3
    exact = 1 - np.exp(-expected) * (1 + expected)
    return np.where(expected < 1e-4, small, exact) / rates


def in_order(
    rates: NDArray[np.float64], ages: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.intp]:
    """The places of pages, the one that deserves the next fetch first; of equals, the first."""
    return np.argsort(-gain(rates, ages) * weights, kind="stable")
