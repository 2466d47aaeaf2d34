"""Feeds of another project's items: Scrapy's own formats, with the items of all runs.

With a crawl directory, or in a shared crawl, an item is written in the form in which it is kept
there: plain values, as ``records.py`` has them. So it is the same whether this run has made it or
an earlier one. Its class is the one it had, if that is loaded and can be made of these values
(``classes.py``). Filters of feeds are asked about the item itself, where this run has made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlproject.exports.feeds import Feeds
from crawlproject.records import kept_of

if TYPE_CHECKING:
    from scrapy import Spider


class ItemFeeds(Feeds):
    def item_scraped(self, item: Any, spider: Spider) -> None:
        if self._is_lasting:
            self._give(kept_of(item), spider, scraped=item)
            self._flush_appended()
            self._stop_if_in_vain()
        else:
            super().item_scraped(item, spider)
