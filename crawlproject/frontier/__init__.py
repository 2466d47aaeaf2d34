"""All known URLs and their state. The contract is in ``base.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier

_frontiers: WeakKeyDictionary[Crawler, Frontier] = WeakKeyDictionary()


def frontier_of(crawler: Crawler) -> Frontier:
    """The frontier of a crawl. It outlives the scheduler, because outputs are written last."""
    try:
        return _frontiers[crawler]
    except KeyError:
        raise LookupError(
            "this crawl has no frontier: set SCHEDULER to "
            "'crawlproject.frontier.scheduler.FrontierScheduler'"
        ) from None


def use_frontier(crawler: Crawler, frontier: Frontier) -> None:
    _frontiers[crawler] = frontier
