"""Differences between the supported versions of Scrapy: the newest and one minor version back.

``./scripts/test-scrapy VERSION`` runs the tests with another version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """Return the engine, None before the crawl starts: Scrapy 2.19 raises RuntimeError then."""
    try:
        return crawler.engine
    except RuntimeError:
        return None


def stats_of(crawler: Crawler) -> StatsCollector | None:
    """Return the stats collector, None before the crawl starts, as above."""
    try:
        return crawler.stats
    except RuntimeError:
        return None
