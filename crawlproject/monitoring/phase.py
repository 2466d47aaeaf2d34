"""What a crawl does now, for the live line and for snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.frontier.engine import is_closing
from crawlproject.monitoring.snapshot import Phase

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def phase_of(
    crawler: Crawler, elapsed: float, *, time_limit: float = 0.0, is_writing: bool = False
) -> Phase:
    """From ``engine_started`` on. Outputs are written from ``spider_closed`` on, as nobody but who
    hears that signal knows.
    """
    if is_writing:
        return Phase.WRITING
    # The time limit shows on the clock before Scrapy acts on it.
    if is_closing(crawler) or 0 < time_limit <= elapsed:
        return Phase.STOPPING
    return Phase.RUNNING
