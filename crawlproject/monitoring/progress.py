"""A live line on the terminal while the crawl runs. It vanishes: the summary follows.

Drawn on standard error between ``engine_started`` and ``engine_stopped``, four times a
second, from the event loop. Log lines appear above it.
"""

from __future__ import annotations

import atexit
import io
import logging
import re
import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import Counts
from crawlproject.frontier.clock import now as epoch_now
from crawlproject.monitoring.counting import tally_of
from crawlproject.monitoring.line import Speed, State, render, waiting_words
from crawlproject.monitoring.phase import phase_of
from crawlproject.monitoring.snapshot import Phase
from crawlproject.monitoring.streams import is_terminal, writes_to_stdout
from crawlproject.politeness.waits import waits_of
from crawlproject.printable import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
logger = logging.getLogger(__name__)

REFRESH_SECONDS = 0.25

# As the line says it.
_PHASES = {
    Phase.RUNNING: None,
    Phase.STOPPING: "stopping",
    Phase.WRITING: "writing files",
    Phase.ENDED: None,
}


class Progress:
    def __init__(
        self,
        crawler: Crawler,
        console: Console,
        *,
        time_limit: float = 0.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._crawler = crawler
        self._console = console
        self._time_limit = time_limit
        self._clock = clock
        self._speed = Speed()
        self._started_at = 0.0
        # When the crawl goes on: pages are this run's, and so are failures.
        self._failed_before = 0
        self._is_writing = False
        self._line = Text()
        self._live: Live | None = None
        self._loop: AsyncioLoopingCall | LoopingCall | None = None
        self._log_streams: list[tuple[logging.StreamHandler[Any], Any]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Progress:
        if reason := why_off(crawler.settings):
            # Not as NotConfigured's own: Scrapy would warn of it in every crawl from cron.
            logger.debug("No live line: %s", reason)
            raise NotConfigured
        progress = cls(
            crawler,
            Console(file=sys.stderr, highlight=False),
            time_limit=crawler.settings.getfloat("CLOSESPIDER_TIMEOUT"),
        )
        connect = crawler.signals.connect
        connect(progress.engine_started, signals.engine_started)
        connect(progress.spider_closed, signals.spider_closed)
        connect(progress.engine_stopped, signals.engine_stopped)
        return progress

    def engine_started(self) -> None:
        if isinstance(sys.stderr, FileProxy):
            # Another crawl of this process draws already, and two lines would tear.
            return
        self.begin()
        self._live = Live(
            get_renderable=lambda: self._line,
            console=self._console,
            auto_refresh=False,
            transient=True,
            # What is piped elsewhere stays out of the terminal.
            redirect_stdout=is_terminal(sys.stdout),
        )
        # A second Ctrl-C ends the process without a signal of Scrapy's.
        atexit.register(self._clear)
        self._redirect_log()
        with suppress(OSError):
            self._live.start()
            # Live hides it, and it would stay hidden after a kill.
            self._console.show_cursor(True)
        self._loop = create_looping_call(self.draw)
        self._loop.start(REFRESH_SECONDS, now=False)

    def begin(self) -> None:
        self._started_at = self._clock()
        # From the start, or the first line would say 0.0 pages/s beside the pages that there are.
        self._speed.update(self._started_at, 0)
        self._failed_before = self._counts().failed

    def spider_closed(self) -> None:
        # The feeds are written next, maybe for seconds, in which nothing is drawn.
        self._is_writing = True
        self.draw()

    def engine_stopped(self) -> None:
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        self._clear()
        atexit.unregister(self._clear)

    def draw(self) -> None:
        if self._live is None:
            return
        ascii_only = self._console.options.ascii_only
        line = render(self.state(), self._console.width, ascii_only=ascii_only)
        shown = visible(line, ascii_only=ascii_only)
        self._line = Text(shown, style="dim", no_wrap=True, overflow="crop")
        # The terminal may be gone; the crawl goes on.
        with suppress(OSError):
            self._live.refresh()

    def state(self) -> State:
        now = self._clock()
        elapsed = now - self._started_at
        counts, tally = self._counts(), tally_of(self._crawler)
        return State(
            pages=tally.pages,
            queued=counts.queued,
            failed=counts.failed - self._failed_before,
            pages_per_second=self._speed.update(now, tally.pages),
            depth=tally.deepest,
            elapsed_seconds=elapsed,
            phase=self._phase(elapsed),
            waiting=self._waiting(),
        )

    def _clear(self) -> None:
        """Take the line away, and leave the terminal as it was."""
        if self._live is not None:
            with suppress(OSError):
                self._live.stop()
            self._live = None
        self._restore_log()

    def _waiting(self) -> str | None:
        moment = epoch_now()
        waits = waits_of(self._crawler).at(moment)
        return visible(waiting_words(waits[0], len(waits) - 1, moment)) if waits else None

    def _counts(self) -> Counts:
        try:
            return frontier_of(self._crawler).counts()
        except LookupError:
            return Counts()

    def _phase(self, elapsed: float) -> str | None:
        phase = phase_of(
            self._crawler, elapsed, time_limit=self._time_limit, is_writing=self._is_writing
        )
        return _PHASES[phase]

    def _redirect_log(self) -> None:
        handler = get_scrapy_root_handler()
        if isinstance(handler, logging.StreamHandler) and handler.stream is self._console.file:
            self._log_streams.append((handler, handler.stream))
            handler.setStream(AboveTheLine(self._console))

    def _restore_log(self) -> None:
        while self._log_streams:
            handler, stream = self._log_streams.pop()
            handler.setStream(stream)


class AboveTheLine(io.TextIOBase):
    """A stream whose lines appear above the live line, as long as they are."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> int:
        # The log may be coloured; no other control character is let through.
        parts = _COLOUR.split(text.removesuffix("\n"))
        parts[::2] = (visible(part, keep="\n\t") for part in parts[::2])
        self._console.print(Text.from_ansi("".join(parts)), soft_wrap=True)
        return len(text)


def why_off(settings: BaseSettings) -> str | None:
    if not settings.getbool("MONITORING_PROGRESS"):
        return "MONITORING_PROGRESS is off"
    if not settings.getbool("LOG_ENABLED"):
        return "LOG_ENABLED is off (--nolog)"
    if not is_terminal(sys.stderr):
        return "standard error is no terminal"
    if Console(file=sys.stderr).is_dumb_terminal:
        return "the terminal can't move its cursor (TERM=dumb)"
    if writes_to_stdout(settings.getdict("FEEDS")) and is_terminal(sys.stdout):
        return "a feed is written to the same terminal"
    return None
