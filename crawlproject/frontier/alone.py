"""A project that names our scheduler, and nothing else of ours.

With ``crawlproject.Addon`` everything is in its place before Scrapy builds its parts. The
scheduler comes after them: the settings are frozen, and the middlewares made. So it puts in
itself what it can't do without, before the first request:

- our defaults, for settings that nobody has set;
- the two components that every lease passes, at their place in the order;
- who obeys Retry-After, and AutoThrottle within the gate.

And it takes out Scrapy's ``RobotsTxtMiddleware``: the gatekeeper has asked already, at the
host's turn, and the middleware would ask for every robots.txt once more, at no turn at all.
What a project has switched off by name, with None, stays off; without the
two components there is no crawl.
"""

from __future__ import annotations

import logging
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.middleware import MiddlewareManager
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.python import global_object_name

from crawlproject import settings as ours
from crawlproject.errors import BadArgument, BadInput
from crawlproject.frontier.idle import NothingToFetch
from crawlproject.frontier.leases import LeaseGuard, LeaseMiddleware, check_not_off, is_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlproject.frontier.base import Gatekeeper

logger = logging.getLogger(__name__)

# By name: they are of a later room.
_LISTENERS = (
    "crawlproject.politeness.throttle.GateThrottle",
    "crawlproject.politeness.overload.Overload",
)
# They write down themselves what they have seen. What was written before a kill, and is not
# in the frontier, would be taken for known ever after.
_REPLACED = frozenset({"scrapy.dupefilters.RFPDupeFilter", "scrapy_redis.dupefilter.RFPDupeFilter"})


# Settings that there are no more, and what to use in their place.
_REMOVED = {
    "POLITENESS_ROBOTS_ATTEMPTS": "there is no such setting any more: "
    "POLITENESS_ROBOTS_UNREACHABLE_SECONDS says how long to wait for a robots.txt, and RETRY_TIMES "
    "how often to try a host that never answers",
}


class Refusal(NothingToFetch):
    """In place of a scheduler that can't work: one line, and the crawl ends before it begins.

    Scrapy would make two tracebacks of what is raised while a scheduler is made.
    """

    def __init__(self, crawler: Crawler, error: BadInput) -> None:
        self._error = error
        crawler.signals.connect(self._end, signals.spider_opened)

    def _end(self) -> None:
        logger.error("%s", self._error)
        raise CloseSpider("bad setting")


def complete(crawler: Crawler) -> None:
    """Give our defaults to settings that are missing. Raise BadArgument for what can't work."""
    settings = crawler.settings
    if not is_asyncio_available():
        raise BadArgument(
            "TWISTED_REACTOR",
            f"{settings['TWISTED_REACTOR']!r} is not asyncio's, which the frontier needs: leave it "
            f"at {ours.TWISTED_REACTOR!r}, Scrapy's default",
        )
    check_not_off(settings)
    check_not_removed(settings)
    downloader = crawler.engine.downloader
    if not isinstance(getattr(downloader, "middleware", None), MiddlewareManager):
        raise BadArgument(
            "DOWNLOADER",
            f"{global_object_name(type(downloader))} has no middlewares, and without ours no delay "
            "would be kept: derive it from scrapy.core.downloader.Downloader",
        )
    # Frozen means that somebody may have read them. Not these: nobody else knows their names.
    was_frozen, settings.frozen = settings.frozen, False
    for name, value in vars(ours).items():
        if name.isupper() and name not in settings:
            settings.set(name, value, priority="default")
    settings.frozen = was_frozen


def check_not_removed(settings: BaseSettings) -> None:
    for name, words in _REMOVED.items():
        if settings.get(name) is not None:
            raise BadArgument(name, words)


def dupefilter_class(settings: BaseSettings) -> str | type:
    """A project's own; in place of the usual ones ours, which leaves it to the frontier."""
    named: str | type = settings["DUPEFILTER_CLASS"]
    path = named if isinstance(named, str) else global_object_name(named)
    return ours.DUPEFILTER_CLASS if path in _REPLACED else named


def join(crawler: Crawler, gatekeeper: Gatekeeper) -> list[object]:
    """Put in what is missing and take out what would act twice.

    Who listens to signals from now on, and is to be held by somebody.
    """
    engine: Any = crawler.engine
    downloader, scraper = engine.downloader, engine.scraper
    chain = downloader.middleware.middlewares
    if not _has(chain, LeaseGuard):
        # Scrapy's own, if it is on, counts under the same name.
        guard = LeaseGuard(crawler, counts=not _has(chain, DownloaderStats))
        chain = _with(chain, guard, "DOWNLOADER_MIDDLEWARES", crawler.settings)
    if gatekeeper.asks_the_host:
        # One of a project's own, derived from it, is the project's business.
        chain = tuple(one for one in chain if type(one) is not RobotsTxtMiddleware)
    downloader.middleware = _rebuilt(downloader.middleware, chain)
    chain = scraper.spidermw.middlewares
    if not _has(chain, LeaseMiddleware):
        middleware = LeaseMiddleware.from_crawler(crawler)
        chain = _with(chain, middleware, "SPIDER_MIDDLEWARES", crawler.settings)
        logger.info("crawlproject.Addon is not used: the scheduler has put in what leases need")
    scraper.spidermw = _rebuilt(scraper.spidermw, chain)
    return list(_listeners(crawler))


def guard_feeding(crawler: Crawler, commit: Callable[[], None]) -> None:
    """See that what a spider of scrapy-redis reads can't end the crawl."""
    # A spider that is one has loaded it.
    if crawler.spider is not None and "scrapy_redis.spiders" in sys.modules:
        popping = import_module("crawlproject.frontier.redis.popping")
        try:
            popping.guard(crawler.spider, crawler, commit)
        except BadInput as error:
            logger.error("%s", error)


def _has(components: Iterable[object], kind: type) -> bool:
    return any(isinstance(one, kind) for one in components)


def _with(
    chain: tuple[object, ...], component: object, name: str, settings: BaseSettings
) -> tuple[object, ...]:
    """The components with one of ours among them, where its number in our settings puts it."""
    order = getattr(ours, name)[global_object_name(type(component))]
    wired = settings.get_component_priority_dict_with_base(name)
    earlier = {load_object(path) for path, number in wired.items() if number < order}
    place = sum(type(one) in earlier for one in chain)
    return (*chain[:place], component, *chain[place:])


def _rebuilt(manager: MiddlewareManager, chain: tuple[object, ...]) -> MiddlewareManager:
    """Scrapy notes the methods of each component when it makes a manager, and never again."""
    if chain == manager.middlewares:
        return manager
    with warnings.catch_warnings():
        # Whatever there is to say of them was said the first time.
        warnings.simplefilter("ignore")
        return type(manager)(*chain, crawler=manager.crawler)


def _listeners(crawler: Crawler) -> Iterator[object]:
    present = crawler.extensions.middlewares
    for path in _LISTENERS:
        kind = load_object(path)
        if not _has(present, kind) and not is_off(crawler.settings, "EXTENSIONS", kind):
            with suppress(NotConfigured):
                yield build_from_crawler(kind, crawler)
