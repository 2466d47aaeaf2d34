"""Dates as sitemaps want them. *Pure.*"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime

from crawlproject.moments import moment_of


def w3c_datetime(text: str) -> str | None:
    """An HTTP date or an ISO 8601 one in W3C form, in UTC; None if it is neither."""
    with suppress(ValueError):
        return date.fromisoformat(text.strip()).isoformat()
    moment = moment_of(text)
    return None if moment is None else _in_utc(moment)


def w3c_milliseconds(text: str) -> str | None:
    """An ISO 8601 time to the millisecond, in UTC; None if it is none."""
    try:
        return _in_utc(datetime.fromisoformat(text), "milliseconds")
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime, timespec: str = "seconds") -> str:
    # HTTP dates are GMT; an ISO date that names no zone is taken for it too.
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=None).isoformat(timespec=timespec) + "Z"
