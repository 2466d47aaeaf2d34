"""What the sorted exports share: pages come in any order and go out by URL.

Within a crawl the pages are in the crawl directory, those of earlier runs too, and are read
from there when the crawl ends (``read_from``). Without one, as in a project with another
scheduler, the exporter collects what it is given:

- A later page of the same URL replaces the earlier one.
- Depth, referrer and redirects are final, since a shorter way to a page may have been found
  after it arrived.
- Items that are no pages come after the pages, sorted by their JSON text, none dropped:
  what comes out does not depend on the order in which anything arrived.
- The document is written when the crawl ends and replaces what the file held, also with
  ``-o``: until then an earlier document stays. Where the storage cannot replace (standard
  output, post-processing), it is written behind what is there.
- Memory is flat: what waits is on disk (``spill``).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.base import PageExporter
from crawlproject.exports.files import start_over
from crawlproject.exports.spill import Spill
from crawlproject.records import chosen_fields, is_page, json_encoder, record_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.frontier.reading import Reader
    from crawlproject.pipelines.marking import Marks
    from crawlproject.records import Record

# Options of a feed that choose among items.
CHOOSING = ("item_classes", "item_filter", "batch_item_count")


class SortedPagesExporter(PageExporter):
    """Collects items, and writes one document of them at the end.

    ``seeds`` may still grow while the crawl runs. ``options`` are Scrapy's own.
    """

    keeps_others = True
    needs_links = True

    def __init__(
        self,
        file: IO[bytes],
        *,
        seeds: Sequence[str] = (),
        started_at: datetime | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.file = file
        self.seeds = seeds
        self.started_at = started_at
        self.chosen = chosen_fields(self.fields_to_export)
        self._json = json_encoder(None)
        self._reader: Reader | None = None
        self._marks: Marks | None = None
        self._pages = Spill()
        self._others = Spill()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **options: Any) -> Self:
        options.setdefault("seeds", getattr(crawler.spider, "seeds", None) or ())
        options.setdefault("started_at", crawler.stats.get_value("start_time"))
        return cls(file, **options)

    def read_from(self, reader: Reader, marks: Marks | None = None) -> None:
        """Take what a crawl directory has, instead of what is given item by item.

        ``marks`` say which pages are duplicates, and whether they are left out.
        """
        self._reader = reader
        self._marks = marks
        self.other_items = reader.count_others()
        self.started_at = reader.started_at() or self.started_at
        self.seeds = reader.seeds() or self.seeds

    def take(self, item: Any) -> None:
        record = record_of(item)
        if is_page(record):
            self._pages.add(record["url"], self.condense(record))
            return
        self.other_items += 1
        if self.keeps_others:
            key = self._json(record).decode()
            self._others.add(key, self.condense(record))

    def finish_exporting(self) -> None:
        try:
            super().finish_exporting()
        finally:
            self._pages.close()
            self._others.close()

    def complete(self) -> None:
        start_over(self.file)
        self.write_document()
        # A full disk shows here at the latest.
        self.file.flush()

    @abstractmethod
    def write_document(self) -> None:
        """Write everything to the (now empty) file."""

    def condense(self, record: Record) -> Record:
        """What of a record is worth keeping for this format."""
        return record

    def pages(self) -> Iterator[Record]:
        """The pages by URL."""
        if self._reader is None:
            return self._pages.newest()
        amend = self._marks.amend if self._marks else None
        read = self._reader.pages(with_links=self.needs_links, amend=amend)
        return (self.condense(record) for _, record in read)

    def others(self) -> Iterator[Record]:
        """The items that are no pages."""
        if self._reader is None:
            return self._others.all()
        return (self.condense(record) for _, record in self._reader.others())

    def added_fields(self) -> set[str]:
        """Names of fields that a team has added to pages, as far as the crawl knows them."""
        return set() if self._reader is None else self._reader.added_fields()
