"""SCHEDULER_IDLE_BEFORE_CLOSE: how long a crawl without requests waits for more before it ends.

In scrapy-redis the scheduler blocks the whole process while it waits for its queue. Here the
spider stays open and everything else keeps running.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from crawlproject.frontier.clock import now
from crawlproject.frontier.engine import wake

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class IdleTimeout:
    def __init__(self, crawler: Crawler, seconds: float) -> None:
        self._seconds = seconds
        self._wake = partial(wake, crawler)
        self._idle_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        if seconds:
            crawler.signals.connect(self._idle, signals.spider_idle)

    def reset(self) -> None:
        """The crawl has something to do, or has ended."""
        self._idle_since = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _idle(self) -> None:
        moment = now()
        if self._idle_since is None:
            self._idle_since = moment
        left = self._idle_since + self._seconds - moment
        if left <= 0:
            return
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(left, self._ring)
        raise DontCloseSpider

    def _ring(self) -> None:
        # It may be early by a millisecond: the next idle signal sets another one.
        self._timer = None
        self._wake()
