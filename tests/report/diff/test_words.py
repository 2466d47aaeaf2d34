from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.diff.words import (
    answer_words,
    change_words,
    gone_and_come,
    headline,
    notes,
)
from tests.report.diff.two_sides import broken, compared, page


def heads(*texts: str) -> list[dict[str, Any]]:
    return [{"level": 1, "text": text} for text in texts]


@pytest.mark.parametrize(
    ("field", "change", "words"),
    [
        ("status_code", {"before": 200, "after": 404}, "200 → 404"),
        ("status_code", {"before": 200, "after": None}, "200 → no answer"),
        ("error", {"before": None, "after": "dns"}, "fine → dns"),
        ("title", {"before": None, "after": "A"}, "none → A"),
        ("title", {"before": ["A", 1], "after": {"b": 2}}, 'A 1 → {"b":2}'),
        ("noindex", {"before": False, "after": True}, "no → yes"),
        ("depth", {"before": 0, "after": 2}, "0 → 2"),
        ("redirects_to", {"before": None, "after": "u"}, "a page → u"),
        ("redirects_to", {"before": "u", "after": None}, "u → a page"),
        ("links", {"before": 3, "after": 1, "added": ["a"], "removed": ["b"] * 3}, "+1 −3"),
        ("links", {"before": 0, "after": 1, "added": ["a"], "removed": []}, "+1"),
        ("redirected_from", {"before": ["a", "b"], "after": ["b"]}, "−1"),
        ("headings", {"before": heads("A", "B"), "after": heads("B", "A")}, "in another order"),
        ("headings", {"before": heads("A", "A"), "after": heads("A")}, "−1"),
        ("headings", {"before": None, "after": "odd"}, "+1"),
        ("content", {"before": "h", "after": "i"}, "the body is another"),
        ("content", {"before": "h", "after": None}, "no body any more"),
        ("content", {"before": None, "after": "h"}, "no body before"),
        ("content", {"before": 1000, "after": 2000}, "1,000 → 2,000 bytes"),
        (
            "content",
            {"before": "h", "after": "i", "similarity": 0.993, "cosmetic": True},
            "99.3 % of the text is the same (cosmetic)",
        ),
        (
            "content",
            {"before": "h", "after": "i", "similarity": 1.0, "cosmetic": True},
            "the text is the same (cosmetic)",
        ),
    ],
)
def test_a_change_is_told_on_one_line(field: str, change: dict[str, Any], words: str) -> None:
    assert change_words(field, change) == words


def test_of_lists_only_what_differs_is_told() -> None:
    change = {"before": heads("A", "B", "C"), "after": heads("C", "D")}
    assert gone_and_come("headings", change) == (["h1 A", "h1 B"], ["h1 D"])


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [(200, None, "200"), (404, "unexpected status 404", "404"), (None, "dns", "dns")],
)
def test_an_answer_is_a_status_or_why_there_is_none(
    status: int | None, error: str | None, words: str
) -> None:
    assert answer_words({"status_code": status, "error": error}) == words


BEFORE = [page("/a"), page("/b", title="B"), page("/c"), page("/d")]
AFTER = [broken("/a"), page("/b"), page("/d"), page("/e"), page("/f")]


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ((), "2 added, 1 removed, 2 changed (1 broke), 0 moved; 1 the same."),
        (("added",), "2 added; 1 the same."),
        (("broke", "mended"), "1 broke; 1 the same."),
        (("moved",), "No differences; 1 the same."),
    ],
)
def test_the_headline_counts_what_is_asked_for(only: tuple[str, ...], words: str) -> None:
    kinds = {"only": only} if only else {}
    with compared(BEFORE, AFTER, **kinds) as comparison:
        assert headline(comparison.findings) == words


def test_what_is_missing_or_ignored_is_said() -> None:
    with compared(BEFORE, AFTER, {"title", "depth"}) as comparison:
        comparison.after.open = 1
        assert list(notes(comparison)) == [
            "B: 1 URL is not yet fetched.",
            "Not compared: depth, title.",
        ]
