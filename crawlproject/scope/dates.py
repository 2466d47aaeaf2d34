"""What of a URL is a date, or a part of one: in its path, and in its parameters. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# A longer number is an ID.
SMALL_DIGITS = 4

_DATE = (
    r"(?:(?:1[89]|2[01])\d\d(?P<a>[-._/:]|%2F)(?:0?\d|1[0-2])(?P=a)(?:[0-2]?\d|3[01])"
    r"|(?:[0-2]?\d|3[01])(?P<b>[-._/:]|%2F)(?:[0-2]?\d|3[01])(?P=b)(?:1[89]|2[01])\d\d"
    r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
_YEAR = r"(?:1[89]|2[01])\d\d"
_MONTH = rf"(?:{_YEAR}(?:[-._](?:0?[1-9]|1[0-2])|-?[wW][0-5]\d)|(?:0[1-9]|1[0-2])[-.]{_YEAR})"
_FILE_TYPE = r"(?:\.[a-z]{3,5})?"
_TIME_OF_DAY = r"(?:(?:[T+_-]|%20)[\dTZ:.+%A-F-]*(?:[AP]M)?)?"

_date_segment = re.compile(_DATE + _FILE_TYPE, re.ASCII).fullmatch
_month_segment = re.compile(_MONTH + _FILE_TYPE, re.ASCII).fullmatch
_number_segment = re.compile(rf"(\d+){_FILE_TYPE}", re.ASCII).fullmatch
is_date_value = re.compile(_DATE + _TIME_OF_DAY, re.ASCII).fullmatch
is_month_value = re.compile(_MONTH, re.ASCII).fullmatch
is_plain_month = re.compile(rf"{_YEAR}(?:0[1-9]|1[0-2])", re.ASCII).fullmatch
# Where it is called a year, or stands beside the name of a month, it may be in the far future.
is_year = re.compile(r"(?:1[89]|[2-9]\d)\d\d", re.ASCII).fullmatch
is_count = re.compile(r"(?:[-+]|%2B)?\d{1,4}", re.ASCII).fullmatch
_week = re.compile(r"[wW][0-5]\d", re.ASCII).fullmatch
# Seconds or milliseconds since 1970, from 2001 to 2128.
is_timestamp = re.compile(r"[1-4]\d{9}(?:\d{3})?", re.ASCII).fullmatch


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS = words(
    "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june "
    "july august september october november december"
)
# Which view of a calendar: they stand between its numbers and after them.
_VIEWS = words("- agenda calendar date day default events index list month today view week year")
# What a date is made of, and how large it gets. The name of a month is as good as its number.
YEARS = words("jahr y year yr yyyy")
FIELDS = {
    **dict.fromkeys(words("m mm mo mon monat month"), 12),
    **dict.fromkeys(words("d day dd mday tag"), 31),
    **dict.fromkeys(words("kw w week wk woche"), 53),
}
# They may be counted from today on, too. A series may have a week 200, but no week -3.
COUNTED = words("day monat month tag week woche")
MONTHLY = words("monat month")
YEAR_AND_MONTH = words("date m month period ym yearmonth yyyymm")
TIMES = words("date day end from month start t time timestamp to ts week when")


def is_small_number(segment: str) -> bool:
    return len(segment) <= SMALL_DIGITS and segment.isdecimal()


def is_at_most(value: str, most: int) -> bool:
    if value.lower() in _MONTHS:
        return True
    return is_small_number(value) and int(value) <= most


class _Path(NamedTuple):
    kept: str
    parts: int
    is_date: bool = False


def read_path(path: str) -> _Path:
    """The beginning of a path that stays, and how many parts vary."""
    segments = path.removesuffix("/").split("/")
    counts = [segment_parts(segment) for segment in segments]
    start = len(segments)
    while start and counts[start - 1] != IS_NAME:
        start -= 1
    numbers = [index for index in range(start, len(segments)) if counts[index]]
    if not numbers:
        return _Path(path, 0)
    parts = sum(counts[start:])
    kept = numbers[0]
    largest = FIELDS["week" if "week" in segments else "month"]
    is_date = parts > len(numbers) or _is_date([segments[index] for index in numbers], largest)
    if not is_date:
        # The first says which album, which board: a name, though a number.
        parts -= 1
        kept += 1
        is_date = len(numbers) > 2 and _is_date([segments[index] for index in numbers[1:]], largest)
    if parts == 0:
        return _Path(path, 0)
    return _Path("".join(f"{segment}/" for segment in segments[:kept]), parts, is_date)


# What a segment is, where it is not so many parts that vary (0: the view of a calendar).
IS_NAME = -1


def segment_parts(segment: str) -> int:
    """How many parts of a segment vary, or IS_NAME."""
    if segment[:1].isdecimal():
        return _number_parts(segment)
    word = segment.partition(".")[0].lower()
    if word in _VIEWS:
        return 0
    if word in _MONTHS or _week(word):
        return 1
    first, dash, rest = word.partition("-")
    if not dash or not rest[:1].isdecimal():
        return IS_NAME
    if first in _MONTHS:
        return 2 if is_year(rest) else IS_NAME
    # ``/day-2026-11-16``
    return _number_parts(rest) if first in _VIEWS and not rest.isdecimal() else IS_NAME


@lru_cache(maxsize=4_096)
def _number_parts(segment: str) -> int:
    if _date_segment(segment):
        return 3
    if _month_segment(segment) or _is_year_and_month(segment):
        return 2
    number = _number_segment(segment)
    if number is None:
        return IS_NAME
    return 1 if len(number[1]) <= SMALL_DIGITS else IS_NAME


def _is_near_year(number: int) -> bool:
    return 1800 <= number < 2200


def _is_year_and_month(segment: str) -> bool:
    year, _, month = segment.partition(".")[0].lower().partition("-")
    return month in _MONTHS and bool(is_year(year))


def _is_date(segments: list[str], largest: int) -> bool:
    """Whether segments are year, month and so on, or day, month, year, or month and year.

    ``largest``: of what stands beside the year.
    """
    numbers = [int(found[1]) if (found := _number_segment(name)) else 1 for name in segments]
    if _is_near_year(numbers[0]):
        return all(number <= largest for number in numbers[1:2])
    if not _is_near_year(numbers[-1]):
        return False
    if len(numbers) == 2:
        # Not of a board and its threads.
        return numbers[0] <= largest and len(segments[0]) > 1
    return len(numbers) == 3 and max(numbers[:2]) <= 31
