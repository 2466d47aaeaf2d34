"""All known URLs and their state. The contract is in ``base.py``.

Where things are, from Scrapy inwards:

- Scrapy: ``scheduler``, ``leases``, ``requests``, ``deadline``, ``opening``; what it keeps to
  itself, in ``engine``; settings it can't work with, in
  ``configuration``; when an idle crawl ends, in ``idle_timeout``; a run that fetches nothing, in
  ``idle``; how long a page may be read, in ``time_cap``, by the clocks of ``ticking``
- the engines: ``sqlite``, and ``redis/`` for many workers, over ``turns`` and ``hosts`` (when a
  host may be asked); ``guard``, ``clock``
- what decides about URLs, the same for both, each a layer on the one before: ``graph`` (the
  shortest way to each), ``queues`` with ``levels`` and ``budget``, ``visits`` with ``comparing``,
  ``commits`` with ``answers`` and ``redirects``, ``judging``, ``revisits``, ``settled`` with
  ``settling`` and ``edges``. It knows ``entry`` and ``census``, and neither Scrapy nor where
  anything is kept
- what is kept: ``entries`` and ``logbook`` are what the layers ask; in ``crawl.db`` they are
  ``store``, ``rows``, ``seen``, ``harvest``, ``restore``, ``database``
- ``rounds`` begins and ends the visits of a finished crawl; ``notes`` names what it remembers
- reading, for outputs and commands: ``reading``, ``overview``, ``questions``, ``near``,
  ``looking``, ``source``
"""

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
            "this crawl has no frontier: it has another scheduler. In a project of your own, add "
            'ADDONS = {"crawlproject.Addon": 100}'
        ) from None


def use_frontier(crawler: Crawler, frontier: Frontier) -> None:
    _frontiers[crawler] = frontier
