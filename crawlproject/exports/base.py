"""What all exports share: an output that can't be written costs that output, not the crawl."""

from __future__ import annotations

import logging
import sqlite3
from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import FeedExporter

from crawlproject.exports.storage import ReplacingFileStorage

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

logger = logging.getLogger(__name__)

# A full disk, a path that is gone, a spill that can't grow.
WRITE_ERRORS = (OSError, sqlite3.Error)


class PageExporter(BaseItemExporter):
    """Remembers the first write error, and raises it once, at the end."""

    _error: Exception | None = None

    def export_item(self, item: Any) -> None:
        if self._error is None:
            try:
                self.take(item)
            except WRITE_ERRORS as error:
                self._error = error

    def finish_exporting(self) -> None:
        if self._error is not None:
            raise self._error
        self.complete()

    @abstractmethod
    def take(self, item: Any) -> None:
        """Write an item, or keep it for the end."""

    def complete(self) -> None:
        """Write what is left."""


class Feeds(FeedExporter):
    """Scrapy's feed exports, which say in one line which output could not be written.

    ``failures`` has them, by URI.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.failures: dict[str, str] = {}

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        try:
            await super()._close_slot(slot, spider)
        except WRITE_ERRORS as error:
            problem = getattr(error, "strerror", None) or str(error)
            self.failures[slot.uri] = problem
            logger.info("Can't write %s: %s", slot.uri, problem)
            if slot.file is not None:
                with suppress(*WRITE_ERRORS):
                    slot.file.close()
            if isinstance(slot.storage, ReplacingFileStorage):
                slot.storage.discard()
