"""Settings of Scrapy that have no effect here: setting one is an error that says what to use.
In another project, with the add-on, it is a warning.

``docs/scrapy.md`` lists every setting of Scrapy; ``tests/test_scrapy_settings.py`` compares.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from crawlproject import settings as ours
from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_QUEUES = "the frontier is the queue, in the crawl directory: Request.priority orders its URLs"
_NAMES = "names are looked up by POLITENESS_RESOLVER and POLITENESS_NAME_SERVERS"
_TLS = "use DOWNLOAD_VERIFY_CERTIFICATES, DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION"

REFUSED: dict[str, str] = {
    "CONCURRENT_REQUESTS_PER_IP": "Scrapy has removed it: use CONCURRENT_REQUESTS_PER_DOMAIN",
    "DNS_RESOLVER": _NAMES,
    "DOWNLOADER_CLIENTCONTEXTFACTORY": _TLS,
    "DOWNLOADER_CLIENT_TLS_METHOD": _TLS,
    "DOWNLOADER_STATS": "responses are always counted: the summary and the limits need it",
    "FEED_FORMAT": "use FEEDS, or -O FILE with the extension of the format",
    "FEED_URI": "use FEEDS, or -O FILE",
    "RETRY_PRIORITY_ADJUST": "a retry waits FRONTIER_RETRY_BACKOFF_SECONDS, then keeps its place",
    "SCHEDULER_DEBUG": "a request that can't be kept is logged with -L INFO, always",
    "SCHEDULER_DISK_QUEUE": _QUEUES,
    "SCHEDULER_MEMORY_QUEUE": _QUEUES,
    "SCHEDULER_PRIORITY_QUEUE": _QUEUES,
    "SCHEDULER_START_DISK_QUEUE": _QUEUES,
    "SCHEDULER_START_MEMORY_QUEUE": _QUEUES,
    "TWISTED_DNS_RESOLVER": _NAMES,
}
# Prefixes of our settings that only a SiteSpider reads.
_OF_SITES = ("PAGES_", "RECRAWL_", "RENDER_", "SCOPE_", "SITEMAPS_")
# Settings with these prefixes that every spider reads.
_OF_ANY = frozenset({"PAGES_MAX_SECONDS", "SCOPE_MAX_PAGES", "SCOPE_SEEDS_ONLY"})
# Settings whose components are not in the add-on.
_OF_THIS_PROJECT = (
    *("FETCHING_COOKIES", "FETCHING_HEADERS", "FETCHING_ORIGINS"),
    *("MONITORING_PROGRESS", "MONITORING_SUMMARY"),
)
# In another project Scrapy's own exporter reads them.
_OF_FEEDS = frozenset({"FEED_FORMAT", "FEED_URI"})


def check_not_refused(settings: BaseSettings) -> None:
    """Raise BadArgument for a setting that would be ignored."""
    for name, instead in _ignored(settings):
        raise BadArgument(name, f"has no effect here: {instead}")


def warn_of_ignored(settings: BaseSettings) -> None:
    """Log each setting of another project that is ignored."""
    handler = settings.getwithbase("DOWNLOAD_HANDLERS").get("https")
    has_own_handler = handler != ours.DOWNLOAD_HANDLERS["https"]
    for name, instead in _ignored(settings):
        is_read = name in _OF_FEEDS or (has_own_handler and instead in (_NAMES, _TLS))
        if not is_read:
            logger.warning("%s has no effect here: %s", name, instead)


def warn_of_sites(settings: BaseSettings, *, is_ours: bool) -> None:
    """Log each setting of ours that a spider ignores because it is no SiteSpider.

    ``is_ours``: in this project, where a setting may be meant for other spiders.
    """
    least = SETTINGS_PRIORITIES["spider" if is_ours else "project"]
    names = _OF_SITES if is_ours else (*_OF_SITES, *_OF_THIS_PROJECT)
    for name, default in vars(ours).items():
        if not name.startswith(names) or name in _OF_ANY:
            continue
        if (settings.getpriority(name) or 0) >= least and str(settings[name]) != str(default):
            logger.warning("%s has no effect here: it is for a SiteSpider", name)


def _ignored(settings: BaseSettings) -> Iterator[tuple[str, str]]:
    for name, instead in REFUSED.items():
        is_set = bool(settings.getpriority(name))
        if is_set and str(settings[name]) != str(vars(default_settings).get(name)):
            yield name, instead
