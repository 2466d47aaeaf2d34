"""Going on with a crawl: what may be different this time, and what follows from it.

- The same seeds and scope: the crawl goes on where it stopped.
- Other seeds: the new ones join; those that are missing now stay as they are.
- Another scope, depth limit or trap setting: what is still queued is judged again, and so is
  what was skipped; pages that were fetched stay.
- Nothing is left to do: what was skipped because its robots.txt could not be had is tried
  again, and if nothing at all could be fetched, what failed too. Otherwise pages are visited again
  (``frontier/rounds.py``), and with them what a robots.txt has denied.

Notes kept in the crawl directory: ``scope``, ``seeds``, ``widened`` (hosts that seeds
redirected to).
Stats: ``frontier/resumed_pages``, ``frontier/seeds_joined``, ``frontier/scope_left``,
``frontier/scope_entered``.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from crawlproject.frontier.base import (
    LASTING,
    NOFOLLOW,
    ROBOTS,
    ROBOTS_UNREACHABLE,
    Candidate,
)
from crawlproject.frontier.clock import now, run_began
from crawlproject.frontier.notes import FED, SEEDS, WIDENED
from crawlproject.frontier.rounds import visit_again
from crawlproject.scope.traps import GROWING_PATH

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from crawlproject.frontier.base import Frontier
    from crawlproject.scope.scope import Scope

logger = logging.getLogger(__name__)

_SCOPE = "scope"
_SETTINGS = (
    "SCOPE_MODE",
    "SCOPE_ALLOW",
    "SCOPE_INCLUDE",
    "SCOPE_EXCLUDE",
    "SCOPE_RULES",
    "SCOPE_SEEDS_ONLY",
    "SCOPE_MAX_REPEATED_SEGMENTS",
    "SCOPE_MAX_QUERY_PARAMS",
    "SCOPE_MAX_PAGES_PER_HOST",
    "SCOPE_MAX_PAGES_PER_PREFIX",
    "DEPTH_LIMIT",
    "URLLENGTH_LIMIT",
    "URLS_RESPECT_NOFOLLOW",
    "ROBOTSTXT_OBEY",
)


def scope_text(settings: BaseSettings, seeds: list[str]) -> str:
    """Everything that decides what is in scope, to be compared."""
    values = {name: settings[name] for name in _SETTINGS}
    return json.dumps({**values, "SEEDS": sorted(seeds)}, default=str, sort_keys=True)


def has_begun(frontier: Frontier) -> bool:
    """Whether it is in the middle of a crawl."""
    with frontier.at_once():
        return frontier.recall(_SCOPE) is not None


def begin(
    frontier: Frontier,
    scope: Scope,
    seeds: list[str],
    settings: BaseSettings,
    stats: StatsCollector,
) -> None:
    """Admit the seeds, to a frontier that may be in the middle of a crawl."""
    with frontier.at_once():
        text = scope_text(settings, seeds)
        _begin(frontier, scope, seeds, text, settings["RECRAWL_MODE"], stats)


def _begin(
    frontier: Frontier,
    scope: Scope,
    seeds: list[str],
    text: str,
    mode: str,
    stats: StatsCollector,
) -> None:
    since, counts = run_began(), frontier.counts()
    # Others may work at it: what is complete only later is no crawl of before.
    was_complete = frontier.exhausted()
    earlier = frontier.recall(_SCOPE)
    frontier.follow(FED, scope.add_seed)
    frontier.follow(WIDENED, scope.widen)
    if earlier is not None:
        pages = frontier.count_pages()
        stats.set_value("frontier/resumed_pages", pages)
        logger.info("Going on: %d pages so far, %d URLs are queued", pages, counts.open)
        if earlier != text and not frontier.is_alone():
            differ = ", ".join(_differences(earlier, text))
            frontier.fail(
                f"other workers are at it with other seeds or another scope ({differ}): start this "
                "one with the same arguments, or name a crawl of its own by FRONTIER_CRAWL_ID"
            )
            return
        if earlier != text:
            _rejudge(frontier, scope, _lasting(text), stats)
    frontier.remember(_SCOPE, text)
    frontier.join(SEEDS, seeds)
    # All at once: where a seed stands in breadth-first order must not depend on how far the
    # crawl of the one before has got.
    admitted = frontier.admit(Candidate(seed) for seed in seeds)
    if earlier is not None and admitted:
        stats.set_value("frontier/seeds_joined", admitted)
        logger.info("%d new seeds join", admitted)
    is_over = was_complete and frontier.exhausted()
    called = 0
    if earlier is not None and counts.done:
        called = visit_again(frontier, mode, now(), since, stats)
    if earlier is not None and is_over and not called and frontier.is_alone():
        retried = frontier.retry(failed=not counts.done)
        logger.info("%d URLs that could not be had before are tried again", retried)
        if retried:
            stats.set_value("frontier/resumed_pages", frontier.count_pages())
    frontier.commit()


def _lasting(text: str) -> list[str]:
    """The reasons that still hold: unless the user does not want to hear of them any more."""
    wishes = json.loads(text)
    lifted = set() if wishes["URLS_RESPECT_NOFOLLOW"] else {NOFOLLOW}
    if not int(wishes["SCOPE_MAX_REPEATED_SEGMENTS"]):
        lifted.add(GROWING_PATH)
    if not wishes["ROBOTSTXT_OBEY"]:
        lifted |= {ROBOTS, ROBOTS_UNREACHABLE}
    return [reason for reason in LASTING if reason not in lifted]


def keep_widened(frontier: Frontier, host: str) -> None:
    """A seed has led to another host, which is in scope from now on."""
    frontier.join(WIDENED, [host])


def _differences(earlier: str, now: str) -> list[str]:
    """Which settings differ."""
    before, after = json.loads(earlier), json.loads(now)
    return sorted(name for name in after if before.get(name) != after[name])


def _rejudge(frontier: Frontier, scope: Scope, lasting: list[str], stats: StatsCollector) -> None:
    left, entered = frontier.rejudge(scope.reason, lasting)
    stats.set_value("frontier/scope_left", left)
    stats.set_value("frontier/scope_entered", entered)
    logger.info(
        "Seeds or scope have changed: %d queued URLs are out now, %d skipped ones are in",
        left,
        entered,
    )
