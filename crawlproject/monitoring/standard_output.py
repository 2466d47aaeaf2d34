"""Feeds on standard output: ``-o -:json``."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from scrapy.extensions.feedexport import StdoutFeedStorage

from crawlproject.exports.storage import LINES
from crawlproject.monitoring.streams import standard_output

if TYPE_CHECKING:
    from scrapy import Spider

_JSON = ("json", *LINES)


class StandardOutput(StdoutFeedStorage):
    """Scrapy's own, in which a terminal gets nothing that acts on it."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        options = feed_options or {}
        # Compressed, it is JSON no more.
        self._is_json = options.get("format") in _JSON and not options.get("postprocessing")

    def open(self, spider: Spider) -> IO[bytes]:
        return standard_output(is_json=self._is_json)
