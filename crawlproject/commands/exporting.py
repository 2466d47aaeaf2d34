"""A crawl that has nothing to fetch, and writes what another one has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scrapy import Spider
from scrapy.settings import SETTINGS_PRIORITIES

from crawlproject.commands.crawl import output_problem
from crawlproject.errors import BadOutput
from crawlproject.exports.feeds import Feeds, has_unstored
from crawlproject.exports.formats import ARCHIVES, format_of
from crawlproject.frontier.idle import NothingToFetch
from crawlproject.pipelines.places import store_name
from crawlproject.records import from_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path
    from typing import Any

    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Frontier
    from crawlproject.frontier.reading import Reader

_COMPONENTS = ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES")


class ExportSpider(Spider):
    name = "export"
    # Whether the end was reached, and so all was written.
    is_closed = False

    async def start(self) -> AsyncIterator[Any]:
        # A generator, of nothing.
        return
        yield

    def closed(self, reason: str) -> None:
        self.is_closed = True


class AllFeeds(Feeds):
    """Lines, too, get all there is, also behind others."""

    def _has_before(self, slot: FeedSlot) -> bool:
        return False


class _Report:
    """As much of a frontier as outputs need."""

    failure = None

    def __init__(self, reader: Reader, folder: Path | None) -> None:
        self._reader = reader
        self.folder = folder

    def read(self) -> Reader:
        return self._reader


def report_of(reader: Reader, folder: Path | None) -> Frontier:
    return cast("Frontier", _Report(reader, folder))


def settle(settings: BaseSettings) -> None:
    """Leave of a crawl's components only what writes outputs."""
    priority = SETTINGS_PRIORITIES["cmdline"] + 1
    for name in _COMPONENTS:
        components = settings.getwithbase(name)
        settings.set(name, dict.fromkeys(components), priority)
    settings.set("EXTENSIONS", {**settings["EXTENSIONS"], AllFeeds: 0}, priority)
    settings.set("SCHEDULER", NothingToFetch, priority)
    # One of ours would put back what is left out.
    settings.set("ADDONS", {}, priority)
    settings.set("STATS_DUMP", False, priority)


def check_bodies(feeds: Mapping[Any, Any], database: sqlite3.Connection, uri: str | None) -> None:
    """Raise BadOutput for an archive of a crawl whose bodies can't be had."""
    archives = [
        name for name, options in feeds.items() if format_of(str(name), options) in ARCHIVES
    ]
    if not archives:
        return
    row = database.execute("SELECT answer FROM stored LIMIT 1").fetchone()
    if row is None:
        raise BadOutput(
            f"can't write {archives[0]!r}: no bodies are stored; -s STORE_BODIES=True keeps "
            "those of the pages that a crawl fetches from then on"
        )
    answer = from_text(row[0])
    store = answer.get("store") if isinstance(answer, dict) else None
    if store is not None and store != store_name(uri):
        raise BadOutput(f"can't write {archives[0]!r}: give -s STORE_URI={store}, where bodies are")


def problems(crawler: Crawler) -> list[str]:
    """Why outputs were not written."""
    if not getattr(crawler.spider, "is_closed", False):
        return ["stopped before all was written"]
    feeds = crawler.get_extension(Feeds)
    if feeds is not None and feeds.failures:
        return [output_problem(uri, problem) for uri, problem in feeds.failures.items()]
    if has_unstored(crawler):
        return ["an output could not be stored: the log says which"]
    return []
