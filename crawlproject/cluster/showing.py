"""Live line, snapshots and summary of a crawl by several workers: those of any crawl, of all."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from rich.console import Console
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawlproject.cluster import fleet_of
from crawlproject.frontier import frontier_of
from crawlproject.monitoring.ending import plural
from crawlproject.monitoring.line import State, render
from crawlproject.monitoring.progress import Progress
from crawlproject.monitoring.streams import is_terminal, tell
from crawlproject.monitoring.summary import Summary
from crawlproject.monitoring.vitals import Vitals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.cluster.whole import Whole
    from crawlproject.monitoring.ending import Ending

# Seconds between two lines where nobody looks on, and their columns.
_NOW_AND_THEN = 60.0
_WIDTH = 120


class ClusterProgress(Progress):
    def state(self) -> State:
        now = self._clock()
        whole = _whole(self._crawler)
        first, last = whole.first, whole.last
        pages = max(0, last.counts.pages - first.counts.pages)
        elapsed = now - self._started_at
        return State(
            pages=pages,
            queued=last.counts.open,
            failed=max(0, last.counts.failed - first.counts.failed),
            pages_per_second=self._speed.update(now, pages),
            depth=last.depth,
            elapsed_seconds=elapsed,
            phase=self._phase(elapsed),
            workers=fleet_of(self._crawler).workers.alive,
        )


class NowAndThen:
    """What the live line says, as lines of a log, where standard error is no terminal."""

    def __init__(self, crawler: Crawler) -> None:
        self._progress = ClusterProgress(crawler, Console(file=sys.stderr))
        self._loop = create_looping_call(self._print)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NowAndThen:
        settings = crawler.settings
        is_wanted = settings.getbool("MONITORING_PROGRESS") and settings.getbool("LOG_ENABLED")
        if not is_wanted or is_terminal(sys.stderr):
            raise NotConfigured
        lines = cls(crawler)
        crawler.signals.connect(lines.engine_started, signals.engine_started)
        crawler.signals.connect(lines.engine_stopped, signals.engine_stopped)
        return lines

    def engine_started(self) -> None:
        self._progress.begin()
        self._loop.start(_NOW_AND_THEN, now=False)

    def engine_stopped(self) -> None:
        if self._loop.running:
            self._loop.stop()

    def _print(self) -> None:
        with suppress(OSError, ValueError):
            tell(render(self._progress.state(), _WIDTH, ascii_only=True))


class ClusterVitals(Vitals):
    """Pages and URLs are those of all workers; requests and hosts are theirs alone."""

    is_shared = True


class ClusterSummary(Summary):
    is_shared = True

    def spider_opened(self) -> None:
        pages = self._crawler.stats.get_value("frontier/resumed_pages")
        if pages is not None:
            queued = _whole(self._crawler).first.counts.open
            tell(
                f"Going on with the crawl in {fleet_of(self._crawler).place}: "
                f"{plural(pages, 'page')} so far, {plural(queued, 'URL')} queued."
            )

    def ending(self, *, is_watched: bool) -> Ending:
        ending = super().ending(is_watched=is_watched)
        ending.directory = fleet_of(self._crawler).place
        return ending


def _whole(crawler: Crawler) -> Whole:
    return cast("Whole", frontier_of(crawler))
