from __future__ import annotations

from itertools import accumulate
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.items import Page
from crawlproject.monitoring.journal import Journal
from crawlproject.monitoring.snapshot import FETCH_BOUNDS, LatestError, LatestPage


def journal_of(*pages: Page) -> Journal:
    journal = Journal()
    for number, page in enumerate(pages):
        journal.add(page, 100.0 + number)
    return journal


@pytest.mark.parametrize(
    ("fetch_ms", "place"),
    [(0, 0), (10, 0), (11, 1), (25, 1), (100, 3), (999, 6), (1000, 6), (30_000, 10), (30_001, 11)],
)
def test_a_fetch_is_counted_within_the_first_bound_that_it_does_not_exceed(
    fetch_ms: int, place: int
) -> None:
    took = journal_of(Page("https://a/", fetch_ms=fetch_ms)).fetch_seconds()
    assert took.counts.index(1) == place
    assert took.sum == fetch_ms / 1000


@given(st.lists(st.integers(0, 100_000)))
def test_the_histogram_says_how_many_took_no_longer(times: list[int]) -> None:
    took = journal_of(*(Page("https://a/", fetch_ms=time) for time in times)).fetch_seconds()
    assert took.bounds == list(FETCH_BOUNDS)
    for bound, count in zip([*FETCH_BOUNDS, 1e9], accumulate(took.counts), strict=True):
        assert count == sum(1 for time in times if time <= bound * 1000)
    assert took.sum == pytest.approx(sum(times) / 1000)


def test_pages_are_counted_by_depth_and_the_deepest_together() -> None:
    depths = journal_of(*(Page("https://a/", depth=depth) for depth in (0, 2, 2, 99, 100, 5000)))
    assert depths.depths() == {"0": 1, "2": 2, "99": 1, "100": 2}


def test_it_is_known_when_the_first_page_came_and_the_newest() -> None:
    assert (Journal().first_at, Journal().newest_at) == (None, None)
    journal = journal_of(*(Page("https://a/") for _ in range(3)))
    assert (journal.first_at, journal.newest_at) == (100.0, 102.0)


def test_the_latest_pages_are_kept_the_newest_first() -> None:
    journal = journal_of(*(Page(f"https://a/{number}", 200) for number in range(15)))
    assert [page.url for page in journal.latest_pages()] == [
        f"https://a/{number}" for number in range(14, 4, -1)
    ]


def test_the_latest_errors_are_kept_without_what_robots_txt_denies() -> None:
    journal = journal_of(
        Page("https://a/1", 404, error="unexpected status 404", referrer="https://a/"),
        Page("https://a/2", 200),
        Page("https://a/3", None, error="robots"),
        Page("https://a/4", None, error="no PDF: our own rule"),
    )
    assert journal.latest_errors() == [
        LatestError("https://a/4", None, "no PDF: our own rule", None, 103.0),
        LatestError("https://a/1", 404, "unexpected status 404", "https://a/", 100.0),
    ]


def test_what_a_pipeline_has_made_of_a_page_can_still_be_told() -> None:
    odd = Page("https://a/", cast("int", "200"), title=cast("str", ["a", 1]), fetch_ms=-5)
    assert journal_of(odd).latest_pages() == [LatestPage("https://a/", None, "['a', 1]")]
