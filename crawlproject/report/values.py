"""What values of a page's record say, which a pipeline may have changed to anything. *Pure.*"""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from crawlproject.monitoring.tally import error_word

if TYPE_CHECKING:
    from crawlproject.records import Record

# In place of a number that is not known.
NONE = -1
# A number beyond is no size, time or status of anything.
_LARGEST = 2**31 - 1


def whole(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _LARGEST else None


def number_or_none(value: Any) -> int:
    number = whole(value)
    return NONE if number is None else number


def text_of(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def moment_of(value: Any) -> float:
    """Seconds of the epoch of a time in ISO 8601; not a number where there is none."""
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def canonical_of(record: Record) -> str | None:
    canonical = text_of(record.get("canonical"))
    return None if canonical == record.get("url") else canonical


def type_of(record: Record) -> str:
    return (text_of(record.get("content_type")) or "").partition(";")[0].strip().lower()


def host_of(url: str) -> str:
    """Of a canonical URL, with its port."""
    return url.split("/", 3)[2] if url.count("/") > 2 else url


def answer_words(status: int | None, error: str | None) -> str:
    """What a page answered, as the summary has it: '404 Not Found', 'timeout'."""
    word = error_word(error)
    if status is None:
        return word or "no answer"
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"{status} {word or phrase}".strip()
