"""The crawler's inner works for spiders of another Scrapy project.

``ADDONS = {"crawlproject.Addon": 100}`` in its settings gives its spiders our frontier,
politeness, dupe filter, limits and pipelines. What a project expects of Scrapy stays as it
is: cookies, redirects by middleware, Referer, ``allowed_domains``, ``HTTPERROR_*``, its logs,
its spiders, and feeds in Scrapy's own formats. Whatever the project sets itself wins, and its
components are merged with ours: to switch one of ours off, name it, with None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from crawlproject import settings as ours
from crawlproject.dispatch import Signals
from crawlproject.redaction import protect

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")

# Settings that say what our own spider is, or how our own command looks and writes.
_LEFT_ALONE = frozenset(
    {
        *("BOT_NAME", "SPIDER_MODULES", "NEWSPIDER_MODULE", "COMMANDS_MODULE", "ADDONS"),
        *("USER_AGENT", "DEPTH_LIMIT", "DOWNLOAD_TIMEOUT", "DOWNLOAD_WARNSIZE"),
        *("COOKIES_ENABLED", "REDIRECT_ENABLED", "METAREFRESH_ENABLED", "REFERER_ENABLED"),
        *("HTTPERROR_ALLOW_ALL", "RETRY_GIVE_UP_LOG_LEVEL", "CONCURRENT_ITEMS"),
        *("FEED_EXPORT_ENCODING", "FEED_STORAGES", "FEED_EXPORTERS", "DOWNLOAD_HANDLERS"),
        *("LOG_LEVEL", "LOG_FORMATTER", "STATS_CLASS", "STATS_DUMP"),
        *("WARN_ON_GENERATOR_RETURN_VALUE", "ASYNCIO_EVENT_LOOP", "TWISTED_REACTOR"),
        *("JOBDIR", "CLOSESPIDER_TIMEOUT"),
        *_COMPONENTS,
    }
)

_OUR_FEEDS = "crawlproject.exports.feeds.Feeds"
_THEIR_FEEDS = "crawlproject.exports.item_feeds.ItemFeeds"

# Components of Scrapy that are off in our own project, but not in others …
_KEPT = frozenset(
    {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
        "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware",
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware",
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
        "scrapy.spidermiddlewares.referer.RefererMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
        "scrapy.extensions.corestats.CoreStats",
        "scrapy.extensions.spiderstate.SpiderState",
        # These two are off by their own settings.
        "scrapy.extensions.telnet.TelnetConsole",
        "scrapy.extensions.remote_control.RemoteControl",
    }
)
# … and ours that are for our own command.
_NOT_GIVEN = frozenset(
    {
        "crawlproject.monitoring.counting.Counting",
        "crawlproject.politeness.origin_auth.OriginAuth",
        "crawlproject.monitoring.progress.Progress",
        "crawlproject.monitoring.summary.Summary",
        _OUR_FEEDS,
    }
)


class Addon:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Addon:
        crawler.signals = Signals(crawler)
        protect(crawler.settings)
        return cls()

    def update_settings(self, settings: BaseSettings) -> None:
        for name, value in vars(ours).items():
            if name.isupper() and name not in _LEFT_ALONE:
                settings.set(name, value, priority="addon")
        # Its items are no pages of ours, but may have a text.
        settings.set("DUPLICATES_ITEM_TEXT", "text", priority="addon")
        for name in _COMPONENTS:
            for path, order in getattr(ours, name).items():
                if path not in _KEPT and path not in _NOT_GIVEN:
                    _set_default(settings, name, path, order)
        _set_default(settings, "EXTENSIONS", _THEIR_FEEDS, ours.EXTENSIONS[_OUR_FEEDS])
        handlers = {scheme: ours.DOWNLOAD_HANDLERS[scheme] for scheme in ("http", "https")}
        handlers |= settings.getdict("DOWNLOAD_HANDLERS")
        settings.set("DOWNLOAD_HANDLERS", handlers, settings.getpriority("DOWNLOAD_HANDLERS") or 0)


def _set_default(settings: BaseSettings, name: str, path: str, order: int | None) -> None:
    settings.setdefault_in_component_priority_dict(name, load_object(path), order)
