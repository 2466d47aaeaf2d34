"""Dates as sitemaps want them. *Pure.*"""

from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime


def w3c_datetime(text: str) -> str | None:
    """An HTTP date or an ISO 8601 one in W3C form, in UTC; None if it is neither."""
    text = text.strip()
    try:
        if len(text) == len("2025-01-31"):
            return date.fromisoformat(text).isoformat()
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass
    try:
        return _in_utc(parsedate_to_datetime(text))
    # The parser trips over odd input in ways of its own; a date that is none is no date.
    except (ValueError, OverflowError, TypeError, IndexError, AttributeError):
        return None


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
