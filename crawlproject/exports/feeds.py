"""Scrapy's feed exports, written from what is kept in the crawl directory.

Lines go out as their items come. Documents are written at the end, from the crawl directory,
so they hold the pages of all runs of a crawl; lines that replace a file begin with those.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from itertools import chain, groupby
from typing import IO, TYPE_CHECKING, Any

from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.utils.defer import ensure_awaitable

from crawlproject.exports.base import WRITE_ERRORS, PageExporter
from crawlproject.exports.classes import Classes
from crawlproject.exports.filters import SafeFilter, is_plain
from crawlproject.exports.sorted_pages import SortedPagesExporter
from crawlproject.exports.storage import ReplacingFileStorage
from crawlproject.frontier import frontier_of
from crawlproject.frontier.engine import stop
from crawlproject.frontier.opening import is_lasting
from crawlproject.pipelines.marking import Marks
from crawlproject.records import PAGE, PAGE_CLASS, Kept, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.reading import Reader

logger = logging.getLogger(__name__)


class Feeds(FeedExporter):
    """Says in one line which output could not be written. ``failures`` has them, by URI."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.failures: dict[str, str] = {}
        # URIs of outputs that were written, and that their storage did not take.
        self.unstored: set[str] = set()
        self._documents: list[FeedSlot] = []
        self._is_stopping = False
        self._is_lasting = is_lasting(crawler.settings)
        named = (getattr(one, "item_classes", None) or () for one in self.filters.values())
        self._classes = Classes(one for one in chain(*named) if isinstance(one, type))
        # What feeds are given now, if it has the form in which a crawl directory keeps it; and the
        # item itself, if this run has scraped it.
        self._kept: Kept | None = None
        self._scraped: Any = None
        self.filters = {
            uri: one if is_plain(one) else SafeFilter(one, uri, self._judged)
            for uri, one in self.filters.items()
        }

    def open_spider(self, spider: Spider) -> None:
        super().open_spider(spider)
        frontier = self._frontier()
        if frontier is None:
            return
        self._documents = [slot for slot in self.slots if self._is_document(slot)]
        self.slots = [slot for slot in self.slots if slot not in self._documents]
        lines = self.slots
        appended = [slot for slot in lines if self._has_before(slot)]
        self.slots = [slot for slot in lines if slot not in appended]
        if self.slots:
            self._give_all(frontier.read(), spider)
        self.slots += appended
        if not self.slots:
            # Every item would cost a task, for nothing.
            self.crawler.signals.disconnect(self.item_scraped, signals.item_scraped)

    def item_scraped(self, item: Any, spider: Spider) -> None:
        super().item_scraped(item, spider)
        self._flush_appended()
        self._stop_if_in_vain()

    def _flush_appended(self) -> None:
        """Write items to the files that they are appended to, before they are committed.

        No later run gives these files the items of an earlier one, and a kill loses what is in the
        buffers of Scrapy's exporters.
        """
        if self._is_lasting:
            for slot in self.slots:
                if slot.file is not None and self._has_before(slot):
                    slot.file.flush()

    def _give(self, kept: Kept, spider: Spider, scraped: Any = None) -> None:
        """Give an item to the feeds, as each can take it: ours know records.

        Filters are asked about the item that this run has scraped, if it is one.
        """
        slots = self.slots
        given: list[FeedSlot] = []
        self._kept, self._scraped = kept, scraped
        try:
            for is_ours, some in groupby(slots, key=self._is_ours):
                self.slots = list(some)
                item = kept if is_ours else self._classes.exported(kept)
                super().item_scraped(item, spider)
                given += self.slots
        finally:
            self.slots = given + slots[len(given) :]
            self._kept = self._scraped = None

    def _give_all(self, reader: Reader, spider: Spider) -> None:
        for kept in self._all_kept(reader):
            try:
                self._give(kept, spider)
            except Exception:  # an exporter may be anybody's; Scrapy logs it, too, and goes on
                logger.exception("An item of an earlier run can't be written")

    def _judged(self, item: Any) -> Any:
        """What a filter is asked about."""
        if self._scraped is not None:
            return self._scraped
        return item if self._kept is None else self._classes.item(self._kept)

    async def close_spider(self, spider: Spider) -> None:
        frontier = self._frontier()
        # What a crawl directory has that failed is not all: better the document of yesterday.
        if frontier is not None and frontier.failure is None:
            lines, reader = self.slots, frontier.read()
            marks: Marks | None = None
            for slot in self._documents:
                self.slots = [slot]
                try:
                    marks = marks or Marks.from_settings(reader, self.settings)
                    self._fill(slot, reader, marks, spider)
                except WRITE_ERRORS as error:
                    self._failed(slot, error)
                except Exception as error:  # an exporter may be anybody's
                    logger.debug("Writing %s failed", slot.uri, exc_info=True)
                    self._failed(slot, error)
                else:
                    lines = lines + self.slots
            self.slots = lines
            self._count(marks)
        elif frontier is not None:
            # Nor is an empty file better.
            self.slots = [slot for slot in self.slots if slot.itemcount]
        await super().close_spider(spider)

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        storage: Any = slot.storage
        storage.store = partial(self._store, slot, storage.store)
        try:
            await super()._close_slot(slot, spider)
        except WRITE_ERRORS as error:
            self._failed(slot, error)
        except Exception as error:  # an item that the format can't show: the others are written
            logger.debug("Writing %s failed", slot.uri, exc_info=True)
            self._failed(slot, error)

    async def _store(self, slot: FeedSlot, store: Callable[[IO[bytes]], Any], file: Any) -> None:
        """Scrapy logs the failure of a storage, and counts it by its kind, in the stats."""
        try:
            await ensure_awaitable(store(file))
        except Exception:
            self.unstored.add(slot.uri)
            raise

    def _count(self, marks: Marks | None) -> None:
        if marks is not None:
            self.crawler.stats.set_value("duplicates/exact", marks.exact)
            self.crawler.stats.set_value("duplicates/near", marks.near)

    def _fill(self, slot: FeedSlot, reader: Reader, marks: Marks | None, spider: Spider) -> None:
        if not is_plain(slot.filter) or self.feeds[slot.uri_template]["batch_item_count"]:
            try:
                for kept in self._all_kept(reader, marks):
                    self._kept = kept
                    super().item_scraped(kept, spider)
            finally:
                self._kept = None
            return
        slot.itemcount = reader.count() - (marks.dropped if marks else 0)
        if slot.itemcount or slot.store_empty:
            slot.start_exporting()
            assert isinstance(slot.exporter, SortedPagesExporter)
            slot.exporter.read_from(reader, marks)

    def _all_kept(self, reader: Reader, marks: Marks | None = None) -> Iterator[Kept]:
        """Everything in the crawl directory."""
        pages = reader.pages(with_class=True, amend=marks.amend if marks else None)
        for kind, record in chain(pages, reader.others()):
            if kind == PAGE:
                page_class = record.pop(PAGE_CLASS, None)
                yield Kept(kind, whole(record), page_class)
            else:
                yield Kept(kind, record)

    def _failed(self, slot: FeedSlot, error: Exception) -> None:
        problem = getattr(error, "strerror", None) or str(error)
        self.failures[slot.uri] = problem
        logger.info("Can't write %s: %s", slot.uri, problem)
        if slot.file is not None:
            with suppress(*WRITE_ERRORS):
                slot.file.close()
        if isinstance(slot.storage, ReplacingFileStorage):
            slot.storage.discard()

    def _stop_if_in_vain(self) -> None:
        if not self._is_stopping and self._is_in_vain():
            self._is_stopping = True
            stop(self.crawler, "standard output was closed")

    def _is_in_vain(self) -> bool:
        """Whether all that is written goes to somebody who has seen enough."""
        errors = [getattr(slot.exporter, "error", None) for slot in self.slots]
        is_closed = bool(errors) and all(isinstance(error, BrokenPipeError) for error in errors)
        return is_closed and not self._documents

    def _has_before(self, slot: FeedSlot) -> bool:
        """Whether lines go behind those of earlier runs. On standard output there are none, and
        what is not a file is stored as a whole.
        """
        can_append = isinstance(slot.storage, FileFeedStorage)
        return can_append and not slot.feed_options.get("overwrite", False)

    def _is_document(self, slot: FeedSlot) -> bool:
        return issubclass(self.exporters[slot.format], SortedPagesExporter)

    def _is_ours(self, slot: FeedSlot) -> bool:
        return issubclass(self.exporters[slot.format], PageExporter)

    def _frontier(self) -> Frontier | None:
        with suppress(LookupError):  # another scheduler: items stay as they arrive
            return frontier_of(self.crawler)
        return None


def has_unstored(crawler: Crawler) -> bool:
    """Whether an output was not stored; of Scrapy's own exporter only the stats tell."""
    feeds = crawler.get_extension(FeedExporter)
    if isinstance(feeds, Feeds):
        return bool(feeds.unstored)
    return any(key.startswith("feedexport/failed_count/") for key in crawler.stats.get_stats())
