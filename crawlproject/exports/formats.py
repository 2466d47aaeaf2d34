"""The format of an output, by its name; and what some formats need of the crawl.

Scrapy looks at the last extension only: ``pages.warc.gz`` would be ``gz``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# Formats of two extensions.
_DOUBLE = ("warc.gz",)
# Formats that hold the bodies of the pages.
ARCHIVES = frozenset({"warc", "warc.gz"})


def with_format(output: str) -> str:
    """The output of a command line with its format behind it, where Scrapy would not see it."""
    double = _double(output)
    return f"{output}:{double}" if double else output


def format_of(uri: str, options: Mapping[str, Any]) -> str:
    """The format of an output in FEEDS."""
    return str(options.get("format") or _double(uri) or Path(uri).suffix.removeprefix("."))


def complete_feeds(settings: BaseSettings) -> None:
    """Name the formats that Scrapy would get wrong, and have bodies kept for those that hold
    them.
    """
    feeds = settings.getdict("FEEDS")
    priority = settings.getpriority("FEEDS") or 0
    archives = [
        uri
        for uri, options in feeds.items()
        if isinstance(options, Mapping) and format_of(str(uri), options) in ARCHIVES
    ]
    if not archives:
        return
    named = {uri: {**feeds[uri], "format": format_of(str(uri), feeds[uri])} for uri in archives}
    settings.set("FEEDS", {**feeds, **named}, priority)
    # Whatever was said before: without bodies it would be no archive.
    priority = max(priority, settings.getpriority("STORE_BODIES") or 0)
    settings.set("STORE_BODIES", True, priority)


def _double(name: str) -> str | None:
    return next((double for double in _DOUBLE if name.lower().endswith(f".{double}")), None)
