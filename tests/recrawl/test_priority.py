"""What deserves the next fetch."""

from __future__ import annotations

import numpy as np
import pytest

from crawlproject.recrawl.priority import gain, in_order


def of(rate: float, age: float) -> float:
    return float(gain(np.array([rate]), np.array([age]))[0])


def test_the_longer_ago_the_more_is_gained_up_to_a_bound() -> None:
    gains = [of(0.5, age) for age in (0, 0.001, 0.01, 1, 2, 10, 100, 1000)]
    assert gains == sorted(gains)
    assert gains[0] == 0
    assert gains[-1] == pytest.approx(1 / 0.5)


def test_a_page_that_changes_all_the_time_gains_little() -> None:
    assert of(24.0, 30.0) < of(0.1, 30.0)


def test_nor_does_one_that_has_hardly_changed_yet() -> None:
    assert of(0.001, 1.0) < of(0.1, 1.0)


def test_small_ages_are_exact() -> None:
    # The first terms of the series.
    assert of(1e-3, 1e-3) == pytest.approx((1e-6) ** 2 / 2 / 1e-3, rel=1e-3)
    assert of(1.0, 1.1e-4) == pytest.approx((1.1e-4) ** 2 / 2, rel=1e-3)


def test_importance_counts_and_equals_keep_their_order() -> None:
    rates, ages = np.full(4, 0.1), np.array([5.0, 5.0, 5.0, 9.0])
    assert in_order(rates, ages, np.array([1.0, 2.0, 1.0, 1.0])).tolist() == [3, 1, 0, 2]
