from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.gathering import Gathering
from crawlproject.report.known import Flag, Known
from crawlproject.report.values import answer_words, host_of, moment_of


def known_of(*records: dict[str, Any]) -> Known:
    gathering = Gathering()
    for number, record in enumerate(records, 1):
        gathering.add(number, f"https://a.example/{number}", 1, record, 0)
    return gathering.known()


HTML = {"status_code": 200, "content_type": "text/html; charset=utf-8"}


@pytest.mark.parametrize(
    ("record", "is_indexable"),
    [
        (HTML, True),
        ({**HTML, "content_type": "application/pdf"}, False),
        ({**HTML, "noindex": True}, False),
        ({**HTML, "canonical": "https://a.example/other"}, False),
        ({**HTML, "status_code": 203}, False),
        ({**HTML, "status_code": 404, "error": "unexpected status 404"}, False),
        ({}, False),
    ],
)
def test_what_search_engines_may_show(record: dict[str, Any], is_indexable: bool) -> None:
    assert known_of(record).indexable().tolist() == [is_indexable]


def test_a_page_that_names_itself_as_canonical_names_no_other() -> None:
    record = {**HTML, "url": "https://a.example/1", "canonical": "https://a.example/1"}
    assert known_of(record).has(Flag.CANONICAL).tolist() == [False]


@pytest.mark.parametrize("value", ["x", True, -1, 10**30, 1.5, [], None])
def test_values_of_any_kind_are_borne(value: Any) -> None:
    fields = ("status_code", "bytes", "fetch_ms", "word_count", "title", "headings", "language")
    others = ("fetched_at", "content_type", "canonical", "structured_data", "error", "outlinks")
    record = {name: value for name in (*fields, *others) if name != "error" or value != "x"}
    known = known_of(record)
    assert (len(known), known.sizes.tolist(), known.words.tolist()) == (1, [-1], [-1])


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (200, None, "200 OK"),
        (404, "unexpected status 404", "404 Not Found"),
        (599, "unexpected status 599", "599"),
        (200, "truncated: by 3 bytes", "200 truncated"),
        (None, "timeout", "timeout"),
        (None, "robots", "robots"),
        (None, None, "no answer"),
    ],
)
def test_an_answer_in_words(status: int | None, error: str | None, words: str) -> None:
    assert answer_words(status, error) == words


def test_the_host_of_a_url_has_its_port() -> None:
    assert host_of("https://a.example:8443/x/y") == "a.example:8443"


@pytest.mark.parametrize("value", ["never", None, 7, "2026-13-01"])
def test_what_is_no_time_is_not_a_number(value: Any) -> None:
    assert moment_of(value) != moment_of(value)
