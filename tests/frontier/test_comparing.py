"""What has changed of a URL since it was visited last."""

from __future__ import annotations

from typing import Any

import pytest

from crawlproject.frontier.base import Lease
from crawlproject.frontier.comparing import Before, Found, compare
from crawlproject.items import Content
from crawlproject.records import PAGE
from crawlproject.recrawl.visit import Change

URL = "https://a.example/"
RECORD: dict[str, Any] = {"url": URL, "status_code": 200, "title": "One", "word_count": 80}
BEFORE = Before(RECORD, b"hash", b"sign")


def lease_of(record: dict[str, Any] | None = None, **fields: Any) -> Lease:
    lease = Lease(URL, URL, "a.example", 0, None)
    if record is not None:
        lease.records = [(PAGE, record)]
    for name, value in fields.items():
        setattr(lease, name, value)
    return lease


def found(before: Before | None, lease: Lease, alike: float | None = None) -> Found:
    return compare(before, lease, lambda one, other: alike, 0.98)


def fine(content: bytes = b"hash", sign: bytes | None = b"new", **changed: Any) -> Lease:
    return lease_of({**RECORD, **changed}, content=Content(content, sign))


FAILED = lease_of({**RECORD, "status_code": 500, "error": "unexpected status 500"}, failed=True)
GONE = lease_of(
    {**RECORD, "status_code": 404, "error": "unexpected status 404"}, failed=True, is_gone=True
)
DENIED = lease_of({"url": URL, "error": "robots"}, skip="robots: x", failed=True)


@pytest.mark.parametrize(
    ("lease", "change"),
    [
        (fine(), Change.NEW),
        (lease_of(redirect="https://b.example/"), Change.NEW),
        (FAILED, Change.FAILED),
        (GONE, Change.GONE),
        (DENIED, Change.FAILED),
    ],
)
def test_a_first_visit(lease: Lease, change: Change) -> None:
    assert found(None, lease) == Found(change, {})


@pytest.mark.parametrize(
    ("lease", "alike", "expected"),
    [
        (lease_of(is_unchanged=True), None, Found(Change.SAME, {})),
        (fine(), None, Found(Change.SAME, {})),
        # The body is another, and the text is the same, or almost.
        (fine(b"other"), 1.0, Found(Change.COSMETIC, {})),
        (fine(b"other"), 0.99, Found(Change.COSMETIC, {"content": [None, 0.99]})),
        (fine(b"other"), 0.5, Found(Change.CHANGED, {"content": [None, 0.5]})),
        # What a page is called is more than looks.
        (fine(b"other", title="Two"), 1.0, Found(Change.CHANGED, {"title": ["One", "Two"]})),
        # No text can be compared: all that is known of it counts.
        (fine(b"other", sign=None), None, Found(Change.COSMETIC, {})),
        (fine(b"other", sign=None, word_count=81), None, Found(Change.CHANGED, {})),
        (
            FAILED,
            None,
            Found(
                Change.FAILED, {"status_code": [200, 500], "error": [None, "unexpected status 500"]}
            ),
        ),
        (
            GONE,
            None,
            Found(
                Change.GONE, {"status_code": [200, 404], "error": [None, "unexpected status 404"]}
            ),
        ),
        (
            lease_of(redirect="https://b/"),
            None,
            Found(Change.CHANGED, {"redirects_to": [None, "https://b/"]}),
        ),
    ],
)
def test_a_page_that_is_visited_again(lease: Lease, alike: float | None, expected: Found) -> None:
    assert found(BEFORE, lease, alike) == expected


def test_a_list_is_what_it_links_to() -> None:
    lease = fine(b"other")
    assert found(BEFORE._replace(links_alike=0.95), lease, 1.0).change is Change.COSMETIC
    assert found(BEFORE._replace(links_alike=0.8), lease, 1.0).change is Change.CHANGED


def test_without_hashes_what_is_known_counts() -> None:
    before = BEFORE._replace(hash=None, signature=None)
    assert found(before, lease_of(RECORD)).change is Change.SAME
    assert found(before, lease_of({**RECORD, "title": "Two"})).change is Change.CHANGED


@pytest.mark.parametrize(
    ("lease", "change", "detail"),
    [
        (lease_of(redirect="https://b/"), Change.SAME, {}),
        (
            lease_of(redirect="https://c/"),
            Change.CHANGED,
            {"redirects_to": ["https://b/", "https://c/"]},
        ),
        (fine(), Change.CHANGED, {"redirects_to": ["https://b/", None]}),
    ],
)
def test_a_redirect_that_is_visited_again(
    lease: Lease, change: Change, detail: dict[str, Any]
) -> None:
    before = Before({"url": URL, "status_code": 301}, target="https://b/")
    assert found(before, lease) == Found(change, detail)


def test_a_redirect_that_can_not_be_had_may_redirect_tomorrow() -> None:
    before = Before({"url": URL, "status_code": 301}, target="https://b/")
    assert found(before, FAILED).change is Change.FAILED
    assert found(before, GONE).change is Change.GONE


def test_what_had_failed_is_back() -> None:
    failed = Before({**RECORD, "status_code": 500, "error": "timeout"}, was_fine=False)
    assert found(failed, fine()) == Found(
        Change.BACK, {"status_code": [500, 200], "error": ["timeout", None]}
    )
    # It fails in the same way: that is no news.
    again = lease_of({**RECORD, "status_code": 500, "error": "timeout"}, failed=True)
    assert found(failed, again) == Found(Change.FAILED, {})
