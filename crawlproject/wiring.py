"""What holds a crawl together stays in place, whatever a team adds.

Scrapy merges a setting such as DOWNLOADER_MIDDLEWARES with its own defaults only: who sets it
for a spider or on the command line replaces what the project has in it. Here that would be the
gate, the guard and the outputs. So this add-on puts back what was not mentioned. To switch one
of them off, name it, with None. It completes what the outputs of a crawl need,
exchanges Scrapy's way of sending signals for a quicker one, and keeps secrets out of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from crawlproject import settings as ours
from crawlproject.dispatch import Signals
from crawlproject.exports.formats import complete_feeds
from crawlproject.redaction import protect

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
_BY_NAME = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")


class Wiring:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Wiring:
        crawler.signals = Signals(crawler)
        protect(crawler.settings)
        return cls()

    def update_settings(self, settings: BaseSettings) -> None:
        for name in _COMPONENTS:
            for path, order in getattr(ours, name).items():
                component = load_object(path)
                settings.setdefault_in_component_priority_dict(name, component, order)
        for name in _BY_NAME:
            values = {**getattr(ours, name), **settings.getdict(name)}
            settings.set(name, values, settings.getpriority(name) or 0)
        complete_feeds(settings)
