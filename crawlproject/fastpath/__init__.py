"""Replacements of Scrapy internals that only buy speed.

Nothing depends on them: with ``FASTPATH_ENABLED = False``, or with a Scrapy version that they were
not tested with, Scrapy's own code runs and the results are the same.

- ``signals``: sends signals with fewer calls.
- ``engine``: one task for a request, from the scheduler to the scraper.
- ``downloader``: calls downloader middlewares without intermediate awaitables; simpler stats.
- ``scraping``: calls a callback and processes its output without intermediate generators and tasks.

The add-ons call ``install``; nothing else imports this package. Each module states what it saves:
the CPU time of a crawl of generated pages with and without it, in turns. What saves less than 5 %
is removed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import scrapy

from crawlproject.fastpath import downloader, engine, scraping, signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# ``./scripts/test-scrapy VERSION`` runs the tests with one of them.
TESTED_VERSIONS = ("2.18.0", "2.19.0")


def install(crawler: Crawler) -> None:
    """Use the fast path in a crawl. Call it before the engine exists."""
    if not crawler.settings.getbool("FASTPATH_ENABLED"):
        return
    if scrapy.__version__ not in TESTED_VERSIONS:
        logger.warning(
            "The fast path is off: it was not tested with Scrapy %s, only with %s "
            "(FASTPATH_ENABLED=False hides this warning)",
            scrapy.__version__,
            " and ".join(TESTED_VERSIONS),
        )
        return
    signals.install(crawler)
    downloader.install(crawler)
    engine.install(crawler)
    scraping.install(crawler)
    logger.info("The fast path is on (FASTPATH_ENABLED)")
