"""Scrapy's downloader, for requests that the gate has let pass.

Scrapy keeps a slot with a queue, a delay and a count for each host, all of which the gate has
decided before a request gets here. So a request with a turn goes to its handler at once,
which spares it a queue, a task and two futures. A request without one, as a pipeline of a
team's own may send, goes through Scrapy's slots as ever.

Meta keys read: ``lease``, ``turn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.core.downloader import Downloader

from crawlproject.frontier.base import LEASE
from crawlproject.politeness.asking import TURN

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class GatedDownloader(Downloader):
    async def _enqueue_request(self, request: Request) -> Response:
        if LEASE not in request.meta and TURN not in request.meta:
            return await super()._enqueue_request(request)
        send, spider = self.signals.send_catch_log, self.crawler.spider
        send(signals.request_reached_downloader, request=request, spider=spider)
        try:
            response = await self.handlers.download_request_async(request)
            send(signals.response_downloaded, response=response, request=request, spider=spider)
        finally:
            send(signals.request_left_downloader, request=request, spider=spider)
        return response
