"""A file that says how the crawl goes: a snapshot in JSON, replaced about once a second.

Whoever reads it finds a whole one, because it is written beside it, as ``.NAME.partial``, and
takes its place. The last one is written when the outputs are: its phase is 'ended', and it has
the reason.

A file that can't be written costs a line in the log, once, and never the crawl.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawlproject.exports.storage import partial_of
from crawlproject.monitoring.snapshot import to_json
from crawlproject.monitoring.vitals import Vitals
from crawlproject.private_files import create_new, mode_of
from crawlproject.spiders.values import some_time

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

_SECONDS = "MONITORING_SNAPSHOT_SECONDS"


class SnapshotFile:
    def __init__(self, crawler: Crawler, path: Path, seconds: float) -> None:
        self._crawler = crawler
        self._path = path
        self._seconds = seconds
        self._vitals: Vitals | None = None
        self._loop: AsyncioLoopingCall | LoopingCall | None = None
        self._has_complained = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SnapshotFile:
        name = crawler.settings["MONITORING_SNAPSHOT_FILE"]
        if not name:
            # Without words, which Scrapy would say as a warning: nobody has asked for it.
            raise NotConfigured
        # Whatever changes the working directory later, it is this file.
        path = Path(name).absolute()
        # Our own spider has checked it.
        seconds = some_time(_SECONDS, crawler.settings[_SECONDS])
        file = cls(crawler, path, seconds)
        connect = crawler.signals.connect
        connect(file.engine_started, signals.engine_started)
        connect(file.spider_closed, signals.spider_closed)
        connect(file.engine_stopped, signals.engine_stopped)
        return file

    def engine_started(self) -> None:
        self._vitals = self._crawler.get_extension(Vitals)
        self._loop = create_looping_call(self.write)
        self._loop.start(self._seconds, now=True)

    def spider_closed(self) -> None:
        # The outputs are written next, maybe for seconds, in which nothing else is.
        self.write()

    def engine_stopped(self) -> None:
        if self._loop is not None and self._loop.running:
            self._loop.stop()
        self.write()

    def write(self) -> None:
        if self._vitals is None:
            # Somebody has switched it off.
            return
        partial = partial_of(self._path)
        try:
            # Whoever lets others read it does so once: its rights stay.
            with create_new(partial, mode=mode_of(self._path, 0o600)) as file:
                file.write(to_json(self._vitals.take()))
            partial.replace(self._path)
        except Exception as error:  # whatever it is, the crawl matters more
            self._complain(error)
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            self._has_complained = True
            problem = getattr(error, "strerror", None) or str(error)
            logger.warning("Can't write the snapshot %s: %s", str(self._path), problem)
        logger.debug("A snapshot failed", exc_info=True)
