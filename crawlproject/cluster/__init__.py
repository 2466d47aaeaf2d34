"""Several workers on this machine, as one crawl: one line, one summary, one output.

The supervisor is a Scrapy crawl too, but one without requests: its scheduler (``overseer.py``)
starts workers, and there is something to do as long as one of them lives. So Ctrl-C, time limits,
outputs and the summary are those of any crawl. They are made from a copy of what is in Redis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from redis import Redis
    from scrapy.crawler import Crawler

    from crawlproject.cluster.workers import Workers


class Fleet(NamedTuple):
    workers: Workers
    # The Redis that they share.
    client: Redis
    # Whether it is theirs alone.
    is_own: bool
    # Where what they know stays, as the user calls it; None: nowhere.
    place: str | None = None


_fleets: WeakKeyDictionary[Crawler, Fleet] = WeakKeyDictionary()


def fleet_of(crawler: Crawler) -> Fleet:
    """What a crawl supervises."""
    return _fleets[crawler]


def use_fleet(crawler: Crawler, fleet: Fleet) -> None:
    _fleets[crawler] = fleet
