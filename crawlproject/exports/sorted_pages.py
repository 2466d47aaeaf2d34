"""What the sorted exports share: pages come in any order and go out by URL.

- A later page of the same URL replaces the earlier one.
- Depth, referrer and redirects are taken from the frontier at the end, since a shorter
  way to a page may have been found after it arrived (``frontier.base.Facts``).
- Items that are no pages come after the pages, sorted by their JSON text, none dropped:
  what comes out does not depend on the order in which anything arrived.
- The document is written when the crawl ends and replaces what the file held, also with
  ``-o``: until then an earlier document stays. Where the storage cannot replace (standard
  output, post-processing), it is written behind what is there.
- Memory is flat: what waits is on disk (``spill``).
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from crawlproject.exports.base import PageExporter
from crawlproject.exports.files import start_over
from crawlproject.exports.records import chosen_fields, is_page, json_encoder, record_of
from crawlproject.exports.spill import Spill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlproject.exports.records import Record
    from crawlproject.frontier.base import Facts


class SortedPagesExporter(PageExporter):
    """Collects items, and writes one document of them at the end.

    ``seeds`` may still grow while the crawl runs. ``options`` are Scrapy's own.
    """

    keeps_others = True

    def __init__(
        self,
        file: IO[bytes],
        *,
        seeds: Sequence[str] = (),
        started_at: datetime | None = None,
        facts: Callable[[str], Facts | None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.file = file
        self.seeds = seeds
        self.started_at = started_at
        self.chosen = chosen_fields(self.fields_to_export)
        self._facts = facts
        self._json = json_encoder(None)
        self._pages = Spill()
        self._others = Spill()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **options: Any) -> Self:
        # Late: whoever builds an exporter by hand needs no frontier.
        from crawlproject.frontier import frontier_of

        with suppress(LookupError):  # another scheduler: pages stay as they arrived
            options.setdefault("facts", frontier_of(crawler).facts)
        options.setdefault("seeds", getattr(crawler.spider, "seeds", None) or ())
        options.setdefault("started_at", crawler.stats.get_value("start_time"))
        return cls(file, **options)

    def take(self, item: Any) -> None:
        record = record_of(item)
        if is_page(record):
            self._pages.add(record["url"], self.condense(record))
        elif self.keeps_others:
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
        """The pages by URL, with the final facts."""
        for record in self._pages.newest():
            facts = self.facts_of(record)
            if facts is None or facts.is_page:
                yield self.with_final_facts(record, facts)

    def others(self) -> Iterator[Record]:
        """The items that are no pages."""
        return self._others.all()

    def facts_of(self, record: Record) -> Facts | None:
        return self._facts(record["url"]) if self._facts else None

    def with_final_facts(self, record: Record, facts: Facts | None) -> Record:
        if facts is not None:
            record.update(
                depth=facts.depth,
                referrer=facts.referrer,
                redirected_from=list(facts.redirected_from),
            )
        return record
