"""What a crawl has brought so far, counted once for all who show it.

A handler of ``item_scraped`` is a task of its own for every page, which takes more of the
processor's time than counting does. So this is the one, in place of Scrapy's CoreStats, which
it extends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.extensions.corestats import CoreStats

from crawlproject.frontier.clock import now
from crawlproject.items import Page
from crawlproject.monitoring.tally import Tally

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawlproject.monitoring.journal import Journal


class Counting(CoreStats):
    def __init__(self, stats: StatsCollector) -> None:
        super().__init__(stats)
        self.tally = Tally()
        # Where somebody wants snapshots.
        self.journal: Journal | None = None

    def item_scraped(self, item: Any, spider: Spider) -> None:
        super().item_scraped(item, spider)
        if isinstance(item, Page):
            self.tally.add(item)
            if self.journal is not None:
                self.journal.add(item, now())


def tally_of(crawler: Crawler) -> Tally:
    """The pages of this run; none where nobody counts them."""
    counting = crawler.get_extension(Counting)
    return Tally() if counting is None else counting.tally
