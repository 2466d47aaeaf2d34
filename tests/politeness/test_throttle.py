from __future__ import annotations

import pytest

from crawlproject.politeness.throttle import next_delay


@pytest.mark.parametrize(
    ("current", "latency", "is_ok", "expected"),
    [
        (0.0, 1.0, True, 1.0),  # slower than thought: at once
        (1.0, 0.2, True, 0.6),  # faster than thought: half-way
        (1.0, 0.2, False, 1.0),  # an error is no reason to go faster
        (0.0, 1.0, False, 1.0),  # but it may be one to go slower
        (0.0, 99.0, True, 30.0),  # never beyond the maximum
    ],
)
def test_the_delay_follows_the_latency(
    current: float, latency: float, is_ok: bool, expected: float
) -> None:
    delay = next_delay(current, latency, target_concurrency=1, maximum=30, is_ok=is_ok)
    assert delay == pytest.approx(expected)


def test_a_higher_target_concurrency_makes_the_pause_shorter() -> None:
    assert next_delay(0, 1.0, target_concurrency=4, maximum=30, is_ok=True) == 0.25
