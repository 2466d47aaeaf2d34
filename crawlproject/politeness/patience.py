"""How long a host is left alone that can't answer: as long as it asks for, or with back-off."""

from __future__ import annotations

import logging
from random import Random
from typing import TYPE_CHECKING

from crawlproject.politeness.retry_after import retry_after

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

# Back-off is this much longer at most, so that those who failed together don't return together.
_JITTER = 0.25
# Doublings beyond this would only overflow.
_MOST_DOUBLINGS = 40


class Patience:
    def __init__(self, base: float, maximum: float, chance: Random | None = None) -> None:
        self._base = base
        self._maximum = maximum
        self._chance = chance or Random()  # noqa: S311 - nobody is to be kept from guessing it

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Patience:
        return cls(
            settings.getfloat("FRONTIER_RETRY_BACKOFF_SECONDS"),
            settings.getfloat("POLITENESS_MAX_HOLD_SECONDS"),
        )

    def seconds(self, host: str, failures: int, response: Response, now: float) -> float:
        """How long to leave a host alone after so many failures in a row.

        A Retry-After of 0, or one that is over, says nothing: then it is back-off.
        """
        asked = self._asked(response, now)
        if asked > self._maximum:
            logger.warning(
                "%s asks to be left alone for %.0f s; %g s is used (POLITENESS_MAX_HOLD_SECONDS)",
                host,
                asked,
                self._maximum,
            )
        return min(asked, self._maximum) or self.backoff(failures)

    def asked(self, response: Response | None, now: float) -> float:
        """What a Retry-After asks for, within reason; 0: nothing."""
        return min(self._asked(response, now), self._maximum)

    def backoff(self, failures: int) -> float:
        """1, 2, 4, 8 … times the base, and a little more by chance."""
        backoff = self._base * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
        return min(backoff * self._chance.uniform(1, 1 + _JITTER), self._maximum)

    def _asked(self, response: Response | None, now: float) -> float:
        values = [] if response is None else response.headers.getlist("Retry-After")
        return retry_after(values, now) or 0.0
