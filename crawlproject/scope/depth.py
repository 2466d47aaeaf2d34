"""Depth: how many links a URL is away from a seed.

Links go to the frontier as plain URLs, and it knows their depth. This middleware does the
same for the Requests that a spider yields itself: it writes ``depth`` into their meta. The
limit is the frontier's, for both: what is too deep is skipped before it is admitted, and
comes in when a shorter way to it is found.

Stats: ``request_depth_max``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector


def depth_limit_from(settings: BaseSettings) -> int | None:
    """The deepest level that is crawled; None for no limit."""
    if settings.getbool("SCOPE_SEEDS_ONLY"):
        return 0
    # Scrapy's setting says 'no limit' with 0.
    return settings.getint("DEPTH_LIMIT") or None


class DepthMiddleware:
    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DepthMiddleware:
        return cls(crawler.stats)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if isinstance(output, Request):
                depth = response.meta.get("depth", 0) + 1
                output.meta["depth"] = depth
                self._stats.max_value("request_depth_max", depth)
            yield output
