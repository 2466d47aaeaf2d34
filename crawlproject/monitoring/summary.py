"""What came out of a crawl, on standard error, when everything else is done.

Printed on ``engine_stopped``, when the feeds are closed and the live line is gone.

Stats: ``scope/skipped/<reason>``, ``frontier/queued``, ``frontier/done``,
``frontier/failed``, ``item_error_count``, ``politeness/limited_by``,
``politeness/limited_by_host``, also when nothing is printed.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy import signals
from scrapy.extensions.feedexport import FeedExporter

from crawlproject.frontier import frontier_of
from crawlproject.frontier.clock import now
from crawlproject.frontier.overview import next_visit, round_since
from crawlproject.monitoring.counting import tally_of
from crawlproject.monitoring.ending import Earlier, Ending, plural
from crawlproject.monitoring.feeds import Feeds
from crawlproject.monitoring.limits import limits_from
from crawlproject.monitoring.speed_limit import Run, speed_limit
from crawlproject.monitoring.streams import is_terminal, tell
from crawlproject.monitoring.tables import draw
from crawlproject.monitoring.tally import Tally
from crawlproject.records import PAGE, page_from
from crawlproject.render.install import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from crawlproject.frontier.base import Frontier
    from crawlproject.monitoring.ending import Limits
    from crawlproject.monitoring.speed_limit import SpeedLimit
    from crawlproject.monitoring.tally import Broken

PLAIN_WIDTH = 100
# Stats of URLs that were not kept.
_LEFT_OUT = ("links/left_out/too_long", "links/left_out/page_limit", "sitemaps/urls_left_out")


class Summary:
    # Whether the pages are other processes', too, so that they are counted at the end.
    is_shared = False

    def __init__(self, crawler: Crawler, limits: Limits) -> None:
        self._crawler = crawler
        self._limits = limits
        self._reason: str | None = None
        self._subject: list[str] = []
        self._feeds = Feeds()
        # When the crawl began, and the process's CPU seconds by then.
        self._began = (now(), time.process_time())
        self._speed_limit: SpeedLimit | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Summary:
        # Never NotConfigured: the stats are counted, whether somebody reads a summary or not.
        summary = cls(crawler, limits_from(crawler.settings))
        connect = crawler.signals.connect
        connect(summary.engine_started, signals.engine_started)
        connect(summary.spider_closed, signals.spider_closed)
        connect(summary.item_error, signals.item_error)
        if is_wanted(crawler.settings):
            connect(summary.spider_opened, signals.spider_opened)
            connect(summary.feed_slot_closed, signals.feed_slot_closed)
            connect(summary.engine_stopped, signals.engine_stopped)
        return summary

    def engine_started(self) -> None:
        self._began = (now(), time.process_time())

    def spider_opened(self) -> None:
        """Say so if the crawl goes on: a user may have expected a new one."""
        frontier = self._frontier()
        if frontier is None:
            return
        counts = frontier.counts()
        pages = frontier.read().count_pages()
        if self._crawler.settings["JOBDIR"] and (pages or counts.open):
            tell(
                f"Going on with the crawl in {self._crawler.settings['JOBDIR']}: "
                f"{plural(pages, 'page')} so far, {plural(counts.open, 'URL')} queued."
            )

    def item_error(self) -> None:
        self._crawler.stats.inc_value("item_error_count")

    def feed_slot_closed(self, slot: FeedSlot) -> None:
        self._feeds.add(slot)

    def spider_closed(self, spider: Spider, reason: str) -> None:
        self._reason = reason
        self._subject = _subject(spider)
        frontier = self._frontier()
        if frontier is None:
            return
        stats = self._crawler.stats
        counts = frontier.counts()
        stats.set_value("frontier/queued", counts.open)
        stats.set_value("frontier/done", counts.done)
        stats.set_value("frontier/failed", counts.failed)
        for skipped, count in counts.skipped.items():
            stats.set_value(f"scope/skipped/{skipped.replace(' ', '_')}", count)
        self._speed_limit = found = self._find_speed_limit(frontier)
        if found is not None:
            stats.set_value("politeness/limited_by", found.name)
            if found.host is not None:
                stats.set_value("politeness/limited_by_host", found.host)

    def _find_speed_limit(self, frontier: Frontier) -> SpeedLimit | None:
        began_at, cpu_seconds = self._began
        bottleneck = frontier.bottleneck()
        run = Run(
            seconds=now() - began_at,
            cpu_seconds=time.process_time() - cpu_seconds,
            most_in_flight=0 if bottleneck is None else bottleneck.most_in_flight,
        )
        return speed_limit(bottleneck, run, self._crawler.settings)

    def engine_stopped(self) -> None:
        if self._reason is None or sys.stderr is None:
            return
        if not tally_of(self._crawler).pages and not hasattr(self._crawler.spider, "seeds"):
            # Not a crawl of ours: scrapy fetch, or somebody's own spider.
            return
        watched = is_terminal(sys.stderr)
        console = Console(file=sys.stderr, width=None if watched else PLAIN_WIDTH, highlight=False)
        text = draw(self.ending(is_watched=watched), console)
        # Drawn first, written here: rich ends the process when the reader of a pipe is gone.
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def _is_unrendered(self) -> bool:
        return bool(self._crawler.settings.get("RENDER_MODE", NEVER) == NEVER)

    def ending(self, *, is_watched: bool) -> Ending:
        stats, tally = self._crawler.stats, tally_of(self._crawler)
        ending = Ending(
            subject=self._subject,
            reason=self._reason or "",
            is_watched=is_watched,
            seconds=stats.get_value("elapsed_time_seconds"),
            tally=tally,
            files=self._feeds.files(self._crawler.get_extension(FeedExporter), stats.get_stats()),
            limits=self._limits,
            directory=self._crawler.settings["JOBDIR"] or None,
            dropped=stats.get_value("item_dropped_count", 0),
            exact=stats.get_value("duplicates/exact", 0),
            near=stats.get_value("duplicates/near", 0),
            scripted=stats.get_value("pages/scripted", 0) if self._is_unrendered() else 0,
            left_out=sum(stats.get_value(key, 0) for key in _LEFT_OUT),
            exceptions=stats.get_value("spider_exceptions/count", 0),
            lost=stats.get_value("item_error_count", 0),
            speed_limit=None if self._speed_limit is None else self._speed_limit.sentence,
        )
        if (frontier := self._frontier()) is not None:
            ending.subject = frontier.read().seeds() or ending.subject
            ending.earlier = earlier_from(stats)
            # What could not be kept, as on a full disk, is not there for the next run.
            is_less = frontier.failure is not None and ending.directory is not None
            if ending.earlier is not None or is_less or self.is_shared:
                ending.tally = tally_of_all(frontier)
            self._tell_of_visits(ending, frontier)
            ending.counts = frontier.counts()
            ending.depths = frontier.depths()
        ending.broken = _referred(ending.tally.first_broken, frontier)
        ending.blocked = _referred(ending.tally.first_blocked, frontier)
        return ending

    def _tell_of_visits(self, ending: Ending, frontier: Frontier) -> None:
        stats = self._crawler.stats
        database = frontier.read().database
        ending.ended_at = now()
        ending.round = round_since(database, ending.ended_at - (ending.seconds or 0))
        if ending.round is None and stats.get_value("recrawl/called") == 0:
            ending.next_visit_at = next_visit(database)

    def _frontier(self) -> Frontier | None:
        try:
            return frontier_of(self._crawler)
        except LookupError:
            return None


def is_wanted(settings: BaseSettings) -> bool:
    return settings.getbool("MONITORING_SUMMARY") and settings.getbool("LOG_ENABLED")


def earlier_from(stats: StatsCollector) -> Earlier | None:
    """What the crawl went on with; None: it began anew."""
    pages = stats.get_value("frontier/resumed_pages")
    if pages is None:
        return None
    return Earlier(
        pages=pages,
        seeds_joined=stats.get_value("frontier/seeds_joined", 0),
        scope_left=stats.get_value("frontier/scope_left", 0),
        scope_entered=stats.get_value("frontier/scope_entered", 0),
    )


def tally_of_all(frontier: Frontier) -> Tally:
    """The pages of all runs."""
    tally = Tally()
    for kind, record in frontier.read().pages(with_links=False):
        if kind == PAGE:
            tally.add(page_from(record))
    return tally


def _referred(pages: Iterable[Broken], frontier: Frontier | None) -> list[Broken]:
    """With the final referrers, as far as somebody knows them."""
    referred = []
    for page in pages:
        facts = None if frontier is None else frontier.facts(page.url)
        referred.append(page if facts is None else page._replace(referrer=facts.referrer))
    return referred


def _subject(spider: Spider) -> list[str]:
    """What a spider crawls. Only ours has seeds."""
    seeds = getattr(spider, "seeds", None) or getattr(spider, "start_urls", None)
    return [str(seed) for seed in seeds] if seeds else [spider.name]
