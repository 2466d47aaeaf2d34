"""``spider.state``: a dictionary that a spider finds again when its crawl is resumed.

Kept as JSON with the crawl, when the crawl stops. Of workers that share a crawl, the last to
stop has its state kept.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawlproject.frontier import frontier_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_NOTE = "spider_state"


class SpiderState:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SpiderState:
        state = cls(crawler)
        crawler.signals.connect(state.spider_opened, signals.spider_opened)
        crawler.signals.connect(state.spider_closed, signals.spider_closed)
        return state

    def spider_opened(self, spider: Spider) -> None:
        kept: Any = None
        with suppress(LookupError):  # another scheduler: nothing is kept
            kept = frontier_of(self._crawler).recall(_NOTE)
        spider.state = json.loads(kept) if kept else {}  # type: ignore[attr-defined]

    def spider_closed(self, spider: Spider) -> None:
        state: Any = getattr(spider, "state", None)
        if not state:
            return
        try:
            frontier_of(self._crawler).remember(_NOTE, json.dumps(state))
        except LookupError:
            pass
        except (TypeError, ValueError) as error:
            logger.error("spider.state can't be kept: %s. Use values that JSON has", error)
