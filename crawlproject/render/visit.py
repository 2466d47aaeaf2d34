"""One page in the browser: what it gets of what it asks for, and when it is ready.

The first thing that it asks for is itself: that is the answer which was fetched. Scripts, style
sheets and what scripts fetch come from the supply, one at a time from each host. All else is
refused: pictures, films, fonts, frames, beacons, sockets, other methods than GET, HEAD and POST,
and more than RENDER_MAX_REQUESTS requests. A page that wants to be elsewhere stays: where it
wanted to go is noted, and becomes a ``<meta http-equiv=refresh>``, which is a link.

Stats: ``render/refused/<why>``.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import asynccontextmanager, suppress
from html import escape
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from crawlproject.failures import Verdict
from crawlproject.render.supply import Wish
from crawlproject.urls.canonical import canonicalize, host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page, Route, WebSocketRoute
    from playwright.async_api import Request as Asked
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from crawlproject.render.supply import Supply

_GIVEN = frozenset({"script", "stylesheet", "xhr", "fetch"})
_SHARED = frozenset({"script", "stylesheet"})
_METHODS = frozenset({"GET", "HEAD", "POST"})
# Said by the crawl itself, or by nobody: an answer must not depend on who asked before.
_OWN_HEADERS = frozenset({"user-agent", "accept-encoding", "cookie", "referer", "host"})
# Of an answer whose body is decoded and complete, and that is shown whatever its server thinks.
_DROPPED_HEADERS = frozenset(
    {
        *("content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"),
        *("set-cookie", "content-disposition", "clear-site-data"),
    }
)
# The part of a page's time after which it is taken as it is, and that one request may take.
_PATIENCE = 0.8
_SHARE = 0.4
# Seconds for what takes no time.
_CONFIRMING = 0.5

# What is shown, with what components keep to themselves; null: it is more than allowed.
_READ = """(most) => {
  const inert = document.implementation.createHTMLDocument('');
  const copied = (node) => {
    const copy = inert.importNode(node, false);
    const inside = node.shadowRoot ? [...node.shadowRoot.childNodes] : [];
    for (const child of [...inside, ...node.childNodes]) copy.appendChild(copied(child));
    return copy;
  };
  const root = document.documentElement;
  if (!root) return '';
  const hidden = [...document.querySelectorAll('*')].some((node) => node.shadowRoot);
  const text = '<!DOCTYPE html>' + String((hidden ? copied(root) : root).outerHTML);
  return text.length > most ? null : text;
}"""


class TooLarge(Exception):
    """What the scripts have made is more than DOWNLOAD_MAXSIZE."""


class Visit:
    def __init__(
        self,
        response: Response,
        supply: Supply,
        stats: StatsCollector,
        *,
        seconds: float,
        max_requests: int,
        max_bytes: int,
    ) -> None:
        self.url = response.url
        self._origin = origin_of(canonicalize(response.url))
        self.seconds = seconds
        self._response = response
        self._supply = supply
        self._stats = stats
        self._requests_left = max_requests or None
        self._max_bytes = max_bytes
        # Whether the browser has its document.
        self.is_shown = False
        self._departure: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._under_way: set[asyncio.Task[Response]] = set()
        self._page: Page | None = None
        self._has_ended = asyncio.Event()

    async def prepare(self, page: Page, request: Request) -> None:
        """Before the page is asked for anything."""
        context = page.context
        # For what opens beside the page; the page's own come first.
        await context.route("**", self._refuse_other)
        await context.route_web_socket("**", _close_socket)
        await page.route("**", self._answer)
        self._page = page

    async def watch(self, page: Page) -> str:
        """What the page is when its scripts have come to rest, or when it has had its time."""
        resting = asyncio.ensure_future(self._rest(page))
        try:
            await asyncio.wait({resting, self._departure}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()
            await asyncio.gather(resting, return_exceptions=True)
        text = await page.evaluate(_READ, self._max_bytes or 2**53)
        if text is None:
            raise TooLarge
        return f"{text}{self._leading_elsewhere()}"

    async def _rest(self, page: Page) -> None:
        # Some pages never come to rest, and what they show is there all the same.
        with suppress(Error):
            await page.wait_for_load_state("networkidle", timeout=self.seconds * _PATIENCE * 1000)

    async def close(self) -> None:
        """Nothing of it goes on after its turn."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self._departure.cancel()
        if self._page is not None:
            routes = self._page, self._page.context
            forgetting = [route.unroute_all(behavior="ignoreErrors") for route in routes]
            # It works at once, but a page that is busy with itself does not confirm it.
            with suppress(TimeoutError):
                async with asyncio.timeout(_CONFIRMING):
                    await asyncio.gather(*forgetting, return_exceptions=True)
        self._has_ended.set()

    def _leading_elsewhere(self) -> str:
        if not self._departure.done() or self._departure.result() == self.url:
            return ""
        target = escape(self._departure.result())
        return f'<meta http-equiv="refresh" content="0; url={target}">'

    async def _answer(self, route: Route, asked: Asked) -> None:
        async with self._until_the_end():
            if asked.is_navigation_request():
                await self._navigate(route, asked)
            elif (refusal := self._refusal(asked)) is not None:
                await self._refuse(route, refusal)
            else:
                await self._give(route, asked)

    async def _refuse_other(self, route: Route) -> None:
        async with self._until_the_end():
            await self._refuse(route, "window")

    @asynccontextmanager
    async def _until_the_end(self) -> AsyncIterator[None]:
        """Playwright waits for an answer that is not taken any more, unless it is told of that.

        It would also complain, but for the last moment, when it is asked not to.
        """
        try:
            yield
        except Error:
            await self._has_ended.wait()
            raise

    async def _navigate(self, route: Route, asked: Asked) -> None:
        is_frame = asked.frame.parent_frame is not None
        if not self.is_shown and not is_frame:
            self.is_shown = True
            await _fulfill(route, self._response)
            return
        await self._refuse(route, "frame" if is_frame else "navigation")
        if not is_frame and not self._departure.done():
            self._departure.set_result(asked.url)

    def _refusal(self, asked: Asked) -> str | None:
        """Why it does not get it, as a word for the stats."""
        if asked.resource_type not in _GIVEN:
            return asked.resource_type
        if not asked.url.startswith(("http:", "https:")):
            return "scheme"
        if asked.method not in _METHODS:
            return "method"
        if self._requests_left == 0:
            return "too_many"
        return None

    async def _give(self, route: Route, asked: Asked) -> None:
        wish = Wish(
            asked.url,
            asked.method,
            tuple((name, value) for name, value in asked.headers.items() if _is_sent(name)),
            asked.post_data_buffer or b"",
            is_shared=asked.method == "GET" and asked.resource_type in _SHARED,
            origin=self._origin,
        )
        task = asyncio.ensure_future(self._fetched(wish))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            answer = await task
        except Verdict as verdict:
            await self._refuse(route, verdict.error.replace(" ", "_"))
        except (Exception, asyncio.CancelledError):  # it costs the page this request
            await route.abort("failed")
        else:
            await _fulfill(route, answer)

    async def _fetched(self, wish: Wish) -> Response:
        async with self._hosts[host_of(wish.url)]:
            answer = self._supply.kept(wish)
            if answer is None:
                if self._requests_left is not None:
                    self._requests_left -= 1
                answer = await self._supply.fetch(wish, self.seconds * _SHARE)
            return answer

    async def _refuse(self, route: Route, why: str) -> None:
        self._stats.inc_value(f"render/refused/{why}")
        # By this word, a page that wants to be elsewhere stays where it is.
        await route.abort("aborted")


def _is_sent(name: str) -> bool:
    return name.lower() not in _OWN_HEADERS and not name.lower().startswith("sec-")


async def _fulfill(route: Route, answer: Response) -> None:
    headers = {
        str(name): value
        for name, value in answer.headers.to_unicode_dict().items()
        if str(name).lower() not in _DROPPED_HEADERS
    }
    await route.fulfill(status=answer.status, headers=headers, body=answer.body)


async def _close_socket(socket: WebSocketRoute) -> None:
    with suppress(Error):
        await socket.close()
