"""The outputs of a crawl by several workers: all are written at the end, from what is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.exports.feeds import Feeds

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.extensions.feedexport import FeedSlot

    from crawlproject.frontier.reading import Reader
    from crawlproject.pipelines.marking import Marks


class ClusterFeeds(Feeds):
    def _is_document(self, slot: FeedSlot) -> bool:
        # Lines too: no item comes here.
        return True

    def _fill(self, slot: FeedSlot, reader: Reader, marks: Marks | None, spider: Spider) -> None:
        if super()._is_document(slot):
            super()._fill(slot, reader, marks, spider)
            return
        for kept in self._all_kept(reader):
            self._give(kept, spider)
