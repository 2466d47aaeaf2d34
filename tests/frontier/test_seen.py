from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.seen import Seen, fingerprint
from tests.frontiers import memory_frontier


def test_what_was_added_is_there_however_many_filters_it_takes() -> None:
    seen = Seen(expected=10)
    marks = [fingerprint(f"https://a.example/{number}") for number in range(2_000)]
    seen.add_all(marks)
    assert all(map(seen.may_have, marks))
    others = [fingerprint(f"https://b.example/{number}") for number in range(2_000)]
    assert sum(map(seen.may_have, others)) < 200


@given(st.text())
def test_a_fingerprint_is_an_integer_that_sqlite_can_hold(url: str) -> None:
    assert -(2**63) <= fingerprint(url) < 2**63


def test_fingerprints_are_the_same_in_every_process() -> None:
    assert fingerprint("https://example.com/") == 6581209984513522196


def test_a_filter_that_is_much_too_small_drops_nothing() -> None:
    # It says 'perhaps' to everything, so each answer is the store's.
    frontier = memory_frontier(seen=Seen(expected=1, error_rate=0.5, grows=False))
    urls = [f"https://a.example/{number}" for number in range(3_000)]
    assert frontier.admit(map(Candidate, urls)) == len(urls)
    assert frontier.admit(map(Candidate, urls)) == 0
    taken = []
    while (lease := frontier.take(0)) is not None:
        taken.append(lease.url)
        frontier.landed(lease, 0)
        frontier.finish(lease)
    assert taken == urls
