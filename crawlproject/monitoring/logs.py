"""Log lines: those for every request and item, made only when somebody reads them; and all of them,
whoever writes them, without what could act on a terminal.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

from crawlproject.monitoring.streams import loggable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

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


class SafeLogs:
    """Extension: makes every log record of the process safe to print.

    Libraries log what sites write: lines of a robots.txt, headers, messages of exceptions. An
    escape sequence there would act on the terminal that shows the log, now or later.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        # Not a formatter or a filter: each handler has its own, and any may be added later.
        make = logging.getLogRecordFactory()
        if not isinstance(make, SafeRecords):
            logging.setLogRecordFactory(SafeRecords(make))
        return cls()


class SafeRecords:
    """A factory of log records, around another one."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make
        self._formatter = logging.Formatter()

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        try:
            text = record.getMessage()
        except Exception:
            # Its handlers say what is wrong with it; its parts are shown by ``repr``.
            return record
        safe = loggable(text)
        if safe != text:
            record.msg, record.args = safe, None
        if record.exc_info:
            trace = self._formatter.formatException(record.exc_info)
            if (safe := loggable(trace)) != trace:
                # Formatters take this text if it is there.
                record.exc_text = safe
        return record
