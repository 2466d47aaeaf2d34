"""How often a page changes, and when to come back."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.recrawl.interval import (
    DAY,
    NEVER,
    History,
    Intervals,
    history_from,
    likeliest,
)
from crawlproject.recrawl.visit import Change, Visit

HOUR = 3600.0
POLICY = Intervals()


def visited(
    *changes: Change,
    every: float = DAY,
    policy: Intervals = POLICY,
    ages: float | None = None,
    **hints: Any,
) -> History:
    """What is known after a first visit, and others at an interval."""
    history = policy.after(None, Visit(0.0), Change.NEW, **hints)
    for number, change in enumerate(changes, start=1):
        at = number * every
        modified_at = None if ages is None else at - ages
        history = policy.after(history, Visit(at, modified_at=modified_at), change, **hints)
    return history


def wait(history: History) -> float:
    return history.next_at - history.visited_at


def test_of_a_page_of_which_nothing_is_known_the_next_visit_is_some_days_away() -> None:
    first = visited()
    assert DAY < wait(first) < 7 * DAY
    assert (first.visits, first.changed_at, first.visited_at) == (1, 0.0, 0.0)


def test_every_visit_that_finds_nothing_makes_the_next_one_later() -> None:
    waits = [wait(visited(*[Change.SAME] * number)) for number in range(8)]
    assert waits == sorted(waits)
    assert wait(visited(*[Change.COSMETIC] * 7)) == waits[-1]


def test_every_visit_that_finds_a_change_makes_the_next_one_sooner() -> None:
    waits = [wait(visited(*[Change.CHANGED] * number)) for number in range(8)]
    assert waits == sorted(waits, reverse=True)


def test_news_are_visited_more_than_once_a_day_and_an_old_page_once_a_month() -> None:
    news = old = POLICY.after(None, Visit(0.0), Change.NEW)
    while news.visited_at < 60 * DAY:
        news = POLICY.after(news, Visit(news.next_at), Change.CHANGED)
    while old.visited_at < 365 * DAY:
        old = POLICY.after(old, Visit(old.next_at), Change.SAME)
    assert wait(news) < DAY
    assert wait(old) == POLICY.most


def test_no_visit_is_sooner_than_the_least_interval() -> None:
    history = visited(*[Change.CHANGED] * 200, every=60.0)
    assert wait(history) == POLICY.least


def test_a_page_that_was_news_becomes_an_old_one() -> None:
    history = visited(*[Change.CHANGED] * 50, *[Change.SAME] * 50, every=HOUR)
    assert wait(history) > 2 * wait(visited(*[Change.CHANGED] * 50, every=HOUR))


def test_the_rate_is_right_whatever_the_intervals_are() -> None:
    """And better than changes by time, which takes several changes for one."""
    chance = random.Random(5)
    for rate in (0.1, 0.5, 2.0):
        estimates, naive = [], []
        for _ in range(200):
            history = POLICY.after(None, Visit(0.0), Change.NEW)
            at, changes = 0.0, 0
            for _ in range(40):
                days = chance.uniform(0.2, 3.0)
                is_changed = chance.random() < 1 - math.exp(-rate * days)
                at += days * DAY
                changes += is_changed
                found = Change.CHANGED if is_changed else Change.SAME
                history = POLICY.after(history, Visit(at), found)
            estimates.append(history.rate)
            naive.append(changes / (at / DAY))
        estimate, counted = sum(estimates) / 200, sum(naive) / 200
        # Of a page that has changed at nearly every visit, visits can't tell how often it did.
        assert estimate == pytest.approx(rate, rel=0.15 if rate < 1 else 0.35)
        assert abs(estimate - rate) <= abs(counted - rate) + 0.01


def test_a_page_that_says_when_it_was_changed_tells_more() -> None:
    # Each day something has changed, and each time an hour ago: that is more than once a day.
    undated, dated = (visited(*[Change.CHANGED] * 9, ages=ages) for ages in (None, HOUR))
    late = visited(*[Change.CHANGED] * 9, ages=20 * HOUR)
    assert dated.rate > undated.rate > late.rate


def test_a_date_that_is_that_of_the_answer_tells_nothing() -> None:
    assert visited(Change.CHANGED, ages=1.0).rate == visited(Change.CHANGED).rate


def test_an_old_page_is_not_expected_to_change_soon() -> None:
    old = POLICY.after(None, Visit(400 * DAY, modified_at=0.0), Change.NEW)
    young = POLICY.after(None, Visit(400 * DAY, modified_at=399 * DAY), Change.NEW)
    assert wait(old) == POLICY.most
    assert wait(young) < 7 * DAY


def test_what_a_sitemap_says_counts_until_more_is_known() -> None:
    hinted = {
        word: wait(visited(changefreq=word))
        for word in ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
    }
    assert list(hinted.values()) == sorted(hinted.values())
    assert hinted["daily"] < wait(visited()) < hinted["monthly"]
    # It says 'daily', and nothing has changed for a month.
    assert wait(visited(*[Change.SAME] * 30, changefreq="daily")) > 5 * DAY
    assert wait(visited(changefreq="now and then")) == wait(visited())


def test_a_sitemaps_date_stands_in_for_one_of_the_page() -> None:
    hinted = visited(dated_at=-100 * DAY)
    assert wait(hinted) > wait(visited())


def test_a_promise_to_stay_fresh_is_believed() -> None:
    visit = Visit(0.0, fresh_until=20 * DAY)
    assert wait(POLICY.after(None, visit, Change.NEW)) == wait(visited())
    week = Visit(0.0, fresh_until=7 * DAY)
    assert wait(POLICY.after(None, week, Change.NEW)) == 7 * DAY


def test_but_not_that_of_a_page_that_breaks_it() -> None:
    broken = POLICY.after(
        visited(*[Change.CHANGED] * 9), Visit(10 * DAY, fresh_until=40 * DAY), Change.CHANGED
    )
    assert wait(broken) < DAY


def test_a_page_that_is_gone_is_visited_ever_later_and_then_no_more() -> None:
    history = visited()
    waits = []
    for _ in range(5):
        history = POLICY.after(history, Visit(history.visited_at + DAY), Change.GONE)
        waits.append(wait(history))
    assert waits[:4] == [DAY, 2 * DAY, 4 * DAY, 8 * DAY]
    assert history.next_at == NEVER
    assert (history.etag, history.last_modified) == (None, None)


def test_a_page_that_comes_back_is_one_of_many_again() -> None:
    gone = visited(Change.SAME, Change.GONE, Change.GONE)
    back = POLICY.after(gone, Visit(9 * DAY, etag='"a"'), Change.BACK)
    assert (back.misses, back.failures, back.etag) == (0, 0, '"a"')
    assert back.changed_at == 9 * DAY
    assert POLICY.least < wait(back) < POLICY.most


def test_what_could_not_be_had_is_tried_again_soon() -> None:
    history = visited(Change.SAME)
    waits = []
    for number in range(3):
        history = POLICY.after(history, Visit((2 + number) * DAY), Change.FAILED)
        waits.append(wait(history))
    assert waits == [HOUR, 2 * HOUR, 4 * HOUR]
    assert history.next_at < NEVER


def test_a_first_visit_that_fails_has_a_history_too() -> None:
    failed = POLICY.after(None, Visit(0.0), Change.FAILED)
    assert (failed.visits, wait(failed)) == (1, HOUR)
    assert failed.rate > 0


def test_other_settings_are_kept_to() -> None:
    policy = Intervals(least=10.0, most=100.0, gone_visits=1)
    assert wait(visited(policy=policy)) == 100.0
    assert visited(Change.GONE, policy=policy).next_at == NEVER
    assert visited(*[Change.CHANGED] * 50, every=1.0, policy=Intervals(least=10.0)).next_at < 10**6


def test_the_likeliest_rate_of_a_case_that_can_be_solved_by_hand() -> None:
    # Ten days: five had a change. 1 - exp(-rate) = 0.5.
    assert likeliest(0, 5, [(1.0, 5.0)]) == pytest.approx(math.log(2), rel=1e-3)
    # Seen as they came: a rate is their number by the time.
    assert likeliest(3, 30, []) == pytest.approx(0.1, rel=1e-3)


changes = st.lists(
    st.tuples(st.sampled_from(list(Change)), st.floats(0, 1e9), st.none() | st.floats(-1e9, 2e9)),
    max_size=20,
)


@given(changes)
def test_whatever_is_found_there_is_a_next_visit_within_bounds(
    found: list[tuple[Change, float, float | None]],
) -> None:
    history, at = None, 0.0
    for change, later, modified_at in found:
        at += later
        history = POLICY.after(history, Visit(at, modified_at=modified_at), change)
        # The next time is a float, and a wait of 30 days is exact to some nanoseconds of it.
        rounded = round(wait(history), 6)
        assert history.next_at == NEVER or POLICY.least <= rounded <= POLICY.most
        assert 1e-4 <= history.rate <= 100
        kept = json.loads(json.dumps(history.kept()))
        again = history_from(history.next_at, history.visited_at, history.rate, kept)
        assert again.kept() == history.kept()


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        {},
        [1] * 10,
        ["x", None, 0, 0, [], 0, 0, None, None, 0],
        [1, None, -1, 0, [], 0, 0, None, None, 0],
        [1, None, math.inf, 0, [], 0, 0, None, None, 0],
        [1, None, 0, 0, [[99, 1]], 0, 0, None, None, 0],
        [1, None, 0, 0, [[1]], 0, 0, None, None, 0],
        [1, None, 0, 0, [[1, math.nan]], 0, 0, None, None, 0],
    ],
)
def test_what_we_have_not_written_is_no_history(kept: Any) -> None:
    with pytest.raises(ValueError, match="no history"):
        history_from(1.0, 0.0, 1.0, kept)
