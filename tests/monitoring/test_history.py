from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.monitoring.history import History


def history_of(*seconds: float, most: int = 240, interval: float = 1.0) -> list[tuple[float, int]]:
    history = History(most, interval)
    for pages, moment in enumerate(seconds):
        history.add(moment, pages)
    return history.points()


@pytest.mark.parametrize(
    ("seconds", "points"),
    [
        ([], []),
        ([0.0], [(0.0, 0)]),
        # The newest is always there, though it is not yet time for another one.
        ([0.0, 0.25, 0.5], [(0.0, 0), (0.5, 2)]),
        # A little early, or late.
        ([0.0, 1.01, 2.0, 3.02], [(0.0, 0), (1.01, 1), (2.0, 2), (3.02, 3)]),
        # Nobody has looked for a while.
        ([0.0, 70.0, 71.0], [(0.0, 0), (70.0, 1), (71.0, 2)]),
    ],
)
def test_points_are_an_interval_apart_but_for_the_newest(
    seconds: list[float], points: list[tuple[float, int]]
) -> None:
    assert history_of(*seconds) == points


def test_when_it_is_full_every_second_point_goes_and_the_interval_doubles() -> None:
    assert history_of(0, 1, 2, most=4) == [(0, 0), (1, 1), (2, 2)]
    assert history_of(0, 1, 2, 3, most=4) == [(0, 0), (2, 2), (3, 3)]
    assert history_of(0, 1, 2, 3, 4, most=4) == [(0, 0), (2, 2), (4, 4)]
    assert history_of(0, 1, 2, 3, 4, 5, 6, most=4) == [(0, 0), (4, 4), (6, 6)]


@given(st.integers(3, 40), st.integers(1, 1000))
def test_looks_at_regular_times_make_points_at_regular_times(most: int, looks: int) -> None:
    points = history_of(*map(float, range(looks)), most=most)
    assert len(points) <= most
    # Not much less than there is room for.
    assert len(points) >= min(looks, most // 2)
    gaps = {later - earlier for (earlier, _), (later, _) in pairwise(points[:-1])}
    assert len(gaps) <= 1


@given(st.lists(st.floats(0, 1e9)), st.integers(3, 30), st.floats(0.01, 100))
def test_whenever_somebody_looks_it_begins_at_the_first_look_and_ends_at_the_last(
    seconds: list[float], most: int, interval: float
) -> None:
    seconds.sort()
    points = history_of(*seconds, most=most, interval=interval)
    assert len(points) <= most
    assert points == sorted(set(points))
    if seconds:
        assert points[0][0] == seconds[0]
        assert points[-1] == (seconds[-1], len(seconds) - 1)
