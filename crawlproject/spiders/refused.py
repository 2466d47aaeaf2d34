"""Settings of Scrapy that have no effect here: setting one is an error that says what to use.

``docs/scrapy.md`` lists every setting of Scrapy; ``tests/test_scrapy_settings.py`` compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import default_settings

from crawlproject.errors import BadArgument

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

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


def check_not_refused(settings: BaseSettings) -> None:
    """Raise BadArgument for a setting that would be ignored."""
    for name, instead in REFUSED.items():
        is_set = bool(settings.getpriority(name))
        if is_set and str(settings[name]) != str(vars(default_settings).get(name)):
            raise BadArgument(name, f"has no effect here: {instead}")
