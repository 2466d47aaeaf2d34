"""Scope rules of a team's own: classes that say why a URL is not to be fetched.

Each is asked about every new URL, before it enters the frontier, when the rest of the scope
has let it in. What it says is in the skip ledger: a word or a few, and perhaps what is to
blame after a colon; otherwise the rule's own name stands there.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

FAILED = "rule failed"
# Reasons by which the frontier knows what may let a URL in later. A rule can't mean them.
RESERVED = (
    *("depth", "nofollow", "growing path", "duplicate", "robots", "robots unreachable"),
    *("unlinked", "request not kept"),
)


class Rule(Protocol):
    """A URL always gets the same answer, or the crawl would not be the same twice."""

    def reason(self, url: str) -> str | None:
        """Why a canonical URL is not to be fetched; None when it may be."""


def rules_from(crawler: Crawler) -> list[Callable[[str], str | None]]:
    """The rules that the setting SCOPE_RULES names, each built as Scrapy builds components."""
    return [_judge(cls, crawler) for cls in map(load_object, crawler.settings["SCOPE_RULES"])]


def _judge(cls: type[Rule], crawler: Crawler) -> Callable[[str], str | None]:
    rule = build_from_crawler(cls, crawler)
    name = global_object_name(cls)

    def judge(url: str) -> str | None:
        try:
            said = rule.reason(url)
        except Exception:  # a team's own code may raise anything; nothing is fetched unjudged
            logger.error("%s can't judge %s", name, url, exc_info=True)
            said = FAILED
        return None if said is None else _in_ledger(str(said), name)

    return judge


def _in_ledger(said: str, name: str) -> str:
    word, colon, blamed = " ".join(said.split()).partition(":")
    word = word.strip() or "own rule"
    if word.startswith(RESERVED):
        word = f"own rule ({word})"
    return f"{word}: {blamed.strip() if colon and blamed.strip() else name}"
