"""Dates as sitemaps and feeds write them. *Pure.*"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

# Some programs write the first date that they know for one that they don't know.
_WEB_BEGINS = 1990

_is_year_or_month = re.compile(r"\d{4}(?:-\d\d)?", re.ASCII).fullmatch


# Pages of one site often have the same, one after the other.
@lru_cache(maxsize=1_024)
def read_date(text: str) -> str | None:
    """A W3C date as it is written, or that of an e-mail in UTC, as ISO 8601; None if it is neither.

    A date stays a date, a year or a month becomes its first day. What names no zone is UTC.
    """
    text = text.strip()
    if _is_year_or_month(text):
        text += "-01-01"[len(text) - len("2025") :]
    try:
        day = date.fromisoformat(text)
        return day.isoformat() if day.year >= _WEB_BEGINS else None
    except ValueError:
        pass
    try:
        return _written(datetime.fromisoformat(text))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
        return _written(moment.astimezone(UTC) if moment.tzinfo else moment)
    # The parser trips over odd input in ways of its own; a date that is none is no date.
    except (ValueError, OverflowError, TypeError, IndexError, AttributeError):
        return None


def _written(moment: datetime) -> str | None:
    if moment.year < _WEB_BEGINS:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat().replace("+00:00", "Z")


def is_newer(one: str | None, other: str | None) -> bool:
    """Whether a date that was read is later than another; any is later than none."""
    if one is None or other is None:
        return one is not None
    return _moment(one) > _moment(other)


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
