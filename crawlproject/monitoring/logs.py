"""Log lines of requests and items, made only when somebody reads them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult


class SparingLogFormatter(LogFormatter):
    """Scrapy's own, without the lines below the log level: they would be made and dropped."""

    def __init__(self, *, is_debugging: bool) -> None:
        self._is_debugging = is_debugging

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SparingLogFormatter:
        level = crawler.settings.get("LOG_LEVEL")
        number = logging.getLevelName(level) if isinstance(level, str) else level
        return cls(is_debugging=number <= logging.DEBUG)

    # Scrapy takes None for 'no line'; its annotations don't say so.
    def crawled(  # type: ignore[override]
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        return super().crawled(request, response, spider) if self._is_debugging else None

    def scraped(  # type: ignore[override]
        self, item: Any, response: Any, spider: Spider
    ) -> LogFormatterResult | None:
        return super().scraped(item, response, spider) if self._is_debugging else None
