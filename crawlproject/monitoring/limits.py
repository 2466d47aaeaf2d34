"""The limits of a crawl, by its settings: what skipped and untried URLs are owed to."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlproject.frontier import overview
from crawlproject.monitoring.ending import Limits
from crawlproject.scope.depth import depth_limit_from

if TYPE_CHECKING:
    import sqlite3

    from scrapy.settings import BaseSettings

# The note of the settings that decide what is in scope (``spiders/resume.py``).
SCOPE = "scope"


def limits_from(settings: BaseSettings) -> Limits:
    closespider = {
        name.lower(): settings.getfloat(name)
        for name in settings
        if name.startswith("CLOSESPIDER_") and settings.get(name)
    }
    return Limits(
        depth=depth_limit_from(settings),
        max_pages=settings.getint("SCOPE_MAX_PAGES"),
        url_length=settings.getint("URLLENGTH_LIMIT"),
        scope=str(settings.get("SCOPE_MODE")),
        closespider=closespider,
    )


def limits_of(database: sqlite3.Connection, settings: BaseSettings) -> Limits:
    """Those that the crawl had in its last run, whatever the settings are now."""
    own = settings.copy()
    with suppress(ValueError, TypeError):
        own.setdict(json.loads(overview.note(database, SCOPE) or "{}"), priority="cmdline")
    return limits_from(own)
