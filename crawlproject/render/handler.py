"""The download handler of a crawl with a browser: ours, and then perhaps the browser.

A page is rendered while it has its turn at its host: what its scripts ask for is part of it, and
the host's delay counts from the end of all. Who waits for a place in the browser does not count
as a request under way.

Meta keys read: ``lease``; written: ``fetch_started`` (later by the wait), ``fetch_ended`` (not for
what was rendered), ``max_retry_times``. Flags of a response: ``rendered``.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadTimeoutError, NotConfigured
from scrapy.http import HtmlResponse
from scrapy.utils.misc import build_from_crawler

from crawlproject.failures import NotNow
from crawlproject.fetching.handler import HttpDownloadHandler
from crawlproject.fetching.unpacking import Unpacking
from crawlproject.frontier.base import LEASE
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED, FETCH_STARTED
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.render import RENDERED
from crawlproject.render.renderer import renderer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class RenderingDownloadHandler(HttpDownloadHandler):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._renderer = renderer_of(crawler)
        # A browser is given text. The middleware finds nothing left to do then.
        self._unpacking: Unpacking | None = None
        with suppress(NotConfigured):
            self._unpacking = build_from_crawler(Unpacking, crawler)

    async def download_request(self, request: Request) -> Response:
        response = await super().download_request(request)
        if LEASE not in request.meta or request.method != "GET" or not _is_fine(response):
            return response
        if self._unpacking is not None:
            unpacked = self._unpacking.readable(request, response)
            if unpacked is None:
                # What is to be said of it, the middleware says.
                return response
            response = unpacked
        if not isinstance(response, HtmlResponse) or not self._renderer.wants(
            response, request.meta
        ):
            return response
        # The end of the answer is not the end of the turn.
        request.meta.pop(FETCH_ENDED, None)
        try:
            with self._aside():
                html = await self._renderer.render(response, _clock(request))
        except NotNow as reason:
            # Whose time has not come is not given up for it, as often as that may happen.
            request.meta["max_retry_times"] = request.meta.get("retry_times", 0) + 1
            raise DownloadTimeoutError(str(reason)) from None
        return response if html is None else _shown(response, html)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        downloader = self.crawler.engine.downloader
        if not isinstance(downloader, GatedDownloader):
            yield
            return
        downloader.aside += 1
        try:
            yield
        finally:
            downloader.aside -= 1

    async def close(self) -> None:
        await self._renderer.close()
        await super().close()


def _clock(request: Request) -> Callable[[], None]:
    """To be called when the wait is over: it is no part of the time that the page took."""
    fetched_at = now()

    def begun() -> None:
        nonlocal fetched_at
        request.meta[FETCH_STARTED] += now() - fetched_at
        fetched_at = now()

    return begun


def _is_fine(response: Response) -> bool:
    return 200 <= response.status < 300


def _shown(response: Response, html: str) -> HtmlResponse:
    shown = HtmlResponse(
        response.url,
        response.status,
        headers=response.headers,
        # A script may leave half a character behind.
        body=html.encode("utf-8", "replace"),
        encoding="utf-8",
        flags=[*response.flags, RENDERED],
        certificate=response.certificate,
        ip_address=response.ip_address,
        protocol=response.protocol,
    )
    shown.headers["Content-Type"] = "text/html; charset=utf-8"
    return shown
