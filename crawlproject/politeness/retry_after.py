"""The Retry-After header: when a host that has too much to do wants to be asked again.*"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlproject.moments import seconds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

# RFC 9110 knows whole seconds; some servers send fractions.
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
# More than any number or date needs.
_LONGEST = 64


def retry_after(values: Iterable[bytes], now: float) -> float | None:
    """Seconds from now, the longest that the header's values ask for; 0: at once.

    None when none of them is a number of seconds or a date (any of HTTP's three forms).
    """
    waits = [wait for value in values if (wait := _wait(value, now)) is not None]
    return max(waits, default=None)


def _wait(value: bytes, now: float) -> float | None:
    text = value[:_LONGEST].decode("latin-1").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    then = seconds_of(text)
    return None if then is None else max(0.0, then - now)
