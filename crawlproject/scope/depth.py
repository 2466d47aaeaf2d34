"""Depth: how many links a URL is away from a seed.

Links go to the frontier as plain URLs, and it knows their depth. This middleware does the
same for the Requests that a spider yields itself: it writes ``depth`` into their meta, and
drops the ones below the limit before they are admitted.

Stats: ``request_depth_max``, ``scope/skipped/depth``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


def depth_limit_from(settings: Any) -> int | None:
    """The deepest level that is crawled; None for no limit."""
    if settings.getbool("SCOPE_SEEDS_ONLY"):
        return 0
    # Scrapy's setting says 'no limit' with 0.
    return settings.getint("DEPTH_LIMIT") or None


class DepthMiddleware:
    def __init__(self, stats: StatsCollector, limit: int | None) -> None:
        self._stats = stats
        self._limit = limit
        self._said = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DepthMiddleware:
        return cls(crawler.stats, depth_limit_from(crawler.settings))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if not isinstance(output, Request) or self._admits(output, response):
                yield output

    def _admits(self, request: Request, response: Response) -> bool:
        depth = response.meta.get("depth", 0) + 1
        request.meta["depth"] = depth
        self._stats.max_value("request_depth_max", depth)
        if self._limit is None or depth <= self._limit:
            return True
        self._stats.inc_value("scope/skipped/depth")
        if not self._said:
            self._said = True
            logger.info("%s is deeper than DEPTH_LIMIT=%d: skipped", request.url, self._limit)
        return False
