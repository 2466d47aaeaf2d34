"""Scrapy's downloader, for requests that the gate has let pass.

Scrapy keeps a slot with a queue, a delay and a concurrency limit for each host. The gate has
applied its own before a request gets here, and they differ: DOWNLOAD_DELAY counts from the end of
a request here, POLITENESS_HOSTS and robots.txt change it. So a request with a turn goes to its
handler at once. A request without one, such as one that a pipeline sends, waits for its turn here
(``frontier/turnstile.py``). So does one whose turn is used up: copying the meta of a response
copies its lease or turn too. Scrapy's slots are for requests that name one (``download_slot``),
for other schemes than http and https, and for other schedulers than ours.

Answers are read one after the other, and not while hosts are waiting to be asked: a page can
wait, but a host that is asked late is late for the rest of the crawl. Where none is about to be
asked, several are read in a row. CONCURRENT_REQUESTS
limits how many requests are under way; a few times as many answers may stand in line.

A request that waits for its name to be looked up is not under way: name servers that never answer
would take all places. The scheduler holds back a lease until the name is known (``look_ahead``).
For requests without a lease the wait is here.

A request that a middleware ends before it is sent (a cache has its response, say) gives its turn
back. The callback or a pipeline may wait for a turn at the same host.

Meta keys read: ``lease``, ``fetch_started``, ``turn``, ``proxy``, ``download_timeout``,
``download_slot``. Written: ``fetch_started`` (of a request that was not sent).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError
from scrapy.utils.defer import deferred_from_coro

from crawlproject.failures import FETCH_ERRORS
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import LEASE, NOT_ASKED
from crawlproject.frontier.clock import now
from crawlproject.frontier.engine import is_rushed, next_turn, scheduler_of, wake
from crawlproject.frontier.leases import FETCH_STARTED
from crawlproject.frontier.turnstile import has_turn, passing
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

# Answers in line, at most, for each request that may be under way. Each holds what has come of
# it so far.
_LINE = 4
# Answers that are read in a row, where no host has to wait for it: what each needs of the
# processor's caches is there from the one before, which saves a sixth of what a page costs.
_TOGETHER = 8


class Resolver(Protocol):
    """What a download handler's ``names`` can do (``fetching/resolver.py``)."""

    def is_known(self, host: str) -> bool: ...
    def put_off(self) -> float: ...
    async def look_up(self, host: str) -> None: ...
    def failure(self, host: str) -> Exception | None: ...


class GatedDownloader(Downloader):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        if rate := crawler.settings.getfloat("POLITENESS_RATE"):
            # The delay of new slots, which counts from start to start: for requests without a turn.
            self._delay = max(self._delay, 1 / rate)
        # Who stands in line, and what it waits for.
        self._answered: deque[tuple[asyncio.Future[Any], Any]] = deque()
        # Answers that wait for something else than to be read.
        self.aside = 0
        # Requests that wait for a lookup, and those without a lease that wait for a turn.
        self._looking_up = self._awaiting_turn = 0
        self._max_lookups = crawler.settings.getint("POLITENESS_MAX_LOOKUPS")
        # Behind a proxy names are the proxy's to look up. A middleware may set one, too.
        self._has_proxy = any(
            isinstance(one, HttpProxyMiddleware) and one.proxies.keys() - {"no"}
            for one in self.middleware.middlewares
        )

    @property
    def under_way(self) -> int:
        """Requests that were sent, or are about to be, and whose answer is not in line."""
        waiting = self._looking_up + self._awaiting_turn
        return len(self.active) - waiting - len(self._answered) - self.aside

    def needs_backout(self) -> bool:
        most = self.total_concurrency
        in_line = len(self._answered) + self.aside
        if 0 < self._max_lookups <= self._looking_up:
            return True
        return most > 0 and (self.under_way >= most or in_line >= _LINE * most)

    # Scrapy's takes a deprecated argument, too.
    def fetch(self, request: Request) -> Deferred[Response | Request]:  # type: ignore[override]
        """Fetch a request, by way of the downloader middlewares. It is active from now on."""
        return deferred_from_coro(self.fetch_async(request))

    def fetch_async(self, request: Request) -> Coroutine[Any, Any, Response | Request]:
        """As ``fetch``, for a caller that awaits."""
        self.active.add(request)
        return self._fetch(request)

    async def _fetch(self, request: Request) -> Response | Request:
        if has_turn(request):
            passing.set(request)
        try:
            return await self.middleware.download_async(self._download_gated, request)
        except FETCH_ERRORS as error:
            _drop_tracebacks(error)
            raise
        finally:
            self.active.remove(request)
            if LEASE in request.meta and has_turn(request):
                request.meta[FETCH_STARTED] = now()
                frontier_of(self.crawler).withdraw(request.meta[LEASE])

    async def _download_gated(self, request: Request) -> Response:
        if request.meta.get("proxy"):
            self._has_proxy = True
        elif self._has_proxy or LEASE not in request.meta:
            await self._until_name_is_known(request)
        if has_turn(request):
            await self._until_it_may_start(request)
            # A connection lives longer, and would hold the request with its context.
            passing.set(None)
            return await self._send(request)
        turn = getattr(scheduler_of(self.crawler), "turn", None)
        if turn is None or not request.url.startswith(("http:", "https:")):
            # Private: there is no other entry to Scrapy's slots that is behind the middlewares.
            return await self._enqueue_request(request)
        slot = request.meta.get("download_slot")
        self._awaiting_turn += 1
        wake(self.crawler)
        async with AsyncExitStack() as stack:
            try:
                host = await stack.enter_async_context(turn(request))
            finally:
                self._awaiting_turn -= 1
            # A slot that somebody has chosen may have limits of its own (DOWNLOAD_SLOTS).
            is_chosen = slot is not None and slot != host
            return await (self._enqueue_request if is_chosen else self._send)(request)

    async def _until_it_may_start(self, request: Request) -> None:
        """Wait if a middleware has held up a request and others of its host came before it."""
        lease = request.meta.get(LEASE)
        if lease is not None:
            frontier = frontier_of(self.crawler)
            # The gate tells how long it takes, and has no event for it.
            while wait := frontier.start_late(lease, now()):  # noqa: ASYNC110
                await asyncio.sleep(wait)

    async def _send(self, request: Request) -> Response:
        send, spider = self.signals.send_catch_log, self.crawler.spider
        send(signals.request_reached_downloader, request=request, spider=spider)
        try:
            response = await self.handlers.download_request_async(request)
            send(signals.response_downloaded, response=response, request=request, spider=spider)
        finally:
            send(signals.request_left_downloader, request=request, spider=spider)
        await self._let_hosts_be_asked()
        return response

    def look_ahead(self, url: str) -> Awaitable[float] | float | None:
        """The lookup that a canonical URL has to wait for, or seconds until it may begin.

        None: it need not wait. The result of the lookup is NOT_ASKED.
        """
        if self._has_proxy:
            return None
        names = self._names(url.partition(":")[0].rpartition(" ")[2])
        host = host_of(url)
        if names is None or not host or names.is_known(host):
            return None
        return names.put_off() or _looked_up(names, host)

    async def _until_name_is_known(self, request: Request) -> None:
        """Raises what the handler would, which is spared much work for nothing."""
        parts = urlsplit(request.url)
        names = self._names(parts.scheme)
        host = parts.hostname
        if names is None or not host:
            return
        if not names.is_known(host):
            self._looking_up += 1
            wake(self.crawler)
            seconds = request.meta.get("download_timeout")
            try:
                async with asyncio.timeout(seconds):
                    await names.look_up(host)
            except TimeoutError:
                raise DownloadTimeoutError(
                    f"The lookup of {host} took longer than {seconds} seconds."
                ) from None
            finally:
                self._looking_up -= 1
        if failure := names.failure(host):
            raise CannotResolveHostError(str(failure)) from failure

    def _names(self, scheme: str) -> Resolver | None:
        """The resolver of a scheme's handler, if it is ours."""
        return getattr(self.handlers._get_handler(scheme), "names", None)

    async def _let_hosts_be_asked(self) -> None:
        """A host that waits for this answer alone is asked before it is unpacked and read."""
        wake(self.crawler)
        self.aside += 1
        try:
            await next_turn()
        finally:
            self.aside -= 1

    async def stand_in_line(self) -> None:
        """For who has an answer, before it is read."""
        called = asyncio.get_running_loop().create_future()
        self.line_up(called, None)
        await called

    def line_up(self, called: asyncio.Future[Any], answer: Any) -> None:
        """For who waits for an answer, which is given to it when it may be read."""
        if not self._answered:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._call_next, loop)
        self._answered.append((called, answer))

    def _call_next(self, loop: asyncio.AbstractEventLoop) -> None:
        if is_rushed(self.crawler):
            # An answer in line has made room for a request, of which the engine does not know.
            wake(self.crawler)
        else:
            for called, answer in self._next():
                if not called.done():
                    called.set_result(answer)
        if self._answered:
            # In the next turn of the loop: whoever has become due comes before.
            loop.call_soon(self._call_next, loop)

    def _next(self) -> list[tuple[asyncio.Future[Any], Any]]:
        """Who is the next in line, and if there is time, those behind it.

        Not those whose answer is still to come in pieces: they may be large.
        """
        line = self._answered
        together = [line.popleft()]
        if together[0][1] is not None and line and not is_rushed(self.crawler, _TOGETHER):
            while line and line[0][1] is not None and len(together) < _TOGETHER:
                together.append(line.popleft())
        return together


def _drop_tracebacks(error: BaseException | None) -> None:
    """Release the frames that an error came through, with all that they hold, such as a body.

    Scrapy's failure and its frames refer to each other: they would stay until garbage is collected.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


async def _looked_up(names: Resolver, host: str) -> float:
    await names.look_up(host)
    return NOT_ASKED
