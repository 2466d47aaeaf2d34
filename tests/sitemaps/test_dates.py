from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.sitemaps.dates import is_newer, read_date


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # As the W3C has them.
        ("2025", "2025-01-01"),
        ("2025-03", "2025-03-01"),
        ("2025-03-04", "2025-03-04"),
        ("2025-03-04T05:06Z", "2025-03-04T05:06:00Z"),
        ("2025-03-04T05:06:07+02:00", "2025-03-04T05:06:07+02:00"),
        ("2025-03-04T05:06:07.000Z", "2025-03-04T05:06:07Z"),
        ("2025-03-04T05:06:07.25-05:30", "2025-03-04T05:06:07.250000-05:30"),
        # As others have them.
        ("\n 2025-03-04 ", "2025-03-04"),
        ("20250304", "2025-03-04"),
        ("2025-03-04T05:06:07", "2025-03-04T05:06:07Z"),
        ("2025-03-04 05:06:07", "2025-03-04T05:06:07Z"),
        ("2025-03-04T05:06:07+0000", "2025-03-04T05:06:07Z"),
        ("2025-03-04T05:06:07.1234567+01:00", "2025-03-04T05:06:07.123456+01:00"),
        # As e-mails have them, in UTC.
        ("Tue, 04 Mar 2025 05:06:07 GMT", "2025-03-04T05:06:07Z"),
        ("Tue, 04 Mar 2025 05:06:07 +0200", "2025-03-04T03:06:07Z"),
        ("Tue, 04 Mar 2025 05:06:07 -0000", "2025-03-04T05:06:07Z"),
        ("4 Mar 25 05:06 EST", "2025-03-04T10:06:00Z"),
    ],
)
def test_dates_are_iso_8601(text: str, read: str) -> None:
    assert read_date(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "1741064767",
        "2025-13-01",
        "2025-02-30",
        "2025-03-04T25:00:00Z",
        "04.03.2025",
        "0000-00-00",
        "0001-01-01",
        "0001-01-01T00:00:00",
        "1970-01-01T00:00:00+00:00",
        "-0001-11-30T00:00:00+00:00",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 -0500",
        "٢٠٢٥",
        "1 " * 4_000,
        "\ud800",
    ],
)
def test_what_is_no_date_or_stands_for_none_is_none(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2025-03-04", None),
        ("2025-03-05", "2025-03-04"),
        ("2025-03-04T00:00:01Z", "2025-03-04"),
        ("2025-03-04T05:00:00+01:00", "2025-03-04T05:00:00+02:00"),
        ("9999-12-31T23:00:00-12:00", "9999-12-31T23:00:00Z"),
    ],
)
def test_the_newer_one_is_known(one: str, other: str | None) -> None:
    assert is_newer(one, other)
    assert not is_newer(other, one)
    assert not is_newer(one, one)


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1991, 1, 1), datetime(9990, 1, 1), timezones=ZONES)


@given(MOMENTS)
def test_a_moment_is_the_same_moment_afterwards(moment: datetime) -> None:
    written = read_date(moment.isoformat())
    assert written is not None
    assert datetime.fromisoformat(written) == moment
    assert read_date(written) == written
    mailed = read_date(format_datetime(moment))
    assert mailed == moment.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


@given(st.text() | st.text(st.sampled_from("0123456789-:TZ+. GMTJan,")))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = read_date(text)
    assert found is None or read_date(found) == found
