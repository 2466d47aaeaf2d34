"""Dates and times as HTTP, feeds and sitemaps write them. *Pure.*"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

# As nearly all servers write it: ten times the speed of the general way.
_USUAL = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII
)
_MONTHS = {"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6}
_MONTHS |= {"Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}
_DATE_CHARS = len("2025-01-31")


def moment_of(text: str) -> datetime | None:
    """The time of an HTTP date (any of its three forms) or an ISO 8601 one; None if it is neither.

    Where no zone is named, Greenwich is meant. A day is its first moment.
    """
    text = text.strip()
    try:
        if usual := _USUAL.fullmatch(text):
            day, month, year, *time = usual.groups()
            hour, minute, second = map(int, time)
            return datetime(int(year), _MONTHS[month], int(day), hour, minute, second, tzinfo=UTC)
    except (ValueError, KeyError):
        return None
    try:
        if len(text) == _DATE_CHARS:
            first = date.fromisoformat(text)
            return datetime(first.year, first.month, first.day, tzinfo=UTC)
        return _in_utc(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass
    try:
        return _in_utc(parsedate_to_datetime(text))
    # The parser trips over odd input in ways of its own; a date that is none is no date.
    except (ValueError, OverflowError, TypeError, IndexError, AttributeError):
        return None


def seconds_of(text: str) -> float | None:
    """The same, in seconds of the epoch."""
    moment = moment_of(text)
    return None if moment is None else moment.timestamp()


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
