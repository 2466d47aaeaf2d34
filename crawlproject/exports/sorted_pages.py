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

import logging
from abc import abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.base import PageExporter
from crawlproject.exports.files import start_over
from crawlproject.exports.spill import Spill
from crawlproject.exports.storage import final_of
from crawlproject.frontier import frontier_of
from crawlproject.records import chosen_fields, json_encoder, kind_of, page_url, record_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.reading import Reader
    from crawlproject.pipelines.marking import Marks
    from crawlproject.records import Record

logger = logging.getLogger(__name__)

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
        self._frontier: Frontier | None = None
        self._pages = Spill()
        self._others = Spill()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **options: Any) -> Self:
        options.setdefault("seeds", getattr(crawler.spider, "seeds", None) or ())
        options.setdefault("started_at", crawler.stats.get_value("start_time"))
        exporter = cls(file, **options)
        with suppress(LookupError):  # another scheduler
            exporter._frontier = frontier_of(crawler)
        return exporter

    def read_from(self, reader: Reader, marks: Marks | None = None) -> None:
        """Take what a crawl directory has, instead of what is given item by item.

        ``marks`` say which pages are duplicates, and whether they are left out.
        """
        self._reader = reader
        self._marks = marks
        self.other_items = reader.count_others()
        self._take_facts(reader)

    def _take_facts(self, reader: Reader) -> None:
        """Those of the first run, whichever run writes the document."""
        self.started_at = reader.started_at() or self.started_at
        self.seeds = reader.seeds() or self.seeds

    def take(self, item: Any) -> None:
        record = record_of(item)
        url = page_url(kind_of(item), record)
        if url is not None:
            self._pages.add(url, self.condense(record))
            return
        self.other_items += 1
        if self.keeps_others:
            key = self._json(record).decode()
            self._others.add(key, self.condense_other(record))

    def finish_exporting(self) -> None:
        try:
            super().finish_exporting()
        finally:
            self._pages.close()
            self._others.close()

    def complete(self) -> None:
        start_over(self.file)
        if self._reader is None and self._frontier is not None:
            # Not before: a shared crawl is copied for it.
            self._take_facts(self._frontier.read())
        self.write_document()
        if self.other_items and not self.keeps_others and next(self.pages(), None) is None:
            logger.warning(
                "%s has no pages: what was scraped are %d other items, which this format leaves "
                "out (.json, .jsonl and .csv have them)",
                shown_name(self.file),
                self.other_items,
            )
        # A full disk shows here at the latest.
        self.file.flush()

    @abstractmethod
    def write_document(self) -> None:
        """Write everything to the (now empty) file."""

    def condense(self, record: Record) -> Record:
        """What of a page is worth keeping for this format."""
        return record

    def condense_other(self, record: Record) -> Record:
        """… and what of an item that is no page: its fields may have the same names, and mean
        something else.
        """
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
        return (self.condense_other(record) for _, record in self._reader.others())

    def added_fields(self) -> set[str]:
        """Names of fields that a team has added to pages, as far as the crawl knows them."""
        return set() if self._reader is None else self._reader.added_fields()


def shown_name(file: IO[bytes]) -> str:
    """The name that a file has in the end, if it has one."""
    name = getattr(file, "name", None)
    return str(final_of(Path(name))) if isinstance(name, str) else "the output"
