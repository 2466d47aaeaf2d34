"""What came of visiting pages again, in words."""

from __future__ import annotations

import pytest

from crawlproject.frontier.overview import RoundFacts
from crawlproject.monitoring.rounds import round_note


@pytest.mark.parametrize(
    ("visited", "changes", "sentence"),
    [
        (74, {}, "74 pages were visited again: none has changed."),
        (1, {}, "1 page was visited again: it has not changed."),
        (
            74,
            {"changed": 2, "gone": 1, "new": 1},
            "74 pages were visited again: 71 have not changed, 2 have changed, 1 is gone; "
            "1 page is new.",
        ),
        (
            9,
            {"changed": 1, "cosmetic": 3, "failed": 2, "back": 1, "unlinked": 2, "new": 2},
            "9 pages were visited again: 2 have not changed, 1 has changed, 3 have changed in "
            "looks only, 2 could not be had, 1 is back; 2 pages are new; 2 are not linked to any "
            "more.",
        ),
        (1, {"changed": 1}, "1 page was visited again: 1 has changed."),
    ],
)
def test_what_was_found_is_told(visited: int, changes: dict[str, int], sentence: str) -> None:
    assert round_note(RoundFacts(0.0, visited, changes)) == sentence


def test_where_there_was_no_round_nothing_is_told() -> None:
    assert round_note(None) is None
