"""Checks of the settings and components without which the scheduler cannot work.

The scheduler is one part of several: leases need two middlewares, the gate needs its settings.
``crawlproject.Addon`` (other projects) or ``crawlproject.settings`` (this one) bring them all.
Where they are incomplete the crawl is refused with one line, before any request is sent.

Settings read: ``SCHEDULER``, ``DUPEFILTER_CLASS``, ``DOWNLOADER``, ``DOWNLOADER_MIDDLEWARES``,
``SPIDER_MIDDLEWARES``, ``FRONTIER_GATEKEEPER``, ``TWISTED_REACTOR``, and those of scrapy-redis.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.settings.default_settings import REQUEST_FINGERPRINTER_CLASS
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from crawlproject import settings as ours
from crawlproject.errors import BadArgument
from crawlproject.frontier.engine import fail
from crawlproject.frontier.idle import NothingToFetch
from crawlproject.frontier.leases import LeaseGuard, LeaseMiddleware
from crawlproject.frontier.redis.compatibility import check_scrapy_redis

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.errors import BadInput

logger = logging.getLogger(__name__)

ADDON_LINE = 'ADDONS = {"crawlproject.Addon": 100}'

# Both write down themselves what they have seen. A URL written before a kill that is not in the
# frontier would count as known ever after.
_REPLACED_DUPEFILTERS = frozenset(
    {"scrapy.dupefilters.RFPDupeFilter", "scrapy_redis.dupefilter.RFPDupeFilter"}
)

_REMOVED_SETTINGS = {
    "POLITENESS_ROBOTS_ATTEMPTS": "there is no such setting any more: "
    "POLITENESS_ROBOTS_UNREACHABLE_SECONDS says how long to wait for a robots.txt, and RETRY_TIMES "
    "how often to try a host that never answers",
}

_NEEDED: tuple[tuple[str, type], ...] = (
    ("DOWNLOADER_MIDDLEWARES", LeaseGuard),
    ("SPIDER_MIDDLEWARES", LeaseMiddleware),
)


class Refusal(NothingToFetch):
    """Replaces a scheduler that cannot work: logs one line and ends the crawl, exit code 1.

    Scrapy would log two tracebacks for an exception raised while a scheduler is built.
    """

    def __init__(self, crawler: Crawler, error: BadInput) -> None:
        self._error = error
        crawler.signals.connect(self._end, signals.spider_opened)
        fail(crawler)

    def _end(self) -> None:
        logger.error("%s", self._error)
        raise CloseSpider("bad setting")


def refusing_scheduler(error: BadInput) -> type[Refusal]:
    """A class for the setting SCHEDULER, for errors found before there is a scheduler."""

    class RefusingScheduler(Refusal):
        @classmethod
        def from_crawler(cls, crawler: Crawler) -> RefusingScheduler:
            return cls(crawler, error)

    return RefusingScheduler


def refuse(crawler: Crawler, error: BadInput) -> None:
    """Have a crawl that is about to begin end with one line. No output is opened."""
    settings = crawler.settings
    settings.set("SCHEDULER", refusing_scheduler(error), priority="cmdline")
    settings.set("FEEDS", {}, priority="cmdline")


def check_configuration(crawler: Crawler) -> None:
    """Raise BadArgument for settings and components that the scheduler cannot work with."""
    settings = crawler.settings
    if not is_asyncio_available():
        raise BadArgument(
            "TWISTED_REACTOR",
            f"{settings['TWISTED_REACTOR']!r} is not asyncio's, which the frontier needs: leave it "
            f"at {ours.TWISTED_REACTOR!r}, Scrapy's default",
        )
    if settings.get("FRONTIER_GATEKEEPER") is None:
        raise BadArgument(
            "SCHEDULER",
            f"{ours.SCHEDULER} does not work alone: it needs the settings and middlewares of its "
            f"add-on. Replace the line by {ADDON_LINE}",
        )
    check_wiring(settings)
    check_not_removed(settings)
    check_dupefilter(settings)
    check_scrapy_redis(settings)
    check_subclass(settings, "DOWNLOADER")


def check_subclass(settings: BaseSettings, *names: str) -> None:
    """Raise BadArgument for a class in the settings that is no subclass of our default there."""
    for name in names:
        wanted = getattr(ours, name)
        # Not issubclass(): Scrapy's base class of schedulers says yes to all of them.
        if load_object(wanted) not in getattr(load_object(settings[name]), "__mro__", ()):
            raise BadArgument(
                name,
                f"{_path_of(settings[name])!r} is no subclass of {wanted}, on which delays and "
                "robots.txt depend: leave it out",
            )


def refuse_other_schedulers(settings: BaseSettings) -> None:
    """Replace a scheduler that is not derived from ours by one that says so and fetches nothing."""
    if NothingToFetch in getattr(load_object(settings["SCHEDULER"]), "__mro__", ()):
        return
    try:
        check_subclass(settings, "SCHEDULER")
    except BadArgument as error:
        priority = settings.getpriority("SCHEDULER") or 0
        settings.set("SCHEDULER", refusing_scheduler(error), priority)


def check_wiring(settings: BaseSettings) -> None:
    """Raise BadArgument where a component is missing that ends leases and keeps delays."""
    for name, component in _NEEDED:
        wired = settings.get_component_priority_dict_with_base(name)
        if component not in map(load_object, wired):
            path = global_object_name(component)
            raise BadArgument(
                name,
                f"{path} is {'None' if _is_off(settings, name, component) else 'missing'}, and "
                f"without it no delay would be kept: remove the None, and keep "
                f"crawlproject.wiring.Wiring in ADDONS (in a project of your own: {ADDON_LINE})",
            )


def check_not_removed(settings: BaseSettings) -> None:
    """Raise BadArgument for settings of earlier versions."""
    for name, problem in _REMOVED_SETTINGS.items():
        if settings.get(name) is not None:
            raise BadArgument(name, problem)


def check_dupefilter(settings: BaseSettings) -> None:
    """Raise BadArgument for a filter that filters nothing: the frontier would do so all the same.

    Without duplicates the links of a site lead round in circles, and a resumed crawl can't tell
    what it has fetched.
    """
    named, request_seen = settings["DUPEFILTER_CLASS"], None
    # What can't be loaded is reported elsewhere.
    with suppress(ImportError, NameError, TypeError, ValueError):
        request_seen = getattr(load_object(named), "request_seen", None)
    if request_seen is BaseDupeFilter.request_seen:
        raise BadArgument(
            "DUPEFILTER_CLASS",
            f"{_path_of(named)} can't switch the filter off, as the frontier fetches each URL "
            "once: remove the setting, and give dont_filter=True to requests that are to be made "
            "again",
        )


def dupefilter_class(settings: BaseSettings) -> str | type:
    """The project's own class. Scrapy's and scrapy-redis' give way to ours."""
    named: str | type = settings["DUPEFILTER_CLASS"]
    return ours.DUPEFILTER_CLASS if _path_of(named) in _REPLACED_DUPEFILTERS else named


def has_own_filter(settings: BaseSettings) -> bool:
    """Whether a class of the project's own decides which requests are duplicates."""
    fingerprinters = (ours.REQUEST_FINGERPRINTER_CLASS, REQUEST_FINGERPRINTER_CLASS)
    return (
        _path_of(dupefilter_class(settings)) != ours.DUPEFILTER_CLASS
        or _path_of(settings["REQUEST_FINGERPRINTER_CLASS"]) not in fingerprinters
    )


def _path_of(named: str | type) -> str:
    return named if isinstance(named, str) else global_object_name(named)


def _is_off(settings: BaseSettings, name: str, component: type) -> bool:
    named: dict[str | type, int | None] = settings[name] or {}
    return any(
        key in named and named[key] is None for key in (component, global_object_name(component))
    )
