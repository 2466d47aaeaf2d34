"""What holds a crawl together stays in place, whatever a team adds.

Scrapy merges a setting such as DOWNLOADER_MIDDLEWARES with its own defaults only: who sets it
for a spider or on the command line replaces what the project has in it. Here that would be the
gate, the guard and the outputs. So this add-on puts back what was not mentioned. To switch one
of them off, name it, with None. It completes what the outputs of a crawl need, gives synchronous
spider middlewares their asynchronous form, installs the fast path (``fastpath/``), keeps secrets
out of the log, and refuses a scheduler that is not derived from ours.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.httperror import HttpErrorMiddleware
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.misc import load_object

from crawlproject import fastpath
from crawlproject import settings as ours
from crawlproject.exports.formats import complete_feeds
from crawlproject.frontier.configuration import refuse_other_schedulers
from crawlproject.frontier.limits import complete_limits
from crawlproject.redaction import protect
from crawlproject.spiders.refused import warn_of_ignored, warn_of_sites
from crawlproject.spiders.site import SiteSpider
from crawlproject.sync_output import complete_middlewares

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
# Scrapy's middlewares that act on requests and responses of a spider's own. A SiteSpider keeps to
# its scope and reads error pages itself; for callbacks of a subclass ours takes its place …
_NOT_FOR_SITES = {
    "DOWNLOADER_MIDDLEWARES": ("scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",),
    "SPIDER_MIDDLEWARES": ("scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",),
}
# … and as it is, without rules or callbacks of a subclass, it makes no requests: these would
# cost a call a page for nothing.
_FOR_REQUESTS = {
    "SPIDER_MIDDLEWARES": (
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
    ),
}
# In the place of Scrapy's.
_HTTP_ERRORS = "crawlproject.spiders.http_errors.SiteHttpErrors", 50
_MAKING_REQUESTS = ("rules", "start", "parse_start_url", "process_results", "parse_with_rules")
_BY_NAME = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES")


class Wiring:
    def __init__(self, crawler: Crawler | None = None) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Wiring:
        protect(crawler.settings)
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        for name in _COMPONENTS:
            for path, order in getattr(ours, name).items():
                component = load_object(path)
                settings.setdefault_in_component_priority_dict(name, component, order)
        for name in _BY_NAME:
            values = {**getattr(ours, name), **settings.getdict(name)}
            settings.set(name, values, settings.getpriority(name) or 0)
        warn_of_ignored(settings)
        if self._crawler is not None:
            _switch_off(settings, self._crawler.spidercls)
        _place_cache(settings)
        complete_middlewares(settings)
        if settings.getbool("COOKIES_ENABLED"):
            # Only then: it costs its time.
            import_module("crawlproject.fetching.cookies").use_bundled_suffixes()
        complete_feeds(settings)
        complete_limits(settings, "project")
        refuse_other_schedulers(settings)
        if self._crawler is not None:
            fastpath.install(self._crawler)


def _switch_off(settings: BaseSettings, spider: type[Spider]) -> None:
    """Switch off what has nothing to do for a spider."""
    if not issubclass(spider, SiteSpider):
        warn_of_sites(settings, is_ours=True)
        return
    makes_none = all(getattr(spider, n) is getattr(SiteSpider, n) for n in _MAKING_REQUESTS)
    if not makes_none:
        _replace_http_errors(settings)
    for components in (_NOT_FOR_SITES, _FOR_REQUESTS if makes_none else {}):
        for name, paths in components.items():
            for path in paths:
                settings.setdefault_in_component_priority_dict(name, load_object(path), None)


def _replace_http_errors(settings: BaseSettings) -> None:
    """Unless Scrapy's middleware is named: then it is used, or is off."""
    path, order = _HTTP_ERRORS
    named = map(load_object, settings.getdict("SPIDER_MIDDLEWARES"))
    if HttpErrorMiddleware not in named:
        ours_instead = load_object(path)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", ours_instead, order)


def _place_cache(settings: BaseSettings) -> None:
    """Outside a project's folder, Scrapy has no place for the HTTP cache and switches it off."""
    folder = Path(settings["HTTPCACHE_DIR"])
    if not folder.is_absolute() and not closest_scrapy_cfg():
        priority = settings.getpriority("HTTPCACHE_DIR") or 0
        settings.set("HTTPCACHE_DIR", str(Path(".scrapy", folder).absolute()), priority)
