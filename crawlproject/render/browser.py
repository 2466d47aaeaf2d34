"""The browser: scrapy-playwright's, with nothing that it is not needed for.

It is started when the first page needs it, and again should it have died. Each page has a context
of its own: no cookies, storage or cache are shared, so that an answer does not depend on what was
shown before. It has no network: every request of a page is answered by ``visit.py``, and what
bypasses that (WebRTC, WebTransport, FedCM, payment requests, prefetching …) finds no address and
may send no UDP. Nothing is downloaded, no worker stays. Root can't have Chromium's sandbox, so a
crawl that runs as root renders without it, with a warning. A browser of another process
(PLAYWRIGHT_CDP_URL, PLAYWRIGHT_CONNECT_URL) has the switches that it was started with.

It ends with the crawl. When the crawl is killed its pipe breaks, and it ends by that.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error, Page
from scrapy import Request
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawlproject.render.install import browser_path, is_elsewhere

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler

    from crawlproject.render.visit import Visit

logger = logging.getLogger(__name__)

NO_SANDBOX = (
    "The browser runs without its sandbox: a page that exploits a bug of the browser has the "
    "rights of this crawl. %s"
)
NOT_OURS = (
    "The browser was started by somebody else (PLAYWRIGHT_CDP_URL or PLAYWRIGHT_CONNECT_URL): what "
    "its pages can reach, past the crawler's own network, depends on its switches."
)
# Seconds for what takes a moment, unless the browser is ill.
_CLOSING = 5.0
_STARTING = 30.0
_ARGUMENTS = (
    # No name, no IP literal and no proxy can be found.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # WebRTC sends no UDP. The second name is that of older Chromiums, which ignore the first.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    # What one page may take of the memory, in MiB.
    "--js-flags=--max-old-space-size=512",
)


class CannotStart(Exception):
    """There is a browser, but it does not run here."""


class Browser:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._handler: ScrapyPlaywrightDownloadHandler | None = None
        self._starting = asyncio.Lock()
        self._numbers = count(1)
        settings = crawler.settings
        self._context = {
            "user_agent": settings["USER_AGENT"],
            "accept_downloads": False,
            "service_workers": "block",
            "ignore_https_errors": not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"),
        }

    async def start(self) -> None:
        """Or nothing, if it runs. Raises CannotStart."""
        async with self._starting:
            handler = await self._started()
            try:
                await asyncio.wait_for(handler._maybe_launch_browser(), _STARTING)
            except (Error, OSError, TimeoutError) as error:
                raise CannotStart(_reason(error)) from error

    async def _started(self) -> ScrapyPlaywrightDownloadHandler:
        if self._handler is None:
            handler = ScrapyPlaywrightDownloadHandler(self._crawler)
            # It waits for the engine to start, which has happened by now.
            await handler._launch()
            handler.config.launch_options = self._launch_options(handler.config.launch_options)
            self._warn(handler.config.launch_options)
            # Who is to blame, and what to try again, is the renderer's to find out.
            handler.config.target_closed_max_retries = 0
            # What its visit does not answer, because there is none, is not answered.
            handler.abort_request = lambda request: True
            self._handler = handler
        return self._handler

    def _launch_options(self, given: dict[str, Any]) -> dict[str, Any]:
        return {
            "executable_path": browser_path(self._crawler.settings),
            "chromium_sandbox": os.geteuid() != 0,
            # Ctrl-C is the crawl's: pages under way are finished.
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
            **given,
            "args": [*_ARGUMENTS, *given.get("args", [])],
        }

    def _warn(self, options: dict[str, Any]) -> None:
        if is_elsewhere(self._crawler.settings):
            logger.warning(NOT_OURS)
        elif not options["chromium_sandbox"]:
            is_root = os.geteuid() == 0
            advice = (
                "Don't run it as root." if is_root else "PLAYWRIGHT_LAUNCH_OPTIONS asks for it."
            )
            logger.warning(NO_SANDBOX, advice)

    def is_running(self) -> bool:
        browser = getattr(self._handler, "browser", None)
        return browser is not None and browser.is_connected()

    @asynccontextmanager
    async def showing(self, visit: Visit) -> AsyncIterator[Page]:
        """The page of a visit, in a context of its own, which ends with the block."""
        handler = self._handler
        assert handler is not None
        name = f"page {next(self._numbers)}"
        request = Request(
            visit.url,
            meta={
                "playwright": True,
                # What is to be done with it is done by who asks.
                "playwright_include_page": True,
                "playwright_context": name,
                "playwright_context_kwargs": dict(self._context),
                "playwright_page_init_callback": visit.prepare,
                "playwright_page_goto_kwargs": {"wait_until": "commit"},
            },
        )
        try:
            try:
                await handler.download_request(request)
            except Error:
                # It may be on its way elsewhere already; then the page is there all the same.
                page = request.meta.get("playwright_page")
                if page is None or page.is_closed() or not visit.is_shown:
                    raise
            yield request.meta["playwright_page"]
        finally:
            await visit.close()
            await self._leave(handler, name)

    async def _leave(self, handler: ScrapyPlaywrightDownloadHandler, name: str) -> None:
        wrapper = handler.context_wrappers.get(name)
        if wrapper is None:
            return
        try:
            await asyncio.wait_for(wrapper.context.close(), _CLOSING)
        except Error:
            pass
        except TimeoutError:
            # What does not let go of a page is of no use to others.
            with suppress(Error, TimeoutError, AttributeError):
                await asyncio.wait_for(handler.browser.close(), _CLOSING)

    async def close(self) -> None:
        handler, self._handler = self._handler, None
        if handler is not None:
            with suppress(Error, TimeoutError):
                await asyncio.wait_for(handler.close(), 2 * _CLOSING)


def _reason(error: BaseException) -> str:
    """The line of Playwright's message that says why; it has many."""
    lines = [line.strip(" │║╔╗╚╝═-") for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Call log")]
    telling = [line for line in lines if "sandbox" in line.lower() or "error" in line.lower()]
    return (telling or lines or [type(error).__name__])[0][:300]
