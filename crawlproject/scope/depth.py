"""Depth: how many links a URL is away from a seed.

Links go to the frontier as plain URLs, and it knows their depth. This middleware does the
same for the Requests that a spider yields itself: it writes ``depth`` into their meta. The
limit is the frontier's, for both: what is too deep is skipped before it is admitted, and
comes in when a shorter way to it is found.

Stats: ``request_depth_max``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings


def depth_limit_from(settings: BaseSettings) -> int | None:
    """The deepest level that is crawled; None for no limit."""
    if settings.getbool("SCOPE_SEEDS_ONLY"):
        return 0
    # Scrapy's setting says 'no limit' with 0.
    return settings.getint("DEPTH_LIMIT") or None


class DepthMiddleware(BaseSpiderMiddleware):
    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        if response is not None:
            depth = response.meta.get("depth", 0) + 1
            request.meta["depth"] = depth
            self.crawler.stats.max_value("request_depth_max", depth)
        return request
