"""Depth: how many links a URL is away from a seed.

The middleware writes ``depth`` into the meta of the requests that a spider yields, changes their
priority by ``DEPTH_PRIORITY``, and counts and logs those beyond ``DEPTH_LIMIT``. It does not drop
them: the frontier skips them, with the reason, and admits them if a shorter path turns up. Links of
the default spider are plain URLs, of which the frontier knows the depth.

Settings read: ``DEPTH_LIMIT``, ``SCOPE_SEEDS_ONLY``, ``DEPTH_PRIORITY``, ``DEPTH_STATS_VERBOSE``.
Meta keys: reads ``depth`` of responses, reads and removes ``depth_reset``; writes ``depth``.
Stats, as Scrapy has them: ``request_depth_max``, ``depth/request_ignored_count`` and, with
``DEPTH_STATS_VERBOSE``, ``request_depth_count/N``: requests that were sent, each once, by the
frontier's depth.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


def depth_limit_from(settings: BaseSettings) -> int | None:
    """The deepest level that is crawled; None for no limit."""
    if settings.getbool("SCOPE_SEEDS_ONLY"):
        return 0
    # Scrapy's setting says 'no limit' with 0.
    return settings.getint("DEPTH_LIMIT") or None


class DepthMiddleware(BaseSpiderMiddleware):
    def __init__(
        self,
        crawler: Crawler,
        *,
        limit: int | None = None,
        priority: int = 0,
        is_verbose: bool = False,
    ) -> None:
        super().__init__(crawler)
        self._limit = limit
        self._priority = priority
        self._has_logged = False
        if is_verbose:
            crawler.signals.connect(self._count, signals.request_reached_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        return cls(
            crawler,
            limit=depth_limit_from(settings),
            priority=settings.getint("DEPTH_PRIORITY"),
            is_verbose=settings.getbool("DEPTH_STATS_VERBOSE"),
        )

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        is_reset = request.meta.pop("depth_reset", False)
        if response is None:
            return request
        depth = 0 if is_reset else response.meta.get("depth", 0) + 1
        request.meta["depth"] = depth
        request.priority -= depth * self._priority
        if self._limit is not None and depth > self._limit:
            self._ignore(request)
        else:
            self.crawler.stats.max_value("request_depth_max", depth)
        return request

    def _ignore(self, request: Request) -> None:
        self.crawler.stats.inc_value("depth/request_ignored_count")
        if not self._has_logged:
            self._has_logged = True
            logger.debug(
                "Too deep, unless a shorter path is found: %s (the first; DEPTH_LIMIT=%s)",
                request.url,
                self._limit,
                extra={"spider": self.crawler.spider},
            )

    def _count(self, request: Request) -> None:
        meta = request.meta
        # Not a retry, nor what has no depth: robots.txt.
        if "depth" in meta and not meta.get("retry_times"):
            self.crawler.stats.inc_value(f"request_depth_count/{meta['depth']}")
