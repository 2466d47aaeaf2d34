from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.monitoring.times import STEPS, Times


def times_of(*milliseconds: int) -> Times:
    times = Times()
    for one in milliseconds:
        times.add(one)
    return times


@pytest.mark.parametrize(
    ("milliseconds", "percentiles"),
    [
        ((), None),
        ((7,), (7, 7, 7)),
        ((3, 1, 2), (2, 3, 3)),
        (tuple(range(1, 101)), (50, 90, 99)),
        (tuple(range(1, 1001)), (500, 900, 990)),
        ((1_234, 56_789), (1_230, 56_700, 56_700)),
    ],
)
def test_so_many_answers_came_within_a_percentile(
    milliseconds: tuple[int, ...], percentiles: tuple[int, int, int] | None
) -> None:
    assert times_of(*milliseconds).percentiles() == percentiles


def test_a_histogram_has_every_answer_in_one_bar() -> None:
    bars = times_of(0, 9, 10, 999, 1_000, 60_000).histogram()
    assert len(bars) == len(STEPS) + 1
    assert (bars[0], bars[1], bars[6], bars[7], bars[-1]) == (2, 1, 1, 1, 1)


@given(st.lists(st.integers(0, 10**7), min_size=1))
def test_percentiles_are_off_by_one_per_cent_at_most(milliseconds: list[int]) -> None:
    times = times_of(*milliseconds)
    found = times.percentiles()
    assert found is not None
    ordered = sorted(milliseconds)
    for value, percent in zip(found, (50, 90, 99), strict=True):
        exact = ordered[-(-len(ordered) * percent // 100) - 1]
        assert value <= exact <= value * 1.011
    assert sum(times.histogram()) == len(milliseconds)
