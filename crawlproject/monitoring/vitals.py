"""Takes snapshots of a crawl, for whoever wants them: a file (``snapshot_file.py``), metrics
(``metrics_server.py``). Off unless one of them is on.

Stats read: those of ``docs/stats.md`` that a snapshot has, and ``retry/count``.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import Counts, State
from crawlproject.frontier.clock import now
from crawlproject.frontier.hosts import HostsNow
from crawlproject.frontier.notes import STARTED_AT
from crawlproject.monitoring.counting import Counting, tally_of
from crawlproject.monitoring.history import History
from crawlproject.monitoring.host_looks import HostLooks
from crawlproject.monitoring.journal import Journal
from crawlproject.monitoring.line import Speed
from crawlproject.monitoring.listening import metrics_port
from crawlproject.monitoring.phase import phase_of
from crawlproject.monitoring.snapshot import (
    ERROR_CHARS,
    MAX_STATUSES,
    MAX_WAITS,
    URL_CHARS,
    HostWait,
    Phase,
    Snapshot,
    bounded,
    cut,
    cut_or_none,
)
from crawlproject.politeness.waits import waits_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier

_STATUSES = "downloader/response_status_count/"
_EXCEPTIONS = "downloader/exception_type_count/"
_HOLDS = "politeness/held/"
# How the exceptions of Scrapy, asyncio and Twisted end that say so.
_TIMEOUTS = ("TimeoutError", "TimedOutError")


class Vitals:
    # Whether the pages are those of other processes, too: then their URLs are counted.
    is_shared = False

    def __init__(
        self, crawler: Crawler, *, time_limit: float = 0.0, clock: Callable[[], float] = now
    ) -> None:
        self._crawler = crawler
        self._time_limit = time_limit
        self._clock = clock
        self._started_at = 0.0
        self._ended_at: float | None = None
        self._reason: str | None = None
        # URLs that had ended when the run began.
        self._ended_before = 0
        # When the first run began; None: this is the first.
        self._began_at: float | None = None
        self._journal = Journal()
        self._history = History()
        self._speed = Speed()
        self._hosts: HostLooks | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Vitals:
        if not is_wanted(crawler.settings):
            raise NotConfigured
        vitals = cls(crawler, time_limit=crawler.settings.getfloat("CLOSESPIDER_TIMEOUT"))
        connect = crawler.signals.connect
        connect(vitals.engine_started, signals.engine_started)
        connect(vitals.spider_closed, signals.spider_closed)
        connect(vitals.engine_stopped, signals.engine_stopped)
        return vitals

    def engine_started(self) -> None:
        self._started_at = self._clock()
        if (counting := self._crawler.get_extension(Counting)) is not None:
            counting.journal = self._journal
        frontier = self._frontier()
        look = _no_hosts if frontier is None else frontier.hosts
        self._hosts = HostLooks(look, self._started_at, time.perf_counter)
        self._ended_before = self._counts(frontier).pages
        self._began_at = _time_of(None if frontier is None else frontier.recall(STARTED_AT))
        self._speed.update(self._started_at, 0)
        self._history.add(0.0, 0)

    def spider_closed(self, reason: str) -> None:
        self._reason = reason

    def engine_stopped(self) -> None:
        self._ended_at = self._clock()
        if self._hosts is not None:
            self._hosts.look_again()

    def take(self) -> Snapshot:
        """The crawl as it is now; from ``engine_started`` on."""
        assert self._hosts is not None
        at = self._clock()
        elapsed = at - self._started_at
        frontier = self._frontier()
        counts = self._counts(frontier)
        tally, journal = tally_of(self._crawler), self._journal
        stats = self._crawler.stats.get_stats()
        before = stats.get("frontier/resumed_pages", 0)
        pages = self._pages(counts)
        self._history.add(round(elapsed, 3), pages)
        return Snapshot(
            at=at,
            started_at=self._started_at,
            ended_at=self._ended_at,
            reason=None if self._ended_at is None else self._reason,
            phase=self._phase(elapsed),
            pages=before + pages,
            pages_before=before,
            outcomes=dict(tally.by_outcome),
            urls={
                State.QUEUED: counts.queued,
                State.LEASED: counts.leased,
                State.DONE: counts.done,
                State.FAILED: counts.failed,
                State.SKIPPED: sum(counts.skipped.values()),
            },
            skipped=bounded(counts.skipped),
            depths=journal.depths(),
            requests=stats.get("downloader/request_count", 0),
            responses=bounded(_behind(_STATUSES, stats), MAX_STATUSES),
            errors=bounded(tally.by_error),
            bytes=stats.get("downloader/response_bytes", 0),
            fetch_seconds=journal.fetch_seconds(),
            robots_denied=stats.get("robotstxt/forbidden", 0),
            timeouts=sum(
                count
                for name, count in _behind(_EXCEPTIONS, stats).items()
                if name.endswith(_TIMEOUTS)
            ),
            retries=stats.get("retry/count", 0),
            overloads=sum(_behind(_HOLDS, stats).values()),
            duplicates=stats.get("duplicates/bodies_again", 0),
            links=stats.get("links/found", 0),
            links_known=stats.get("links/known", 0),
            hosts=self._hosts.hosts(at),
            waits=[
                HostWait(
                    cut(wait.host, URL_CHARS),
                    cut(wait.reason, ERROR_CHARS),
                    wait.next_try_at,
                    wait.until,
                )
                for wait in waits_of(self._crawler).at(at)[:MAX_WAITS]
            ],
            memory_bytes=memory_bytes(),
            # User and system.
            cpu_seconds=time.process_time(),
            oldest_page_at=self._began_at if before else journal.first_at,
            newest_page_at=journal.newest_at,
            pages_per_second=self._speed.update(at, pages),
            history=self._history.points(),
            latest_pages=journal.latest_pages(),
            latest_errors=journal.latest_errors(),
            problem=None if frontier is None else cut_or_none(frontier.failure, ERROR_CHARS),
        )

    def _pages(self, counts: Counts) -> int:
        """The pages of this run."""
        if self.is_shared or self._crawler.get_extension(Counting) is None:
            return max(0, counts.pages - self._ended_before)
        return tally_of(self._crawler).pages

    def _phase(self, elapsed: float) -> Phase:
        if self._ended_at is not None:
            return Phase.ENDED
        return phase_of(
            self._crawler,
            elapsed,
            time_limit=self._time_limit,
            is_writing=self._reason is not None,
        )

    def _counts(self, frontier: Frontier | None) -> Counts:
        return Counts() if frontier is None else frontier.counts()

    def _frontier(self) -> Frontier | None:
        with suppress(LookupError):  # another scheduler
            return frontier_of(self._crawler)
        return None


def is_wanted(settings: BaseSettings) -> bool:
    return bool(settings["MONITORING_SNAPSHOT_FILE"] or metrics_port(settings))


def memory_bytes() -> int:
    """What the process has in memory now; where nobody tells, what it had at most."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import resource  # not everywhere, as the file above

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _behind(prefix: str, stats: Mapping[str, Any]) -> dict[str, int]:
    """Counts by what stands behind a prefix."""
    return {
        key.removeprefix(prefix): count for key, count in stats.items() if key.startswith(prefix)
    }


def _no_hosts(now: float) -> HostsNow:
    return HostsNow()


def _time_of(note: str | None) -> float | None:
    with suppress(ValueError):
        return None if note is None else datetime.fromisoformat(note).timestamp()
    return None
