"""Asking a host for its robots.txt, at its turn.

Every request here has a turn at the gate. The lease that needs the answer has one at its own
host, for one request: where a redirect leads there again, the question is put off until the
next lease of that host comes. At another host a turn is taken. Who waits for one keeps a turn
at home from others, and two hosts may lead to each other: so after a short time, by chance
shorter for one of the two, it is given back for long enough that somebody else can have it.

Meta keys read: ``fetch_ended``; written: ``turn``, ``dont_retry``, ``dont_redirect``,
``dont_merge_cookies``, ``allow_offsite``, ``download_slot``, ``download_timeout``,
``verbatim_url``.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request, signals
from scrapy.exceptions import StopDownload
from scrapy.http.request import NO_CALLBACK

from crawlproject.failures import Verdict, error_of
from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import TURN
from crawlproject.frontier.clock import now
from crawlproject.frontier.leases import FETCH_ENDED
from crawlproject.politeness.excerpt import cut
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of
from crawlproject.urls.location import location_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlproject.frontier.deadline import Deadline
    from crawlproject.politeness.patience import Patience
    from crawlproject.scope.scope import Scope

MAX_REDIRECTS = 5
# Bytes that a request has brought so far.
_RECEIVED = "robots_bytes"
# Seconds to wait for a turn at another host, and for how long the own one is given back then.
_WAIT = 0.2, 0.8
_BREAK = 0.1, 0.2


class Answer(NamedTuple):
    """What came of asking: the text, nothing (there are no rules), or an error."""

    body: bytes | None = None
    # As in Page.error.
    error: str | None = None
    response: Response | None = None
    # When its host had answered, if it was that host who did last.
    ended_at: float | None = None


class Trail(NamedTuple):
    """How far the redirects of a robots.txt have been followed."""

    url: str
    redirects: int = 0


class RobotsAsker:
    def __init__(
        self,
        crawler: Crawler,
        *,
        max_bytes: int,
        timeout: float,
        deadline: Deadline,
        patience: Patience,
    ) -> None:
        self._crawler = crawler
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._deadline = deadline
        self._patience = patience
        self._chance = Random()  # noqa: S311 - nobody is to be kept from guessing it
        self._trails: dict[str, Trail] = {}
        self._under_way = 0

    async def ask(self, origin: str, home: str) -> Answer | None:
        """With a turn at ``home``, the origin's host. None: ask again at its next turn."""
        trail = self._trails.pop(origin, None)
        if trail is None:
            trail = Trail(f"{origin}/robots.txt")
            self._crawler.stats.inc_value("robotstxt/request_count")
        try:
            reached = await self._follow(trail, home)
        except Exception as exception:
            error = error_of(exception)
            if error == "timeout" and self._deadline.timeout() < self._timeout:
                # It is not the host who had no time, but the crawl, which is about to end.
                frontier_of(self._crawler).hold(home, now() + self._patience.backoff(1))
                return None
            # Nobody is there: its pages would end the same way.
            return Answer(error=error)
        if isinstance(reached, Trail):
            self._trails[origin] = reached
            return None
        answer = self._read(reached)
        if frontier_of(self._crawler).host_of(reached.url) == home:
            answer = answer._replace(ended_at=reached.meta.get(FETCH_ENDED))
        return answer

    def _read(self, response: Response) -> Answer:
        status = response.status
        self._crawler.stats.inc_value("robotstxt/response_count")
        self._crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
        if 200 <= status < 300:
            return Answer(cut(response.body, self._max_bytes))
        if 300 <= status < 500 and status != 429:
            return Answer()
        return Answer(error=f"robots: robots.txt answered {status}", response=response)

    async def _follow(self, trail: Trail, home: str) -> Response | Trail:
        """The answer after at most five redirects; a longer chain counts as no robots.txt."""
        frontier = frontier_of(self._crawler)
        has_turn = True
        while True:
            url, redirects = trail
            host = frontier.host_of(url)
            if host == home:
                if not has_turn:
                    return trail
                response = await self._download(url, host)
            else:
                self._refuse_internal(url)
                if wait := await self._enter(host):
                    frontier.hold(home, now() + max(wait, self._chance.uniform(*_BREAK)))
                    return trail
                ended_at = None
                try:
                    response = await self._download(url, host)
                    ended_at = response.meta.get(FETCH_ENDED)
                finally:
                    frontier.release_turn(host, ended_at or now())
            has_turn = False
            target = _target(response)
            if target is None or redirects == MAX_REDIRECTS:
                return response
            trail = Trail(target, redirects + 1)

    async def _enter(self, host: str) -> float:
        """Take a turn at another host: 0, or seconds until there may be one."""
        frontier = frontier_of(self._crawler)
        patience = now() + self._chance.uniform(*_WAIT)
        while wait := frontier.acquire_turn(host, now()):
            if now() + wait > patience:
                return wait
            await asyncio.sleep(wait)
        return 0.0

    def _refuse_internal(self, url: str) -> None:
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is not None and scope.refuses_host(host_of(url)):
            raise Verdict("robots: robots.txt redirects to an internal address")

    async def _download(self, url: str, host: str) -> Response:
        meta = {
            TURN: host,
            _RECEIVED: 0,
            "dont_retry": True,
            # Where they are on: redirects are followed here, each at its host's turn, and a
            # robots.txt may be where the spider is not to go.
            "dont_redirect": True,
            # What a robots.txt says does not depend on who is logged in.
            "dont_merge_cookies": True,
            "allow_offsite": True,
            "download_slot": host,
            "download_timeout": self._deadline.timeout(),
            # It is canonical.
            "verbatim_url": True,
        }
        # While nobody asks, no piece of any page needs to be looked at.
        if not self._under_way:
            self._crawler.signals.connect(self._stop_when_enough, signals.bytes_received)
        self._under_way += 1
        try:
            request = Request(url, callback=NO_CALLBACK, meta=meta)
            return await self._crawler.engine.download_async(request)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._crawler.signals.disconnect(self._stop_when_enough, signals.bytes_received)

    def _stop_when_enough(self, data: bytes, request: Request) -> None:
        """A robots.txt that never ends is as good as one that ends here."""
        if _RECEIVED not in request.meta:
            return
        received = request.meta[_RECEIVED] = request.meta[_RECEIVED] + len(data)
        if received > self._max_bytes:
            raise StopDownload(fail=False)


def _target(response: Response) -> str | None:
    """Where a redirect leads, if that is somewhere to go."""
    location = location_of(response)
    if location is None:
        return None
    try:
        return canonicalize(location, response.url)
    except NotCrawlable:
        return None
