from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.diff.facts import BadFacts, Reduced

reduced = Reduced(frozenset())


def test_what_is_left_out_empty_or_null_says_the_same() -> None:
    bare = reduced({"url": "u"})
    empty = {"title": "", "noindex": False, "links": [], "headings": [], "error": ""}
    null = dict.fromkeys(("status_code", "title", "links", "redirected_from", "bytes"))
    assert reduced({"url": "u", **empty}) == reduced({"url": "u", **null}) == bare


def test_a_depth_of_0_is_one() -> None:
    assert reduced({"url": "u", "depth": 0})["depth"] == 0


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (5, "a page must be an object, and is 5"),
        ([], r"a page must be an object, and is \[\]"),
        ({}, 'a page must have a "url", which is a text'),
        ({"url": ""}, 'a page must have a "url"'),
        ({"url": 7}, 'a page must have a "url"'),
        ({"status_code": "200"}, "\"status_code\" must be a whole number, or null, and is '200'"),
        ({"status_code": True}, '"status_code" must be a whole number'),
        ({"depth": 1.5}, '"depth" must be a whole number, or null, and is 1.5'),
        ({"bytes": {}}, '"bytes" must be a whole number'),
        ({"error": 404}, '"error" must be a text, or null, and is 404'),
        ({"content_hash": [1]}, '"content_hash" must be a text'),
        ({"links": "x"}, "\"links\" must be a list of texts, and is 'x'"),
        ({"links": [None]}, '"links" must be a list of texts'),
        ({"redirected_from": [["x"]]}, '"redirected_from" must be a list of texts'),
        ({"links": list(range(999))}, r"0, 1, 2, .*…$"),
    ],
)
def test_what_is_no_page_is_told(record: Any, words: str) -> None:
    given = {"url": "u", **record} if isinstance(record, dict) and record else record
    with pytest.raises(BadFacts, match=words):
        reduced(given)


def test_texts_may_be_anything_that_a_pipeline_has_made_of_them() -> None:
    assert reduced({"url": "u", "title": ["a", 1]})["title"] == ["a", 1]


def test_what_is_ignored_is_not_even_checked() -> None:
    facts = Reduced(frozenset({"links", "title", "noindex"}))({"url": "u", "links": 5})
    assert "links" not in facts
    assert "noindex" not in facts
    # It is shown.
    assert "title" in facts


def test_a_url_that_no_encoding_can_write_is_what_outputs_make_of_it() -> None:
    assert reduced({"url": "https://x/\ud800é"})["url"] == "https://x/\ufffdé"
