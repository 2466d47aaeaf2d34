"""The default ROBOTSTXT_PARSER: takes any number of rules without trying them one by one.

Its verdicts are those of Protego, Scrapy's own default, except where that one is not RFC 9309:
see ``tests/politeness/test_parser.py``.
"""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scrapy.robotstxt import RobotParser
from scrapy.utils.python import to_unicode

from crawlproject.politeness.excerpt import rules_for
from crawlproject.politeness.matching import RuleIndex, TooComplex, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_ITSELF = "/robots.txt"
# Nobody asks to be left alone for longer than these digits can say.
_MAX_DELAY_CHARS = 32


class Group(NamedTuple):
    """What the file says to one crawler."""

    rules: RuleIndex
    crawl_delay: float | None


class IndexedRobotParser(RobotParser):
    def __init__(self, robotstxt_body: bytes) -> None:
        self._body = robotstxt_body
        self._groups: dict[str, Group] = {}
        self._has_warned = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body)

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return len(self._body) + sum(group.rules.size for group in self._groups.values())

    def prepare(self, user_agent: str) -> None:
        """Parse what the file says to a crawler. Else the first question does."""
        self._group(user_agent)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        path = path_of(to_unicode(url))
        if path.startswith(_ITSELF) and path.partition("%3F")[0] == _ITSELF:
            return True
        try:
            return self._group(user_agent).rules.allows(path)
        except TooComplex:
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "The rules of its robots.txt are too complex to be applied to %s: "
                    "it is not fetched, nor are others like it",
                    url,
                )
            return False

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        return self._group(user_agent).crawl_delay

    def _group(self, user_agent: str | bytes) -> Group:
        name = to_unicode(user_agent)
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = _read(rules_for(self._body, name))
        return group


def _read(lines: Iterable[tuple[str, str]]) -> Group:
    rules: list[tuple[str, bool]] = []
    delay: float | None = None
    for field, value in lines:
        if field in {"allow", "disallow"}:
            rules.append((value, field == "allow"))
        elif field == "crawl-delay":
            with suppress(ValueError):
                seconds = float(value[:_MAX_DELAY_CHARS])
                if math.isfinite(seconds) and seconds >= 0:
                    # Of several, the one that nobody can complain about.
                    delay = max(seconds, delay or 0.0)
    return Group(RuleIndex(rules), delay)
