"""The rules of a robots.txt, read once and kept while there is room."""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING

from scrapy.utils.misc import build_from_crawler, load_object

from crawlproject.failures import Verdict
from crawlproject.frontier.time_cap import time_cap_of
from crawlproject.politeness.excerpt import excerpt
from crawlproject.politeness.parser import IndexedRobotParser

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

    from crawlproject.frontier.base import Robots

logger = logging.getLogger(__name__)

UNREADABLE = "robots: robots.txt can't be read"
# What is kept in memory: origins, and bytes of their rules.
_MOST_ORIGINS = 4096
_MOST_BYTES = 64 * 1024 * 1024
# What a parser that does not say its size takes, for each byte of text.
_BYTES_PER_BYTE = 20
# Verdicts of all origins: retries, and what scripts of rendered pages ask for.
_MOST_VERDICTS = 1024


class Verdicts:
    """What was decided last, about URLs of any origin."""

    def __init__(self, most: int = _MOST_VERDICTS) -> None:
        self._most = most
        self._verdicts: OrderedDict[tuple[int, str], bool] = OrderedDict()
        self._rules = count()

    def __len__(self) -> int:
        return len(self._verdicts)

    def new_rules(self) -> int:
        """A number for rules that nothing was decided by. The verdicts of others stay theirs."""
        return next(self._rules)

    def get(self, rules: int, url: str) -> bool | None:
        verdict = self._verdicts.get((rules, url))
        if verdict is not None:
            self._verdicts.move_to_end((rules, url))
        return verdict

    def put(self, rules: int, url: str, verdict: bool) -> None:
        self._verdicts[rules, url] = verdict
        if len(self._verdicts) > self._most:
            self._verdicts.popitem(last=False)


class Rules:
    """What an origin allows until ``expires_at``; with an ``error`` it allows nothing."""

    def __init__(
        self,
        parser: RobotParser | None,
        token: str,
        expires_at: float,
        size: int = 0,
        error: str | None = None,
        verdicts: Verdicts | None = None,
    ) -> None:
        self._parser = parser
        self._token = token
        self._verdicts = verdicts or Verdicts()
        self._number = self._verdicts.new_rules()
        self.expires_at = expires_at
        # Seconds between requests that it asks for.
        self.crawl_delay = self._crawl_delay()
        self.size = size
        self.error = error
        self.is_used = False

    def allow(self, url: str) -> bool:
        if self._parser is None:
            return self.error is None
        verdict = self._verdicts.get(self._number, url)
        if verdict is None:
            verdict = self._judge(self._parser, url)
            self._verdicts.put(self._number, url, verdict)
        return verdict

    def _judge(self, parser: RobotParser, url: str) -> bool:
        try:
            return parser.allowed(url, self._token)
        except Exception as exception:
            # Whatever a site writes there must not open its doors, nor stop the crawl.
            logger.warning("robots.txt can't be applied to %s: %s", url, exception)
            return False

    def _crawl_delay(self) -> float | None:
        """Seconds, if it says a number above 0."""
        if self._parser is None:
            return None
        try:
            delay = self._parser.crawl_delay(self._token)
        except Exception as exception:
            logger.debug("A Crawl-delay can't be read: %s", exception)
            return None
        return delay if delay is not None and math.isfinite(delay) and delay > 0 else None


class RulesReader:
    def __init__(self, crawler: Crawler, token: str) -> None:
        self._crawler = crawler
        self._token = token
        self._verdicts = Verdicts()
        self._parser: type[RobotParser] = IndexedRobotParser
        # Scrapy's default is not a choice: it tries all rules for each URL.
        if crawler.settings.getpriority("ROBOTSTXT_PARSER"):
            self._parser = load_object(crawler.settings["ROBOTSTXT_PARSER"])

    def read(self, origin: str, robots: Robots, expires_at: float) -> Rules:
        if robots.body is None:
            return Rules(None, self._token, expires_at, error=robots.error)
        try:
            size, parser = time_cap_of(self._crawler).run({}, self._parse, robots.body)
        except Verdict as verdict:
            reason = verdict.error.removeprefix("unreadable: ")
            logger.warning("robots.txt of %s can't be read: %s", origin, reason)
            return Rules(None, self._token, expires_at, error=f"{UNREADABLE}: {reason}")
        except Exception as exception:
            logger.warning("robots.txt of %s can't be read: %s", origin, exception)
            return Rules(None, self._token, expires_at, error=UNREADABLE)
        return Rules(parser, self._token, expires_at, size, verdicts=self._verdicts)

    def _parse(self, body: bytes) -> tuple[int, RobotParser]:
        """The parsed rules, and their size in memory, about."""
        text = excerpt(body, self._token).encode()
        parser = build_from_crawler(self._parser, self._crawler, text)
        if isinstance(parser, IndexedRobotParser):
            # Here, where what it costs is bounded.
            parser.prepare(self._token)
            return parser.size, parser
        return _BYTES_PER_BYTE * len(text), parser


class RulesBook:
    """The rules that were needed last. The store has the others."""

    def __init__(self, most_origins: int = _MOST_ORIGINS, most_bytes: int = _MOST_BYTES) -> None:
        self._most_origins = most_origins
        self._most_bytes = most_bytes
        self._rules: OrderedDict[str, Rules] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._rules)

    def get(self, origin: str) -> Rules | None:
        rules = self._rules.get(origin)
        if rules is not None:
            self._rules.move_to_end(origin)
        return rules

    def put(self, origin: str, rules: Rules) -> None:
        self.drop(origin)
        self._rules[origin] = rules
        self._bytes += rules.size
        # The newest stays, however large it is.
        while len(self._rules) > 1 and (
            len(self._rules) > self._most_origins or self._bytes > self._most_bytes
        ):
            self._bytes -= self._rules.popitem(last=False)[1].size

    def drop(self, origin: str) -> None:
        rules = self._rules.pop(origin, None)
        if rules is not None:
            self._bytes -= rules.size
