"""The add-on for other Scrapy projects: our frontier, politeness, limits and pipelines.

``ADDONS = {"crawlproject.Addon": 100}`` in a project's settings gives them to its spiders. What
the project sets itself wins, and its components are merged with ours: to switch one of ours off,
name it, with None.

The add-on sets all settings of our own, and of Scrapy's those in ``GIVEN_SETTINGS``. It switches
off the components of Scrapy in ``REPLACED_COMPONENTS``. All else is as Scrapy has it: cookies,
redirects by middleware, Referer, ``allowed_domains``, ``HTTPERROR_*``, logs, and feeds in Scrapy's
formats.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from crawlproject import fastpath
from crawlproject import settings as ours
from crawlproject.errors import BadArgument
from crawlproject.fetching.cookies import use_bundled_suffixes
from crawlproject.frontier.configuration import refuse, refuse_other_schedulers
from crawlproject.frontier.limits import complete_limits
from crawlproject.frontier.redis.address import is_shared
from crawlproject.frontier.redis.compatibility import SCHEDULER as SCRAPY_REDIS
from crawlproject.redaction import protect
from crawlproject.spiders.arguments import check_ours
from crawlproject.spiders.refused import warn_of_ignored, warn_of_sites
from crawlproject.sync_output import complete_middlewares

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")

# Settings of Scrapy that get our default.
GIVEN_SETTINGS = frozenset(
    {
        *("SCHEDULER", "DUPEFILTER_CLASS", "REQUEST_FINGERPRINTER_CLASS", "DOWNLOADER"),
        *("ROBOTSTXT_OBEY", "ROBOTSTXT_PARSER", "DOWNLOAD_DELAY", "DOWNLOAD_DELAY_JITTER"),
        *("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN"),
        *("AUTOTHROTTLE_ENABLED", "AUTOTHROTTLE_START_DELAY", "AUTOTHROTTLE_MAX_DELAY"),
        *("AUTOTHROTTLE_TARGET_CONCURRENCY", "RETRY_TIMES", "RETRY_EXCEPTIONS"),
        *("REDIRECT_MAX_TIMES", "URLLENGTH_LIMIT", "DOWNLOAD_MAXSIZE"),
        *("DOWNLOAD_VERIFY_CERTIFICATES", "DNS_TIMEOUT", "DNSCACHE_ENABLED", "DNSCACHE_SIZE"),
        *("TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED"),
    }
)

# Components of Scrapy that are switched off: one of ours does their work.
REPLACED_COMPONENTS = frozenset(
    {
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware",
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
        "scrapy.downloadermiddlewares.stats.DownloaderStats",
        "scrapy.spidermiddlewares.depth.DepthMiddleware",
        "scrapy.extensions.feedexport.FeedExporter",
        "scrapy.extensions.throttle.AutoThrottle",
    }
)

_PAGE_FEEDS = "crawlproject.exports.feeds.Feeds"
_ITEM_FEEDS = "crawlproject.exports.item_feeds.ItemFeeds"
# Components of ours that are for our own command and spider.
_OWN_COMPONENTS = frozenset(
    {
        "crawlproject.fetching.media_redirects.MediaRedirects",
        "crawlproject.fetching.origin_auth.OriginAuth",
        "crawlproject.fetching.origin_headers.OriginHeaders",
        "crawlproject.monitoring.counting.Counting",
        "crawlproject.monitoring.progress.Progress",
        "crawlproject.monitoring.summary.Summary",
        "crawlproject.spiders.state.SpiderState",
        _PAGE_FEEDS,
    }
)

# Schedulers that a project names without meaning anything that ours does not do.
_REPLACED_SCHEDULERS = frozenset({default_settings.SCHEDULER, SCRAPY_REDIS})


class Addon:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Addon:
        protect(crawler.settings)
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        try:
            check_ours(settings)
        except BadArgument as error:
            refuse(self._crawler, error)
            return
        if not hasattr(self._crawler.spidercls, "check_arguments"):
            warn_of_sites(settings, is_ours=False)
        for name, value in vars(ours).items():
            if name.isupper() and (name in GIVEN_SETTINGS or not hasattr(default_settings, name)):
                settings.set(name, value, priority="addon")
        # Its items are not pages of ours, but may have a text.
        settings.set("DUPLICATES_ITEM_TEXT", "text", priority="addon")
        for name in _COMPONENTS:
            for path, order in getattr(ours, name).items():
                if path not in _OWN_COMPONENTS and (
                    order is not None or path in REPLACED_COMPONENTS
                ):
                    _set_default(settings, name, path, order)
        _set_default(settings, "EXTENSIONS", _ITEM_FEEDS, ours.EXTENSIONS[_PAGE_FEEDS])
        _use_our_handlers(settings)
        warn_of_ignored(settings)
        complete_limits(settings, "addon")
        _use_our_scheduler(settings)
        complete_middlewares(settings)
        if settings.getbool("COOKIES_ENABLED"):
            use_bundled_suffixes()
        fastpath.install(self._crawler)


def _use_our_handlers(settings: BaseSettings) -> None:
    """Set our handlers for HTTP and HTTPS, unless the project names its own.

    In DOWNLOAD_HANDLERS: for a crawl without a Twisted reactor, Scrapy changes
    DOWNLOAD_HANDLERS_BASE after the add-ons.
    """
    for scheme in ("http", "https"):
        is_named = settings["DOWNLOAD_HANDLERS_BASE"].getpriority(scheme)
        if scheme not in settings["DOWNLOAD_HANDLERS"] and not is_named:
            settings["DOWNLOAD_HANDLERS"][scheme] = ours.DOWNLOAD_HANDLERS[scheme]


def _use_our_scheduler(settings: BaseSettings) -> None:
    """Take the place of the scheduler that the project names, if any."""
    named, priority = settings["SCHEDULER"], settings.getpriority("SCHEDULER") or 0
    path = named if isinstance(named, str) else global_object_name(named)
    if path in _REPLACED_SCHEDULERS:
        settings.set("SCHEDULER", ours.SCHEDULER, priority)
        logger.info("%s takes the place of %s", ours.SCHEDULER, path)
        if path == SCRAPY_REDIS and not is_shared(settings):
            # Where scrapy-redis looks for a Redis if nobody says where it is.
            settings.set("REDIS_HOST", "localhost", priority="addon")
    else:
        refuse_other_schedulers(settings)


def _set_default(settings: BaseSettings, name: str, path: str, order: int | None) -> None:
    settings.setdefault_in_component_priority_dict(name, load_object(path), order)
