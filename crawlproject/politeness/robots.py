"""robots.txt, asked before a host's first page, and failing closed (RFC 9309).

| robots.txt | what follows |
|---|---|
| 2xx | its rules apply, and its Crawl-delay is obeyed |
| 4xx but 429 | no rules |
| anything else | the host is held, and asked again with back-off; its URLs stay queued |

| how long it is asked again | then its URLs are skipped: ``robots unreachable`` |
|---|---|
| a host that answers, or has answered in this crawl | POLITENESS_ROBOTS_UNREACHABLE_SECONDS |
| one that never has: no such name, connection refused, time-out … | RETRY_TIMES times, as a page |
| one that leads into a private network, which the seeds don't open | not at all |

What a robots.txt said is kept in the frontier, by origin (scheme, host and port), so that a
restart asks for nothing that is still valid. That an origin can't be reached is the one thing
that each run finds out for itself: its time and its back-off begin anew, after what is left
of the last hold.

Meta keys read: ``dont_obey_robotstxt``, of a request of a spider's own.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawlproject.frontier import frontier_of
from crawlproject.frontier.base import NOT_ASKED, ROBOTS, ROBOTS_UNREACHABLE, Robots
from crawlproject.frontier.clock import now
from crawlproject.frontier.deadline import Deadline
from crawlproject.frontier.entry import address_of
from crawlproject.frontier.requests import meta_of
from crawlproject.politeness.asking import Answer, RobotsAsker
from crawlproject.politeness.patience import Patience
from crawlproject.politeness.rules import UNREADABLE, RulesBook, RulesReader
from crawlproject.politeness.waits import Wait, waits_of
from crawlproject.scope.scope import INTERNAL
from crawlproject.spider_attributes import download_limit
from crawlproject.urls.canonical import NotCrawlable, canonicalize, origin_of
from crawlproject.urls.directives import product_token

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Lease
    from crawlproject.politeness.rules import Rules

logger = logging.getLogger(__name__)

_EXEMPT = "dont_obey_robotstxt"
# URLs of an origin that was given up are skipped, those that are found later in this run, too.
_GIVEN_UP_SECONDS = 3600.0


class RobotsGatekeeper:
    """Asks robots.txt about every lease."""

    asks_the_host = True

    def __init__(
        self,
        crawler: Crawler,
        asker: RobotsAsker,
        reader: RulesReader,
        patience: Patience,
        *,
        obey: bool,
        retries: int,
        max_age: float,
        unreachable_seconds: float,
        max_crawl_delay: float,
    ) -> None:
        self._crawler = crawler
        self._asker = asker
        self._reader = reader
        self._patience = patience
        self._obey = obey
        self._retries = retries
        self._max_age = max_age
        self._unreachable_seconds = unreachable_seconds
        self._max_crawl_delay = max_crawl_delay
        self._book = RulesBook()
        self._questions: dict[str, asyncio.Future[float | None]] = {}
        self._began_at = now()
        self._waits = waits_of(crawler)
        self._has_warned = False
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsGatekeeper:
        settings = crawler.settings
        token = settings["ROBOTSTXT_USER_AGENT"] or product_token(settings["USER_AGENT"])
        patience = Patience.from_settings(settings)
        asker = RobotsAsker(
            crawler,
            max_bytes=settings.getint("POLITENESS_ROBOTS_MAX_BYTES"),
            timeout=download_limit(crawler, "DOWNLOAD_TIMEOUT"),
            deadline=Deadline.from_crawler(crawler),
            patience=patience,
        )
        return cls(
            crawler,
            asker,
            RulesReader(crawler, token),
            patience,
            obey=settings.getbool("ROBOTSTXT_OBEY"),
            retries=settings.getint("RETRY_TIMES") if settings.getbool("RETRY_ENABLED") else 0,
            max_age=settings.getfloat("POLITENESS_ROBOTS_MAX_AGE_SECONDS"),
            unreachable_seconds=settings.getfloat("POLITENESS_ROBOTS_UNREACHABLE_SECONDS"),
            max_crawl_delay=settings.getfloat("POLITENESS_MAX_CRAWL_DELAY_SECONDS"),
        )

    def verdict(self, lease: Lease) -> str | Awaitable[float | None] | None:
        url = _address(lease)
        if not self._obey or not url[:6].lower().startswith(("http:", "https:")):
            return None
        if lease.request is not None and _is_exempt(lease.request):
            return None
        origin = _origin(url, lease)
        rules = self._known(origin, lease.host)
        if rules is None:
            return self._question(origin, lease.host)
        if rules.error is not None:
            lease.skip = f"{ROBOTS_UNREACHABLE}: {_words(rules.error)}"
            return rules.error
        if rules.allow(url):
            return None
        self._crawler.stats.inc_value("robotstxt/forbidden")
        lease.skip = f"{ROBOTS}: {origin}/robots.txt"
        return "robots"

    def _known(self, origin: str, host: str) -> Rules | None:
        """What holds now; None: that is to be asked."""
        moment = now()
        rules = self._book.get(origin)
        if rules is None:
            robots = frontier_of(self._crawler).robots_of(origin)
            if robots is None or not self._holds(robots, moment):
                return None
            rules = self._keep(origin, host, robots)
        # What was asked for a URL counts for one at least, however short the time it is kept:
        # or a host with a longer delay than that would be asked for its robots.txt for ever.
        elif rules.is_used and moment >= rules.expires_at:
            return None
        rules.is_used = True
        return rules

    def _holds(self, robots: Robots, moment: float) -> bool:
        # What is from the future was noted before the clock was put back.
        if not robots.fetched_at <= moment < self._expiry(robots):
            return False
        if robots.error is None:
            return True
        return robots.fetched_at >= self._began_at

    def _expiry(self, robots: Robots) -> float:
        """The settings may have changed since it was kept."""
        age = self._max_age if robots.error is None else _GIVEN_UP_SECONDS
        return min(robots.expires_at, robots.fetched_at + age)

    def _question(self, origin: str, host: str) -> Awaitable[float | None]:
        question = self._questions.get(origin)
        if question is not None:
            return self._overhear(question)
        question = self._questions[origin] = asyncio.ensure_future(self._learn(origin, host))
        return asyncio.shield(question)

    async def _overhear(self, question: asyncio.Future[float | None]) -> float:
        await asyncio.shield(question)
        return NOT_ASKED

    def _close(self) -> None:
        for question in self._questions.values():
            question.cancel()

    async def _learn(self, origin: str, host: str) -> float | None:
        """Ask, and keep the answer; when it had come, if that is known."""
        try:
            answer = await self._asker.ask(origin, host)
        except Exception as exception:
            # Whatever a site can make go wrong here must not open its doors.
            logger.warning("robots.txt of %s can't be read: %s", origin, exception)
            answer = Answer(error=UNREADABLE)
        finally:
            del self._questions[origin]
        if answer is None:
            return None
        if answer.error is not None:
            self._failed(origin, host, answer, answer.error)
            return answer.ended_at
        moment = now()
        robots = Robots(answer.body, moment, moment + self._max_age)
        frontier_of(self._crawler).keep_robots(origin, robots)
        rules = self._keep(origin, host, robots)
        delay = rules.crawl_delay
        if delay is not None and delay > self._max_crawl_delay:
            logger.warning(
                "%s asks for a Crawl-delay of %g s; %g s is used "
                "(POLITENESS_MAX_CRAWL_DELAY_SECONDS)",
                origin,
                delay,
                self._max_crawl_delay,
            )
        return answer.ended_at

    def _failed(self, origin: str, host: str, answer: Answer, error: str) -> None:
        """Hold the host for a while, or give it up."""
        frontier = frontier_of(self._crawler)
        moment = now()
        failures, since = 1, moment
        has_answered = answer.response is not None
        before = frontier.robots_of(origin)
        if before is not None:
            has_answered = has_answered or before.error is None or before.body is not None
            is_of_this_run = self._began_at <= before.fetched_at <= moment
            if before.is_awaited and is_of_this_run:
                since = before.fetched_at
            if before.is_awaited and (is_of_this_run or not has_answered):
                failures += before.failures
        self._book.drop(origin)
        left = since + self._unreachable_seconds - moment
        is_over = left <= 0 if has_answered else failures > self._retries
        # What the guard refuses, it refuses each time.
        if is_over or error == INTERNAL:
            self._give_up(origin, host, Robots(None, moment, moment, error, failures))
            return
        asked = self._patience.asked(answer.response, moment)
        wait = asked or self._patience.backoff(failures)
        if has_answered and not asked and left <= 1.5 * wait:
            # The last try is at the end of the time, and not half a back-off after another one.
            wait = left
        frontier.hold(host, moment + wait)
        if failures > self._retries:
            # Other hosts are not to wait for this one.
            frontier.free_links()
        body = b"" if has_answered else None
        frontier.keep_robots(origin, Robots(body, since, since, error, failures))
        until = moment + max(left, wait) if has_answered else None
        self._waits.put(Wait(host, _words(error), moment + wait, until))
        self._say_that_it_waits(origin, _words(error), wait, until and until - moment)

    def _say_that_it_waits(self, origin: str, words: str, wait: float, left: float | None) -> None:
        level = logging.INFO
        most = ""
        if left is not None:
            most = f", for {left:.0f} s at most (POLITENESS_ROBOTS_UNREACHABLE_SECONDS)"
            if not self._has_warned:
                # One line for a log without the progress line.
                level, self._has_warned = logging.WARNING, True
        text = "No robots.txt of %s (%s): its URLs wait%s; next try in %.1f s"
        logger.log(level, text, origin, words, most, wait)

    def _give_up(self, origin: str, host: str, robots: Robots) -> None:
        robots = robots._replace(expires_at=robots.fetched_at + _GIVEN_UP_SECONDS)
        frontier_of(self._crawler).keep_robots(origin, robots)
        self._keep(origin, host, robots)
        self._crawler.stats.inc_value("robotstxt/unreachable")
        logger.info("No robots.txt of %s (%s): nothing of it is fetched", origin, robots.error)

    def _keep(self, origin: str, host: str, robots: Robots) -> Rules:
        rules = self._reader.read(origin, robots, self._expiry(robots))
        self._book.put(origin, rules)
        self._waits.drop(host)
        if delay := rules.crawl_delay:
            frontier_of(self._crawler).set_min_delay(host, min(delay, self._max_crawl_delay))
        # It may say more than what concerns the gate.
        listen = getattr(self._crawler.spider, "robots_known", None)
        if listen is not None and robots.error is None:
            try:
                listen(origin, robots.body)
            except Exception as exception:
                logger.warning("What else robots.txt of %s says is lost: %s", origin, exception)
        return rules


def _words(error: str) -> str:
    """Why there is no robots.txt, without saying twice that it is about that."""
    return error.removeprefix("robots: ")


def _is_exempt(request: str | Request) -> bool:
    """Whether a spider wants this one fetched whatever robots.txt says, by Scrapy's own word."""
    if not isinstance(request, str):
        return bool(request.meta.get(_EXEMPT))
    return _EXEMPT in request and bool(meta_of(request).get(_EXEMPT))


def _address(lease: Lease) -> str:
    """The URL that is fetched."""
    url = address_of(lease.fetch_url)
    if lease.request is not None and url.count(" ") == 2:
        # A request of a spider's own is known as 'METHOD URL DIGEST' if it is no plain GET.
        return url.split(" ")[1]
    return url


def _origin(url: str, lease: Lease) -> str:
    if lease.fetch_url == lease.url:
        return origin_of(url)
    try:
        # As a redirect spelled it; with URLS_JOIN_SCHEMES in another scheme, too.
        return origin_of(canonicalize(url))
    except NotCrawlable:
        return origin_of(lease.url)
