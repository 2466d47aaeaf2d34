"""The files a crawl has written, as its feeds tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from crawlproject.exports.base import PageExporter
from crawlproject.exports.outputs import local_path
from crawlproject.exports.sitemap_xml import SitemapXmlExporter
from crawlproject.monitoring.ending import File, plural
from crawlproject.monitoring.streams import is_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.extensions.feedexport import FeedExporter, FeedSlot

_FAILED = "feedexport/failed_count/"


class Feeds:
    """Told of every feed that is closed. Standard output is left out."""

    def __init__(self) -> None:
        # By the kind of storage, not with the slot: its exporter may hold a lot.
        self._closed: list[tuple[str, str, File]] = []

    def add(self, slot: FeedSlot) -> None:
        if not is_stdout(slot.uri):
            self._closed.append((type(slot.storage).__name__, slot.uri, _file(slot)))

    def files(self, feed_exporter: FeedExporter | None, stats: Mapping[str, Any]) -> list[File]:
        """The files, and whether they are complete.

        Scrapy's own exporter counts a failed upload by the kind of storage alone, so all files of
        that kind are in doubt. A feed with items that was never closed failed in the writing.
        """
        unstored: set[str] | None = getattr(feed_exporter, "unstored", None)
        files = [
            _incomplete(uri)
            if (stats.get(f"{_FAILED}{storage}") if unstored is None else uri in unstored)
            else file
            for storage, uri, file in self._closed
        ]
        closed = {uri for _, uri, _ in self._closed}
        slots = feed_exporter.slots if feed_exporter is not None else []
        files.extend(
            _incomplete(slot.uri)
            for slot in slots
            if slot.itemcount and slot.uri not in closed and not is_stdout(slot.uri)
        )
        return files


def display_name(uri: str) -> str:
    """A local path as a user would type it; another URI without its password."""
    path = local_path(uri)
    if path is not None:
        try:
            return str(path.absolute().relative_to(Path.cwd()))
        except (ValueError, OSError):
            return str(path)
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _file(slot: FeedSlot) -> File:
    return File(display_name(slot.uri), _content(slot))


def _content(slot: FeedSlot) -> str:
    exporter = slot.exporter
    if not isinstance(exporter, PageExporter):
        # One of Scrapy's own, which does not tell a page from another item.
        return plural(slot.itemcount, "item")
    others = exporter.other_items
    pages = plural(slot.itemcount - others, "page")
    if isinstance(exporter, SitemapXmlExporter):
        # It leaves out what a search engine should not know.
        return f"{exporter.written:,} of {pages}"
    if not others:
        return pages
    items = plural(others, "other item")
    return items if slot.itemcount == others else f"{pages}, {items}"


def _incomplete(uri: str) -> File:
    return File(display_name(uri), "not complete: see the log", is_complete=False)
