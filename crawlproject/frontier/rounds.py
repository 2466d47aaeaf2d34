"""Rounds: the times that the pages of a finished crawl are visited again.

A round begins when a crawl that was complete once is started again, and something is to be
visited; new URLs that are left have their share of the requests. Of workers that are started
together, the first begins it. It goes on after a kill or Ctrl-C, and is over when nothing is left
of it, or when a limit that was set has ended it (``timeout=``, ``CLOSESPIDER_…``): then the next
one chooses anew what deserves a visit.

Note kept: ``round``. Stats: ``recrawl/called``.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.frontier.notes import ROUND

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawlproject.frontier.base import Frontier

logger = logging.getLogger(__name__)

# What is visited: what is due, all, nothing.
DUE, ALL, NEVER = "due", "all", "never"
MODES = (DUE, ALL, NEVER)
_LIMIT = "closespider_"


class Round(NamedTuple):
    # The first crawl is 1.
    number: int = 1
    # Seconds of the epoch.
    began_at: float = 0.0
    mode: str = DUE
    is_open: bool = False
    # When it was over; 0: it never was.
    ended_at: float = 0.0

    def may_be_followed(self, since: float, *, is_complete: bool) -> bool:
        """By another round, in a run that began at a time: unless one has ended in this run."""
        return (is_complete or self.ended_at > 0) and self.ended_at <= since

    def text(self) -> str:
        return json.dumps(self._asdict())


def round_in(note: str | None) -> Round:
    """The last round, by its note; what is none of ours is passed over."""
    with suppress(ValueError, TypeError, KeyError):
        values = json.loads(note or "{}")
        number, began_at = int(values["number"]), float(values["began_at"])
        ended_at = float(values.get("ended_at", 0.0))
        return Round(number, began_at, str(values["mode"]), bool(values["is_open"]), ended_at)
    return Round()


def visit_again(
    frontier: Frontier, mode: str, now: float, since: float, stats: StatsCollector
) -> int:
    """Begin a round of a crawl that was complete once, or go on with one: how many URLs are queued,
    as far as it is known here: another worker may be the first. ``since`` is when the run began.
    """
    if mode == NEVER:
        last = round_in(frontier.recall(ROUND))
        if last.is_open and frontier.is_alone():
            frontier.end_visits()
            frontier.remember(ROUND, last._replace(is_open=False, ended_at=now).text())
        return 0
    called = frontier.begin_round(mode, now, since)
    if called or frontier.exhausted():
        stats.set_value("recrawl/called", called)
    if called:
        logger.info("%d URLs are visited again", called)
    return called


def end_round(frontier: Frontier, reason: str, now: float) -> None:
    """The crawl has ended: so has the round, unless somebody has ended it in the middle."""
    is_complete, is_alone = frontier.exhausted(), frontier.is_alone()
    if is_complete or is_alone:
        frontier.settle(now)
    last = round_in(frontier.recall(ROUND))
    is_first = last.number == 1 and is_complete and not last.ended_at
    if is_first or (last.is_open and (is_complete or (reason.startswith(_LIMIT) and is_alone))):
        frontier.end_visits()
        frontier.remember(ROUND, last._replace(is_open=False, ended_at=now).text())
