from __future__ import annotations

import numpy as np
import pytest

from crawlproject.report.pace import PAUSE_SECONDS, Pace, pace_of

NAN = float("nan")


@pytest.mark.parametrize("moments", [[], [NAN], [NAN, NAN]])
def test_without_answers_there_is_no_pace(moments: list[float]) -> None:
    assert pace_of(np.array(moments)) == Pace()


def test_one_answer_takes_no_time() -> None:
    assert pace_of(np.array([5.0])) == Pace(5, 5, 0, 0, (), 1)


def test_pages_a_second_are_told_over_time() -> None:
    pace = pace_of(np.array([NAN, *(100 + second / 10 for second in range(101))]))
    assert (pace.first, pace.last, pace.seconds, pace.pauses) == (100, 110, 10, 0)
    assert pace.points[-1][0] == 10
    assert all(9 < rate < 14 for _, rate in pace.points)


def test_pauses_between_runs_are_left_out() -> None:
    first = [float(second) for second in range(60)]
    later = [PAUSE_SECONDS + 1_000 + second for second in first]
    pace = pace_of(np.array([*later, *first]))
    assert (pace.seconds, pace.pauses) == (118, 1)
    assert all(rate > 0 for _, rate in pace.points)
