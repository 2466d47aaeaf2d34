"""What all exports share: an output that can't be written costs that output, not the crawl."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from typing import Any

from scrapy.exporters import BaseItemExporter

# A full disk, a path that is gone, a spill that can't grow.
WRITE_ERRORS = (OSError, sqlite3.Error)


class PageExporter(BaseItemExporter):
    """Remembers the first write error, and raises it once, at the end."""

    error: Exception | None = None
    # How many of the items it was given are no pages.
    other_items = 0

    def export_item(self, item: Any) -> None:
        if self.error is None:
            try:
                self.take(item)
            except WRITE_ERRORS as error:
                self.error = error

    def finish_exporting(self) -> None:
        if self.error is not None:
            raise self.error
        self.complete()

    @abstractmethod
    def take(self, item: Any) -> None:
        """Write an item, or keep it for the end."""

    def complete(self) -> None:
        """Write what is left."""
