from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.monitoring.line import Speed, State, render, waiting_words
from crawlproject.politeness.waits import Wait


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (State(), "0 pages · 0 queued · 0 failed · 0.0 pages/s · depth 0 · 0:00"),
        (
            State(
                pages=12_345,
                queued=67_890,
                failed=12,
                pages_per_second=412.4,
                depth=7,
                elapsed_seconds=75.9,
            ),
            "12,345 pages · 67,890 queued · 12 failed · 412 pages/s · depth 7 · 1:15",
        ),
        (
            State(pages=1, pages_per_second=9.94, elapsed_seconds=3_661),
            "1 page · 0 queued · 0 failed · 9.9 pages/s · depth 0 · 1:01:01",
        ),
        (
            State(pages=2, phase="stopping"),
            "stopping… · 2 pages · 0 queued · 0 failed · 0.0 pages/s · depth 0 · 0:00",
        ),
    ],
)
def test_the_line_says_how_far_the_crawl_is(state: State, line: str) -> None:
    assert render(state, 100) == line


def test_whom_a_crawl_waits_for_is_said_first_unless_pages_come() -> None:
    assert render(State(waiting="waiting for a.com"), 100).startswith("waiting for a.com · 0 pages")
    flowing = State(waiting="waiting for a.com", pages_per_second=2)
    assert render(flowing, 100).endswith("depth 0 · 0:00 · waiting for a.com")


@pytest.mark.parametrize(
    ("next_try_at", "until", "others", "words"),
    [
        (12.4, None, 0, "next try in 12 s"),
        (12.4, 3600, 0, "next try in 12 s, until {:%H:%M:%S}"),
        (300, 3600, 1200, "next try in 5 min, until {:%H:%M:%S}, and 1,200 more"),
        (-1, None, 1, "trying now, and 1 more"),
    ],
)
def test_waiting_has_a_host_a_reason_and_a_time(
    next_try_at: float, until: float | None, others: int, words: str
) -> None:
    wait = Wait("a.com", "robots.txt answered 503", next_try_at, until)
    end = datetime.fromtimestamp(until or 0, UTC).astimezone()
    expected = f"waiting for a.com (robots.txt answered 503): {words.format(end)}"
    assert waiting_words(wait, others, 0) == expected


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (26, "2 pages · 30 queued · 4…"),
        (10, "2 pages…"),
        (2, "…"),
        (1, ""),
        (0, ""),
    ],
)
def test_a_narrow_terminal_gets_the_beginning_and_an_ellipsis(width: int, line: str) -> None:
    assert render(State(pages=2, queued=30, failed=4), width) == line


def test_a_line_that_just_fits_leaves_the_last_column_free() -> None:
    whole = render(State(), 200)
    assert render(State(), len(whole) + 1) == whole
    assert render(State(), len(whole)).endswith("…")


def test_a_terminal_without_utf_8_gets_ascii() -> None:
    line = render(State(phase="stopping"), 100, ascii_only=True)
    assert line.startswith("stopping... | 0 pages | ")
    assert line.isascii()


@given(
    st.builds(
        State,
        pages=st.integers(0, 10**12),
        pages_per_second=st.floats(0, 1e9),
        elapsed_seconds=st.floats(0, 1e9),
        phase=st.sampled_from([None, "stopping", "writing files"]),
        waiting=st.sampled_from([None, "waiting for a.com (answered 503): trying now"]),
    ),
    st.integers(0, 200),
    st.booleans(),
)
def test_the_line_never_wraps(state: State, width: int, ascii_only: bool) -> None:
    line = render(state, width, ascii_only=ascii_only)
    assert len(line) <= max(width - 1, 0)
    assert "\n" not in line


def test_speed_is_that_of_the_last_seconds() -> None:
    speed = Speed(window=5.0)
    rates = [
        speed.update(now, pages) for now, pages in [(0, 0), (1, 10), (4, 40), (9, 40), (10, 40)]
    ]
    assert rates == [0.0, 10.0, 10.0, 0.0, 0.0]


def test_speed_survives_a_clock_that_stands_still() -> None:
    speed = Speed()
    assert [speed.update(1.0, pages) for pages in (0, 5)] == [0.0, 0.0]


def test_speed_keeps_no_more_than_its_window() -> None:
    speed = Speed(window=5.0)
    for tick in range(10_000):
        speed.update(tick * 0.25, tick)
    assert len(speed._samples) <= 22
