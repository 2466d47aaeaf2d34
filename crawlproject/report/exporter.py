"""``-O report.html``: the report of a crawl, written when it ends, from its crawl directory."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.sorted_pages import CHOOSING, SortedPagesExporter
from crawlproject.monitoring.limits import limits_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class ReportExporter(SortedPagesExporter):
    keeps_others = False

    def __init__(self, file: IO[bytes], *, settings: BaseSettings, **options: Any) -> None:
        super().__init__(file, **options)
        self._settings = settings

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **options: Any) -> Self:
        return super().from_crawler(crawler, file, settings=crawler.settings, **options)

    @classmethod
    def problem(cls, options: Mapping[str, Any]) -> str | None:
        chosen = [name for name in (*CHOOSING, "fields") if options.get(name)]
        return f"a report tells of all pages: leave out {chosen[0]}" if chosen else None

    def take(self, item: Any) -> None:
        # What links to what is not in the items.
        raise OSError("a report is written from a crawl directory as a whole, not item by item")

    def write_document(self) -> None:
        if self._reader is not None:
            limits = limits_of(self._reader.database, self._settings)
            # Scrapy imports all exporters for each crawl.
            from crawlproject.report.document import write_report

            write_report(self.file, self._reader, self._marks, limits)
