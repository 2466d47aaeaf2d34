"""Moments, for readers and for programs. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from crawlproject.monitoring.ending import time_span


def iso(moment: float | None) -> str | None:
    """A time of the epoch, written as the pages have it."""
    time = _time(moment)
    return None if time is None else time.isoformat(timespec="milliseconds")


def moment_of(text: object) -> float | None:
    """The other way round: what a page says about its time, unless a pipeline changed it."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def clock(moment: float, now: float) -> str:
    """A time of the epoch, and how far away it is."""
    time = _time(moment)
    if time is None:
        return f"second {moment:g} of the epoch"
    return f"{time:%Y-%m-%d %H:%M:%S} UTC ({distance(moment, now)})"


def distance(moment: float, now: float) -> str:
    words = time_span(abs(moment - now))
    return f"in {words}" if moment > now else f"{words} ago"


def _time(moment: float | None) -> datetime | None:
    try:
        return None if moment is None else datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError, OSError):
        return None
