"""A host that says it has too much to do (429, 503) is left alone: the whole host.

How long is its Retry-After, or back-off that doubles with every time in a row. What becomes
of the URL that got the answer is up to Scrapy's RetryMiddleware, as with any failure.

It listens to a signal and is no middleware: the hold must stand before the gate learns that
the host is free again.

Meta keys read: ``lease``, ``turn``, ``fetch_started``. Stats: ``politeness/held/<status>``.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE, TURN
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_STARTED
from crawlproject.politeness.patience import Patience
from crawlproject.politeness.waits import Wait, waits_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

_TOO_MUCH = frozenset({429, 503})
# Hosts of which it is known when they were held last; more are forgotten, the oldest first.
_MOST_HELD = 10_000


class Overload:
    def __init__(self, crawler: Crawler, patience: Patience) -> None:
        self._crawler = crawler
        self._patience = patience
        self._held_at: dict[str, float] = {}
        self._waits = waits_of(crawler)
        self._has_warned = False
        crawler.signals.connect(self._response_downloaded, signals.response_downloaded)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Overload:
        return cls(crawler, Patience.from_settings(crawler.settings))

    @cached_property
    def _frontier(self) -> Frontier:
        # It is made after this.
        return frontier_of(self._crawler)

    def _response_downloaded(self, response: Response, request: Request) -> None:
        meta = request.meta
        lease = meta.get(LEASE)
        host = meta.get(TURN) if lease is None else lease.host
        if host is None:
            return
        # What was asked before the host was held is part of the same trouble.
        is_new = meta.get(FETCH_STARTED, 0.0) >= self._held_at.get(host, 0.0)
        if response.status in _TOO_MUCH:
            self._hold(host, response, is_new=is_new)
        elif is_new and response.status < 500:
            self._frontier.overloaded(host, again=False)
            self._waits.drop(host)

    def _hold(self, host: str, response: Response, *, is_new: bool) -> None:
        frontier, moment = self._frontier, now()
        if not is_new:
            if asked := self._patience.asked(response, moment):
                frontier.hold(host, moment + asked)
            return
        failures = frontier.overloaded(host, again=True)
        seconds = self._patience.seconds(host, failures, response, moment)
        frontier.hold(host, moment + seconds)
        self._waits.put(Wait(host, f"answered {response.status}", moment + seconds, None))
        self._held_at.pop(host, None)
        self._held_at[host] = moment
        if len(self._held_at) > _MOST_HELD:
            del self._held_at[next(iter(self._held_at))]
        self._crawler.stats.inc_value(f"politeness/held/{response.status}")
        self._say(host, response.status, seconds)

    def _say(self, host: str, status: int, seconds: float) -> None:
        level = logging.INFO if self._has_warned else logging.WARNING
        logger.log(level, "%s answered %d: it is left alone for %.1f s", host, status, seconds)
        if not self._has_warned:
            self._has_warned = True
            logger.warning("More of these are counted as politeness/held and logged at INFO")
