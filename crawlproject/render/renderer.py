"""Which pages are rendered, how many at once, and what becomes of those that can't be.

A page that can't be rendered stays as it was fetched: it took too long, it crashed, it is too
large. When the browser itself dies, nobody knows whose doing it was: each page that it had is
tried once more, alone, so that its answer does not depend on its neighbours.

Stats: ``render/pages``, ``render/over_budget``, ``render/failed/<why>``.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from playwright.async_api import Error

from crawlproject.failures import NotNow
from crawlproject.frontier import frontier_of
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.engine import is_closing, stop
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.render import NO_BROWSER
from crawlproject.render.browser import Browser, CannotStart
from crawlproject.render.install import ALWAYS
from crawlproject.render.scripted import is_scripted
from crawlproject.render.slots import Slots
from crawlproject.render.supply import Supply
from crawlproject.render.visit import TooLarge, Visit

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class Renderer:
    def __init__(
        self,
        crawler: Crawler,
        browser: Browser,
        supply: Supply,
        *,
        mode: str,
        max_pages: int,
        concurrency: int,
        deadline: Deadline,
        seconds: float,
        max_requests: int,
        max_bytes: int,
    ) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._browser = browser
        self._supply = supply
        self._mode = mode
        self._max_pages = max_pages
        self._slots = Slots(concurrency)
        self._deadline = deadline
        self._seconds = seconds
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        # Pages of earlier runs and of this one; not known before it is asked.
        self._spent: int | None = None
        self._has_warned = False
        self._is_stopping = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Renderer:
        settings = crawler.settings
        seconds = settings.getfloat("RENDER_TIMEOUT_SECONDS")
        return cls(
            crawler,
            Browser(crawler),
            Supply.from_crawler(crawler),
            mode=settings["RENDER_MODE"],
            max_pages=settings.getint("RENDER_MAX_PAGES"),
            concurrency=settings.getint("RENDER_CONCURRENCY"),
            deadline=Deadline(seconds, settings.getfloat("CLOSESPIDER_TIMEOUT")),
            seconds=seconds,
            max_requests=settings.getint("RENDER_MAX_REQUESTS"),
            max_bytes=settings.getint("DOWNLOAD_MAXSIZE"),
        )

    def wants(self, response: Response, meta: dict[str, Any]) -> bool:
        """Whether an HTML page is to be rendered. May raise Verdict and NotNow."""
        cap = time_cap_of(self._crawler)
        if self._mode != ALWAYS and not cap.run(meta, is_scripted, response):
            return False
        if self._max_pages:
            if self._spent is None:
                self._spent = frontier_of(self._crawler).read().count_rendered()
            if self._spent >= self._max_pages:
                self._stats.inc_value("render/over_budget")
                return False
            self._spent += 1
        return True

    async def render(self, response: Response, begun: Callable[[], None]) -> str | None:
        """What scripts make of a page; None: it stays as it is. May raise NotNow."""
        try:
            # The second time without neighbours.
            for slot in (self._slots.one, self._slots.all):
                try:
                    return await self._attempt(response, slot(), begun)
                except Error as error:
                    if self._browser.is_running():
                        why = "crashed" if "crash" in str(error).lower() else "error"
                        self._give_up(response, why, error)
                        return None
                    logger.info("The browser has ended while it showed %s", response.url)
        except TooLarge:
            self._give_up(response, "too_large")
            return None
        except TimeoutError:
            if self._deadline.timeout() < self._seconds:
                # It is not the page that had no time, but the crawl, which is about to end.
                raise NotNow("the crawl's time is up") from None
            self._give_up(response, "timeout")
            return None
        except CannotStart as error:
            self._stop(error)
            raise NotNow("there is no browser") from None
        self._give_up(response, "browser_crashed")
        return None

    async def _attempt(
        self,
        response: Response,
        slot: AbstractAsyncContextManager[None],
        begun: Callable[[], None],
    ) -> str:
        async with slot:
            if is_closing(self._crawler):
                raise NotNow("the crawl ends")
            begun()
            await self._browser.start()
            visit = Visit(
                response,
                self._supply,
                self._stats,
                seconds=self._deadline.timeout(),
                max_requests=self._max_requests,
                max_bytes=self._max_bytes,
            )
            async with asyncio.timeout(visit.seconds), self._browser.showing(visit) as page:
                html = await visit.watch(page)
        self._stats.inc_value("render/pages")
        return html

    def _give_up(self, response: Response, why: str, error: Exception | None = None) -> None:
        self._stats.inc_value(f"render/failed/{why}")
        level = logging.INFO if self._has_warned else logging.WARNING
        words = "" if error is None else f": {str(error).splitlines()[0]}"
        logger.log(level, "%s stays as it was fetched: %s%s", response.url, why, words)
        if not self._has_warned:
            self._has_warned = True
            logger.warning("More of these are counted as render/failed and logged at INFO")

    def _stop(self, error: CannotStart) -> None:
        """Without a browser the answer would be another: what is queued waits for the next run."""
        if not self._is_stopping:
            self._is_stopping = True
            logger.error("The browser can't be started: %s", error)
            stop(self._crawler, NO_BROWSER)

    async def close(self) -> None:
        _renderers.pop(self._crawler, None)
        await self._browser.close()


_renderers: WeakKeyDictionary[Crawler, Renderer] = WeakKeyDictionary()


def renderer_of(crawler: Crawler) -> Renderer:
    """One for both handlers, of http and of https, until it is closed."""
    renderer = _renderers.get(crawler)
    if renderer is None:
        renderer = _renderers[crawler] = Renderer.from_crawler(crawler)
    return renderer
