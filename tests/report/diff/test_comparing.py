from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.diff.comparing import Changes, Comparing, verdict
from crawlproject.report.diff.facts import Reduced

HEADINGS = [{"level": 1, "text": "A"}]


def changes(
    before: dict[str, Any],
    after: dict[str, Any],
    *ignored: str,
    alike: float | None = None,
) -> Changes:
    names = frozenset(ignored)
    reduced = Reduced(names)
    old, new = ({"url": "u", "content_hash": "h", **fields} for fields in (before, after))
    return Comparing(names)(reduced(old), reduced(new), lambda: alike)


@pytest.mark.parametrize(
    ("field", "old", "new"),
    [
        ("status_code", 200, 201),
        ("error", "timeout", "dns"),
        ("title", "A", "B"),
        ("title", None, "B"),
        ("description", "A", None),
        ("language", "en", "de"),
        ("canonical", None, "https://x/"),
        ("content_type", "text/html", "text/plain"),
        ("headings", HEADINGS, None),
        ("depth", 0, 3),
    ],
)
def test_a_value_that_is_another_is_told(field: str, old: Any, new: Any) -> None:
    found = changes({field: old}, {field: new})
    assert found == {field: {"before": old, "after": new}}
    assert changes({field: old}, {field: old}) == {}
    assert changes({field: old}, {field: new}, field) == {}


def test_noindex_is_yes_or_no() -> None:
    assert changes({}, {"noindex": False}) == {}
    assert changes({}, {"noindex": True}) == {"noindex": {"before": False, "after": True}}


@pytest.mark.parametrize(
    "field", ["fetch_ms", "fetched_at", "bytes", "referrer", "word_count", "similarity", "own"]
)
def test_what_differs_each_time_or_follows_from_others_is_not_compared(field: str) -> None:
    assert changes({field: 1}, {field: 2}) == {}


def test_links_are_sets() -> None:
    old = {"links": ["a", "b", "b", "c"]}
    assert changes(old, {"links": ["c", "b", "a"]}) == {}
    assert changes(old, {"links": ["e", "c", "d"]}) == {
        "links": {"before": 3, "after": 3, "added": ["d", "e"], "removed": ["a", "b"]}
    }


def test_redirects_are_sets() -> None:
    old = {"redirected_from": ["a", "b"]}
    assert changes(old, {"redirected_from": ["b", "a"]}) == {}
    assert changes(old, {}) == {"redirected_from": {"before": ["a", "b"], "after": []}}


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ({"content_hash": "h"}, {"content_hash": "h", "bytes": 9}, None),
        ({"content_hash": "h"}, {"content_hash": "i"}, ("h", "i")),
        # Bytes stand in, where neither has a hash.
        ({"bytes": 7}, {"bytes": 9}, (7, 9)),
        ({"bytes": 7}, {"bytes": 7}, None),
        ({}, {"bytes": 9}, (None, 9)),
        # One crawl has made no hashes: nothing is known.
        ({"content_hash": "h", "bytes": 7}, {"bytes": 9}, None),
        ({"bytes": 9}, {"content_hash": "h", "bytes": 7}, None),
        # But an empty body has none in any crawl.
        ({"content_hash": "h", "bytes": 7}, {"bytes": 0}, ("h", None)),
        ({"bytes": 0}, {"content_hash": "h", "bytes": 7}, (None, "h")),
    ],
)
def test_content_is_compared_by_hash_or_by_bytes(
    old: dict[str, Any], new: dict[str, Any], change: tuple[Any, Any] | None
) -> None:
    none = {"content_hash": None}
    found = changes(none | old, none | new).get("content")
    assert found == (change and {"before": change[0], "after": change[1]})


@pytest.mark.parametrize(
    ("alike", "is_cosmetic"), [(0.0, False), (0.9799, False), (0.98, True), (1.0, True)]
)
def test_a_change_that_leaves_the_text_almost_the_same_is_cosmetic(
    alike: float, is_cosmetic: bool
) -> None:
    other = {"content_hash": "i"}
    (change,) = changes({}, other, alike=alike).values()
    assert change == {
        "before": "h",
        "after": "i",
        "similarity": round(alike, 3),
        "cosmetic": is_cosmetic,
    }
    assert bool(changes({}, other, "cosmetic", alike=alike)) is not is_cosmetic
    # Unless it is known, it is none.
    assert changes({}, other, "cosmetic") == {"content": {"before": "h", "after": "i"}}


def test_of_what_a_broken_page_says_nothing_is_known() -> None:
    fine = {"status_code": 200, "title": "A", "links": ["a"], "bytes": 7, "language": "en"}
    broken = {"status_code": 404, "error": "unexpected status 404", "bytes": 0, "depth": 2}
    found = changes(fine, {"content_hash": None, **broken})
    assert list(found) == ["status_code", "error", "depth"]
    assert verdict(found) == "broke"
    assert verdict(changes({"content_hash": None, **broken}, fine)) == "mended"


@pytest.mark.parametrize(
    ("error", "other", "how"),
    [
        (None, "dns", "broke"),
        ("dns", None, "mended"),
        ("dns", "timeout", None),
    ],
)
def test_a_page_breaks_or_is_mended(error: str | None, other: str | None, how: str | None) -> None:
    assert verdict(changes({"error": error}, {"error": other})) == how
    assert verdict(changes({"error": error, "depth": 1}, {"error": other}, "error")) is None


def test_fields_come_in_their_order() -> None:
    old = {"depth": 1, "title": "A", "links": ["a"]}
    new = {"depth": 2, "title": "B", "content_hash": "i", "redirected_from": ["x"]}
    assert list(changes(old, new)) == ["redirected_from", "title", "content", "links", "depth"]
