"""robots.txt, asked before a host's first page, and failing closed (RFC 9309).

| robots.txt | what follows |
|---|---|
| 2xx | its rules apply, and its Crawl-delay is obeyed |
| 4xx but 429 | no rules |
| anything else, after retries with back-off | nothing of the host is fetched |

The rules of an origin (scheme, host and port) are kept in memory for the whole crawl.
"""

from __future__ import annotations

import asyncio
import logging
import math
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request, signals
from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.failures import Verdict, error_of
from crawlproject.frontier import frontier_of
from crawlproject.frontier.deadline import Deadline
from crawlproject.scope.internal import is_internal
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of, origin_of
from crawlproject.urls.directives import product_token

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

    from crawlproject.frontier.base import Lease
    from crawlproject.scope.scope import Scope

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5


class Unreachable:
    """A robots.txt that could not be had, and the error that its pages end with."""

    def __init__(self, error: str) -> None:
        self.error = error


class RobotsGatekeeper:
    """Asks robots.txt about every lease."""

    asks_the_host = True

    def __init__(
        self,
        crawler: Crawler,
        *,
        obey: bool,
        user_agent: str,
        max_bytes: int,
        attempts: int,
        backoff: float,
        delay: float,
        max_crawl_delay: float,
        deadline: Deadline,
    ) -> None:
        self._crawler = crawler
        self._obey = obey
        self._user_agent = user_agent
        self._max_bytes = max_bytes
        self._attempts = attempts
        self._backoff = backoff
        self._delay = delay
        self._max_crawl_delay = max_crawl_delay
        self._deadline = deadline
        self._parser: type[RobotParser] = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._rules: dict[str, RobotParser | Unreachable | None] = {}
        self._questions: dict[str, asyncio.Future[None]] = {}
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsGatekeeper:
        settings = crawler.settings
        return cls(
            crawler,
            obey=settings.getbool("ROBOTSTXT_OBEY"),
            user_agent=settings["ROBOTSTXT_USER_AGENT"] or product_token(settings["USER_AGENT"]),
            max_bytes=settings.getint("POLITENESS_ROBOTS_MAX_BYTES"),
            attempts=1 + settings.getint("RETRY_TIMES"),
            backoff=settings.getfloat("FRONTIER_RETRY_BACKOFF_SECONDS"),
            delay=settings.getfloat("DOWNLOAD_DELAY"),
            max_crawl_delay=settings.getfloat("POLITENESS_MAX_CRAWL_DELAY_SECONDS"),
            deadline=Deadline.from_settings(settings),
        )

    def verdict(self, lease: Lease) -> str | Awaitable[None] | None:
        if not self._obey:
            return None
        origin = origin_of(lease.url)
        if origin not in self._rules:
            if origin not in self._questions:
                question = asyncio.ensure_future(self._learn(origin))
                self._questions[origin] = question
            return asyncio.shield(self._questions[origin])
        rules = self._rules[origin]
        if isinstance(rules, Unreachable):
            return rules.error
        if rules is None or rules.allowed(lease.fetch_url, self._user_agent):
            return None
        self._crawler.stats.inc_value("robotstxt/forbidden")
        return "robots"

    def _close(self) -> None:
        for question in self._questions.values():
            question.cancel()

    async def _learn(self, origin: str) -> None:
        try:
            rules = await self._fetch(origin)
        except Exception as exception:
            # Whatever a site can make go wrong here must not open its doors.
            logger.warning("robots.txt of %s can't be read: %s", origin, exception)
            rules = Unreachable("robots: robots.txt can't be read")
        self._rules[origin] = rules
        del self._questions[origin]
        if rules is not None and not isinstance(rules, Unreachable):
            self._obey_crawl_delay(origin, rules)

    async def _fetch(self, origin: str) -> RobotParser | Unreachable | None:
        unreachable = Unreachable("robots: robots.txt could not be had")
        for attempt in range(self._attempts):
            if attempt:
                await asyncio.sleep(max(self._delay, self._backoff * 2 ** (attempt - 1)))
            self._crawler.stats.inc_value("robotstxt/request_count")
            try:
                response = await self._follow(f"{origin}/robots.txt")
            except Exception as exception:
                # Nobody is there: its pages would end the same way.
                unreachable = Unreachable(error_of(exception))
                continue
            status = response.status
            self._crawler.stats.inc_value("robotstxt/response_count")
            self._crawler.stats.inc_value(f"robotstxt/response_status_count/{status}")
            if 200 <= status < 300:
                body = response.body[: self._max_bytes]
                return build_from_crawler(self._parser, self._crawler, body)
            if 300 <= status < 500 and status != 429:
                return None
            unreachable = Unreachable(f"robots: robots.txt answered {status}")
        return unreachable

    async def _follow(self, url: str) -> Response:
        """The answer after at most five redirects; a longer chain counts as no robots.txt."""
        home = host_of(url)
        for _ in range(MAX_REDIRECTS + 1):
            if host_of(url) == home:
                # The lease that asks has the turn.
                response = await self._download(url)
            else:
                response = await self._download_abroad(url)
            location = response.headers.get("Location")
            if response.status not in {301, 302, 303, 307, 308} or location is None:
                return response
            try:
                url = canonicalize(urljoin(url, location.decode("latin-1")))
            except NotCrawlable:
                return response
            await asyncio.sleep(self._delay)
        return response

    async def _download(self, url: str) -> Response:
        meta = {
            "dont_retry": True,
            "download_slot": host_of(url),
            "download_timeout": self._deadline.timeout(),
        }
        return await self._crawler.engine.download_async(Request(url, meta=meta))

    async def _download_abroad(self, url: str) -> Response:
        """From another host than the one that asks: at its own turn, if it is one to go to."""
        host = host_of(url)
        scope: Scope | None = getattr(self._crawler.spider, "scope", None)
        if scope is not None and is_internal(host) and not scope.allows_internal:
            raise Verdict("robots: robots.txt redirects to an internal address")
        frontier = frontier_of(self._crawler)
        # Two hosts may wait for each other.
        patience = monotonic() + self._deadline.timeout()
        while wait := frontier.enter(host, monotonic()):
            if monotonic() + wait > patience:
                raise Verdict("robots: robots.txt redirects to a host that is busy")
            await asyncio.sleep(wait)
        try:
            return await self._download(url)
        finally:
            frontier.leave(host, monotonic())

    def _obey_crawl_delay(self, origin: str, rules: RobotParser) -> None:
        delay = rules.crawl_delay(self._user_agent)
        if delay is None or not math.isfinite(delay) or delay <= 0:
            return
        if delay > self._max_crawl_delay:
            logger.warning(
                "%s asks for a Crawl-delay of %g s; %g s is used "
                "(POLITENESS_MAX_CRAWL_DELAY_SECONDS)",
                origin,
                delay,
                self._max_crawl_delay,
            )
        frontier_of(self._crawler).insist(host_of(origin + "/"), min(delay, self._max_crawl_delay))
