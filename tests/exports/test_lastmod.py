from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.exports.lastmod import w3c_datetime


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
        ("Sun, 06 Nov 1994 08:49:37 +0200", "1994-11-06T06:49:37Z"),
        ("2025-01-31", "2025-01-31"),
        ("2025-01-31T10:00:00+01:00", "2025-01-31T09:00:00Z"),
        ("2025-01-31T10:00:00.123456Z", "2025-01-31T10:00:00Z"),
        (" 2025-01-31 10:00 ", "2025-01-31T10:00:00Z"),
        ("", None),
        ("0", None),
        ("-1", None),
        ("yesterday", None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 +9999999999", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("2025-13-01", None),
        ("</lastmod>", None),
    ],
)
def test_dates_in_w3c_form(text: str, expected: str | None) -> None:
    assert w3c_datetime(text) == expected


@given(st.text())
def test_no_text_raises(text: str) -> None:
    w3c_datetime(text)
