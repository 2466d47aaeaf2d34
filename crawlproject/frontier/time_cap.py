"""A cap on the CPU time in which what a site sent is read.

All *sections* of one page (unpacking, links, text, structured data) share ``PAGES_MAX_SECONDS``.
A clock (``ticking.py``) interrupts a section when the page's time is up, or when the crawl is to
end: after Ctrl-C, SIGTERM, or at the crawl's own ``timeout=``. A page that took too long is
recorded as ``unreadable``. One that is cut off by the end of the crawl is queued again.

A section may be left at any bytecode, so it only reads: what it has found is kept after it.

Settings read: ``PAGES_MAX_SECONDS``, ``CLOSESPIDER_TIMEOUT``. Stats: ``pages/unreadable/too_slow``.
Meta keys: reads ``lease``; reads and writes ``cpu_seconds`` (of earlier sections).
"""

from __future__ import annotations

import logging
from math import inf
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary, ref

from scrapy import signals

from crawlproject.errors import BadArgument
from crawlproject.failures import NotNow, Verdict
from crawlproject.frontier.base import LEASE
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.engine import is_asked_to_stop
from crawlproject.frontier.entry import address_of
from crawlproject.frontier.ticking import Clock, Interrupted, Section, clock_here

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from scrapy.crawler import Crawler

Args = TypeVarTuple("Args")
T = TypeVar("T")

logger = logging.getLogger(__name__)

SETTING = "PAGES_MAX_SECONDS"
CPU_SECONDS = "cpu_seconds"
# CPU seconds that a page has, however soon the crawl is to end. Nearly all need less.
_GRACE = 0.5
# Seconds of CPU between two ticks: a part of the cap, within bounds.
_PART, _SHORTEST, _LONGEST = 0.05, 0.01, 0.1


class TimeCap:
    """``seconds`` of 0 are no cap. The end of the crawl cuts pages off all the same."""

    def __init__(self, crawler: Crawler, seconds: float, deadline: Deadline) -> None:
        # Weakly: the crawler is the key by which this object is kept.
        self._crawler = ref(crawler)
        self._seconds = seconds
        self._deadline = deadline
        self._interval = min(max(seconds * _PART, _SHORTEST), _LONGEST) if seconds else _LONGEST
        self._clock = Clock()
        self._has_warned = False
        crawler.signals.connect(self.start, signals.spider_opened)
        crawler.signals.connect(self.stop, signals.engine_stopped)

    def start(self) -> None:
        self._clock = clock_here()
        self._clock.start(self, self._interval)

    def stop(self) -> None:
        self._clock.stop(self)

    def run(self, meta: dict[str, Any], read: Callable[[*Args], T], *args: *Args) -> T:
        """Call ``read``, as a section of the page whose request has ``meta``.

        Raises Verdict when its time is up, and NotNow when the crawl is to end.
        """
        clock = self._clock
        outer = clock.section
        is_up = self._is_up if LEASE in meta else self._is_too_slow
        clock.section = section = Section(is_up, meta.get(CPU_SECONDS, 0.0))
        try:
            result = read(*args)
            clock.section = outer
        except BaseException as error:
            # Before anything else: no tick is to interrupt what follows.
            clock.section = outer
            self._leave(section, meta)
            if not isinstance(error, Interrupted):
                raise
        else:
            if section.used or clock.is_late:
                self._leave(section, meta)
            return result
        raise self._interrupted(section, meta)

    @coroutine
    def wait(self, meta: dict[str, Any], awaited: Awaitable[T]) -> Generator[Any, Any, T]:
        """The same for what may wait: others run meanwhile, outside of any section."""
        steps: Any = awaited.__await__()
        step, value = steps.send, None
        while True:
            try:
                future = self.run(meta, step, value)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            try:
                step, value = steps.send, (yield future)
            except BaseException as error:
                step, value = steps.throw, error

    def _leave(self, section: Section, meta: dict[str, Any]) -> None:
        if section.used:
            meta[CPU_SECONDS] = section.used
        try:
            if self._clock.is_late:
                self._clock.settle()
        except Interrupted:
            # It came after all.
            self._clock.is_late = False

    def _is_up(self, used: float) -> bool:
        return self._is_too_slow(used) or self._is_at_end(used)

    def _is_too_slow(self, used: float) -> bool:
        return 0 < self._seconds <= used

    def _is_at_end(self, used: float) -> bool:
        return used >= _GRACE and (self._deadline.has_passed(_GRACE) or is_asked_to_stop())

    def _interrupted(self, section: Section, meta: dict[str, Any]) -> Exception:
        lease = meta.get(LEASE)
        if lease is not None and self._is_at_end(section.used):
            lease.is_put_back = True
            return NotNow("the crawl ends")
        crawler = self._crawler()
        if crawler is not None:
            crawler.stats.inc_value("pages/unreadable/too_slow")
        level = logging.INFO if self._has_warned else logging.WARNING
        self._has_warned = True
        url = "an answer" if lease is None else address_of(lease.url)
        limit = f"{SETTING}={self._seconds:g}"
        logger.log(level, "Reading %s took longer than %s (pages/unreadable/too_slow)", url, limit)
        return Verdict(f"unreadable: took longer than {limit}")


_caps: WeakKeyDictionary[Crawler, TimeCap] = WeakKeyDictionary()


def time_cap_of(crawler: Crawler) -> TimeCap:
    """The one of a crawl."""
    cap = _caps.get(crawler)
    if cap is None:
        settings = crawler.settings
        seconds = settings.getfloat(SETTING)
        # Our own spider has checked it. In another project each page would fail instead.
        if not 0 <= seconds < inf:
            raise BadArgument(SETTING, f"{seconds:g} is not a number of seconds such as 0.5 or 2")
        cap = _caps[crawler] = TimeCap(crawler, seconds, Deadline.from_crawler(crawler))
    return cap
