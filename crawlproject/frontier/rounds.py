"""Rounds: the times that the pages of a finished crawl are visited again.

A round begins when a crawl that is complete is started again, and something is to be visited. It
goes on after a kill or Ctrl-C, and is over when nothing is left of it, or when a limit that was
set has ended it (``timeout=``, ``CLOSESPIDER_…``): then the next one chooses anew what deserves
a visit.

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


def round_in(note: str | None) -> Round:
    """The last round, by its note; what is none of ours is passed over."""
    with suppress(ValueError, TypeError, KeyError):
        values = json.loads(note or "{}")
        number, began_at = int(values["number"]), float(values["began_at"])
        return Round(number, began_at, str(values["mode"]), bool(values["is_open"]))
    return Round()


def visit_again(frontier: Frontier, mode: str, now: float, stats: StatsCollector) -> int:
    """Begin a round of a crawl that is complete, or go on with one: how many URLs are queued."""
    last = round_in(frontier.recall(ROUND))
    if mode == NEVER:
        frontier.end_visits()
        _keep(frontier, last._replace(is_open=False))
        return 0
    goes_on = last.is_open and last.mode == mode
    began_at = last.began_at if goes_on else now
    called = frontier.revisit(now, before=began_at if mode == ALL else None)
    stats.set_value("recrawl/called", called)
    if called:
        number = last.number if goes_on else last.number + 1
        _keep(frontier, Round(number, began_at, mode, is_open=True))
        logger.info("%d URLs are visited again", called)
    return called


def end_round(frontier: Frontier, reason: str, now: float) -> None:
    """The crawl has ended: so has the round, unless somebody has ended it in the middle."""
    is_complete, is_alone = frontier.exhausted(), frontier.is_alone()
    if is_complete or is_alone:
        frontier.settle(now)
    is_over = is_complete or (reason.startswith(_LIMIT) and is_alone)
    last = round_in(frontier.recall(ROUND))
    if last.is_open and is_over:
        frontier.end_visits()
        _keep(frontier, last._replace(is_open=False))


def _keep(frontier: Frontier, last: Round) -> None:
    if last.number > 1:
        frontier.remember(ROUND, json.dumps(last._asdict()))
