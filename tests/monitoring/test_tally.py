from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.items import Page
from crawlproject.monitoring.tally import MAX_OUTCOMES, OTHER, Broken, First, Tally, error_word


def tally_of(*pages: Page, slowest: int = 5, broken: int = 15) -> Tally:
    tally = Tally(slowest=slowest, broken=broken)
    for page in pages:
        tally.add(page)
    return tally


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (None, None),
        ("unexpected status 404", None),
        ("timeout", "timeout"),
        ("robots: robots.txt answered 503", "robots"),
        ("unreadable: not HTTP", "unreadable"),
        ("unexpected status of the moon", "unexpected status of the moon"),
        ("", OTHER),
        (": detail", OTHER),
    ],
)
def test_the_word_of_an_error_is_what_stands_before_the_colon(
    error: str | None, word: str | None
) -> None:
    assert error_word(error) == word


@pytest.mark.parametrize(
    ("status", "error", "verdict"),
    [
        (200, None, (1, 0, 0, 0, 0)),
        (404, "unexpected status 404", (0, 1, 0, 0, 0)),
        (None, "timeout", (0, 1, 0, 0, 0)),
        (401, "unexpected status 401", (0, 0, 1, 0, 0)),
        (403, "unexpected status 403", (0, 0, 1, 0, 0)),
        (429, "unexpected status 429", (0, 0, 1, 0, 0)),
        # It is not the server that says no.
        (403, "truncated", (0, 1, 0, 0, 0)),
        (302, "redirect loop", (0, 1, 0, 0, 0)),
        (None, "robots", (0, 0, 0, 1, 0)),
        (None, "robots: robots.txt could not be had", (0, 1, 0, 0, 0)),
        (None, "no PDF: our own rule", (0, 0, 0, 0, 1)),
        # A pipeline's word on a page that has come.
        (200, "no title", (0, 1, 0, 0, 0)),
        (None, "", (0, 1, 0, 0, 0)),
    ],
)
def test_a_page_is_fine_broken_blocked_denied_or_refused(
    status: int | None, error: str | None, verdict: tuple[int, int, int, int, int]
) -> None:
    tally = tally_of(Page("http://a/", status, error=error))
    counts = (tally.fine, tally.broken, tally.blocked, tally.denied, tally.refused)
    assert counts == verdict
    assert tally.pages == 1


def test_the_words_of_refusals_come_by_their_number() -> None:
    errors = ["quota: 1", "no PDF", "no PDF: 2", "dns", "robots", "a"]
    tally = tally_of(*(Page(f"http://a/{error}", error=error) for error in errors))
    assert tally.refusals == ["no PDF", "a", "quota"]
    assert [page.error for page in tally.first_broken] == ["dns"]


def test_pages_are_counted_by_status_and_by_error_word() -> None:
    tally = tally_of(
        Page("http://a/1", 200),
        Page("http://a/2", 200),
        Page("http://a/3", 404, error="unexpected status 404"),
        Page("http://a/4", None, error="timeout"),
        Page("http://a/5", 302, error="bad redirect: no target"),
    )
    assert tally.by_status == {200: 2, 404: 1, None: 1, 302: 1}
    assert tally.by_error == {"timeout": 1, "bad redirect": 1}


def test_bytes_and_the_deepest_depth_add_up_over_pages_without_any() -> None:
    tally = tally_of(Page("http://a/", bytes=100, depth=3), Page("http://a/b", bytes=None, depth=1))
    assert (tally.bytes, tally.deepest) == (100, 3)


def test_the_slowest_pages_are_kept_slowest_first() -> None:
    tally = tally_of(
        *(Page(f"http://a/{ms}", 200, fetch_ms=ms) for ms in (5, 900, 20, 300)),
        Page("http://a/unknown", 200),
        slowest=2,
    )
    assert [(page.fetch_ms, page.url) for page in tally.slowest] == [
        (900, "http://a/900"),
        (300, "http://a/300"),
    ]


def test_all_broken_pages_are_counted_and_the_first_by_url_are_kept() -> None:
    tally = tally_of(
        *(Page(f"http://a/{name}", None, error="dns", referrer="http://a/") for name in "dbca"),
        broken=2,
    )
    assert tally.broken == 4
    assert list(tally.first_broken) == [
        Broken("http://a/a", None, "dns", "http://a/"),
        Broken("http://a/b", None, "dns", "http://a/"),
    ]


def test_a_url_that_is_broken_twice_needs_no_order_among_its_errors() -> None:
    tally = tally_of(Page("http://a/", None, error="dns"), Page("http://a/", 404, error="gone"))
    assert len(list(tally.first_broken)) == 2


def test_memory_is_bounded_whatever_a_server_answers() -> None:
    tally = tally_of(
        *(Page(f"http://a/{n}", n, error=f"word {n}", fetch_ms=n) for n in range(5_000))
    )
    assert len(tally.outcomes) <= MAX_OUTCOMES + 1
    assert tally.outcomes.total() == 5_000
    assert tally.by_error[OTHER] == 5_000 - MAX_OUTCOMES
    assert len(list(tally.slowest)) == 5
    assert len(list(tally.first_broken)) == 15


@given(st.lists(st.integers()), st.integers(0, 5))
def test_first_keeps_what_sorting_everything_would_give(values: list[int], limit: int) -> None:
    first: First[int] = First(limit, lambda value: (value, ""))
    for value in values:
        first.offer(value)
    assert list(first) == sorted(values)[:limit]


@given(st.lists(st.sampled_from([None, "timeout", "robots", "unexpected status 500"])))
def test_every_page_is_counted_exactly_once(errors: list[str | None]) -> None:
    tally = tally_of(*(Page(f"http://a/{n}", error=error) for n, error in enumerate(errors)))
    assert tally.pages == tally.fine + tally.broken + tally.denied == tally.outcomes.total()
    assert tally.by_status.total() == tally.pages
    assert tally.by_error == Counter(error for error in errors if error in {"timeout", "robots"})
