from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.diff.words import (
    answer_words,
    change_words,
    gone_and_come,
    headline,
    notes,
    side_words,
)
from tests.report.diff.two_sides import Pages, Record, broken, compared, page


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
AFTER = [broken("/a"), page("/b"), page("/d"), broken("/dead"), page("/e"), page("/f")]
RENAMED = [page("/a"), page("/b", title="Other"), page("/c"), page("/d")]


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ((), "3 added (1 dead), 1 removed, 2 changed (1 broke), 0 moved; 1 the same."),
        (("removed",), "1 removed; 1 the same; 5 of other kinds left aside."),
        (("broke", "mended"), "1 broke; 1 the same; 5 of other kinds left aside."),
        (("broke", "dead"), "1 dead, 1 broke; 1 the same; 4 of other kinds left aside."),
        (
            ("moved",),
            "No differences of these kinds; 1 the same; 6 of other kinds left aside.",
        ),
    ],
)
def test_the_headline_counts_what_is_asked_for(only: tuple[str, ...], words: str) -> None:
    kinds = {"only": only} if only else {}
    with compared(BEFORE, AFTER, **kinds) as comparison:
        assert headline(comparison) == words


@pytest.mark.parametrize(
    ("after", "ignored", "only", "words"),
    [
        (BEFORE, (), (), "No differences; 4 the same."),
        (BEFORE, (), ("broke",), "No differences of these kinds; 4 the same."),
        (RENAMED, ("title",), (), "No differences in what is compared; 4 the same."),
        (
            RENAMED,
            ("depth",),
            ("broke",),
            "No differences of these kinds in what is compared; 3 the same; "
            "1 of other kinds left aside.",
        ),
    ],
)
def test_no_differences_are_those_that_were_looked_for(
    after: list[Record], ignored: tuple[str, ...], only: tuple[str, ...], words: str
) -> None:
    kinds = {"only": only} if only else {}
    with compared(BEFORE, after, ignored, **kinds) as comparison:
        assert headline(comparison) == words


def test_a_side_tells_when_its_crawl_began_and_was_last_at_it() -> None:
    side = Pages("A", [])
    assert side_words(side) == "0 pages"
    side.started_at = "2026-11-16T02:00:00Z"
    side.note_fetch("2026-11-17T09:30:00.500+02:00")
    for earlier in ("2026-11-17T07:00:00+00:00", "soon", None, 7):
        side.note_fetch(earlier)
    assert side_words(side) == (
        "0 pages, started 2026-11-16T02:00:00Z, last fetched 2026-11-17T07:30:00Z"
    )


def test_what_is_missing_or_ignored_is_said() -> None:
    with compared(BEFORE, AFTER, {"title", "depth"}) as comparison:
        comparison.after.open = 1
        assert list(notes(comparison)) == [
            "B: 1 URL is not yet fetched.",
            "Not compared: depth, title.",
        ]
