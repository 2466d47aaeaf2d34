from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.politeness.retry_after import retry_after

# Sun, 06 Nov 1994 08:49:37 GMT
THEN = 784_111_777


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([b"120"], 120),
        ([b" 120 "], 120),
        ([b"0"], 0),
        ([b"1.5"], 1.5),
        ([b"9" * 500], float("9" * 64)),
        # The three forms of a date, and what mail has made of them.
        ([b"Sun, 06 Nov 1994 08:49:37 GMT"], 37),
        ([b"Sunday, 06-Nov-94 08:49:37 GMT"], 37),
        ([b"Sun Nov  6 08:49:37 1994"], 37),
        ([b"Sun, 06 Nov 1994 09:49:37 +0100"], 37),
        # Over and done with.
        ([b"Sun, 06 Nov 1994 08:40:00 GMT"], 0),
        ([b"Thu, 01 Jan 1970 00:00:00 GMT"], 0),
        # Whoever says it twice means the longer time.
        ([b"5", b"60"], 60),
        ([b"soon", b"60"], 60),
        ([b"5", b"Sun, 06 Nov 1994 08:49:37 GMT"], 37),
        # Nothing that could be meant.
        ([], None),
        ([b""], None),
        ([b"-5"], None),
        ([b"inf"], None),
        ([b"nan"], None),
        ([b"1e9"], None),
        ([b"0x10"], None),
        ([b"soon"], None),
        ([b"5, 60"], None),
        ([b"\xb2"], None),
        ([b"Sun, 99 Nov 1994 99:99:99 GMT"], None),
        ([b"Sun, 06 Nov 99999999999 08:49:37 GMT"], None),
    ],
)
def test_seconds_and_dates_are_understood(values: list[bytes], expected: float | None) -> None:
    assert retry_after(values, THEN - 37) == expected


@given(st.lists(st.binary(max_size=80) | st.text("SunNov 0123456789:-+,GMT").map(str.encode)))
def test_nothing_that_a_server_sends_is_negative_or_raises(values: list[bytes]) -> None:
    seconds = retry_after(values, THEN)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))
