"""Settings that are checked like arguments, though they have no shortcut: Scrapy's and ours.

Those that Scrapy needs before there is a spider are in ``commands/checks.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from crawlproject.errors import BadArgument
from crawlproject.fetching.lookups import CARES, SYSTEM, parse_name_servers
from crawlproject.frontier.opening import DOMAIN, HOSTNAME
from crawlproject.pages.signatures import BACKENDS
from crawlproject.pages.structured import SYNTAXES
from crawlproject.pipelines.duplicates import DROP, MARK
from crawlproject.pipelines.parameters import MAX_SIZE, MIN_SIZE
from crawlproject.spiders import values
from crawlproject.spiders.seeds import split_seeds
from crawlproject.urls.link_bounds import LONGEST_URL

if TYPE_CHECKING:
    from collections.abc import Callable


def rules(name: str, value: Any) -> list[Any]:
    """Classes with a method ``reason``, by name."""
    named = list(value) if isinstance(value, list | tuple) else split_seeds(value)
    for path in named:
        try:
            cls = load_object(path)
        except (ImportError, NameError, ValueError, TypeError) as error:
            raise BadArgument(name, f"can't load {path!r}: {error}") from None
        if not callable(getattr(cls, "reason", None)):
            raise BadArgument(name, f"{path!r} has no method reason(url)")
    return named


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    name: parse
    for parse, names in (
        (
            values.yes_or_no,
            "ROBOTSTXT_OBEY AUTOTHROTTLE_ENABLED POLITENESS_FAST_LOOPBACK URLS_JOIN_SCHEMES "
            "SCOPE_SEEDS_ONLY SCOPE_FOLLOW_SEED_REDIRECTS SCOPE_INTERNAL_SEEDS "
            "MONITORING_PROGRESS MONITORING_SUMMARY "
            "HTTPERROR_ALLOW_ALL DOWNLOAD_VERIFY_CERTIFICATES RETRY_ENABLED "
            "FRONTIER_WAIT_FOR_SEEDS SCHEDULER_PERSIST SCHEDULER_FLUSH_ON_START "
            "REDIS_START_URLS_AS_SET REDIS_START_URLS_AS_ZSET "
            "PAGES_CONTENT PAGES_MEDIA PAGES_TEXT DUPLICATES_ENABLED STORE_BODIES "
            "RECRAWL_CONTINUOUS DNSCACHE_ENABLED FASTPATH_ENABLED COOKIES_ENABLED "
            "REFERER_ENABLED REDIRECT_ENABLED METAREFRESH_ENABLED COMPRESSION_ENABLED "
            "HTTPCACHE_ENABLED HTTPPROXY_ENABLED TELNETCONSOLE_ENABLED REMOTE_CONTROL_ENABLED "
            "MEMUSAGE_ENABLED MEMDEBUG_ENABLED DOWNLOAD_FAIL_ON_DATALOSS STATS_DUMP "
            "CRAWLSPIDER_FOLLOW_LINKS DEPTH_STATS_VERBOSE FEED_STORE_EMPTY "
            "WARN_ON_GENERATOR_RETURN_VALUE COOKIES_DEBUG DUPEFILTER_DEBUG AUTOTHROTTLE_DEBUG "
            "DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING RANDOMIZE_DOWNLOAD_DELAY "
            "HTTPCACHE_ALWAYS_STORE HTTPCACHE_GZIP HTTPCACHE_IGNORE_MISSING "
            "PERIODIC_LOG_TIMING_ENABLED FEED_STORAGE_FTP_ACTIVE FTP_PASSIVE_MODE "
            "HTTPX_HTTP2_ENABLED MAIL_SSL MAIL_TLS MEDIA_ALLOW_REDIRECTS",
        ),
        (
            values.seconds,
            "DOWNLOAD_DELAY_JITTER LOGSTATS_INTERVAL CLOSESPIDER_TIMEOUT_NO_ITEM "
            "FRONTIER_RETRY_BACKOFF_SECONDS FRONTIER_COMMIT_SECONDS "
            "AUTOTHROTTLE_START_DELAY "
            "AUTOTHROTTLE_MAX_DELAY "
            "POLITENESS_MAX_CRAWL_DELAY_SECONDS POLITENESS_MAX_HOLD_SECONDS "
            "POLITENESS_ROBOTS_MAX_AGE_SECONDS POLITENESS_ROBOTS_UNREACHABLE_SECONDS "
            "POLITENESS_DNS_MIN_TTL_SECONDS POLITENESS_DNS_MAX_TTL_SECONDS "
            "POLITENESS_DNS_NEGATIVE_SECONDS PAGES_MAX_SECONDS",
        ),
        (
            values.whole_number(0),
            "DOWNLOAD_MAXSIZE FRONTIER_CAPACITY REDIRECT_MAX_TIMES RETRY_TIMES "
            "URLS_MAX_LINK_CHARACTERS "
            "POLITENESS_ROBOTS_MAX_BYTES SCOPE_MAX_PAGES_PER_HOST SCOPE_MAX_PAGES_PER_PREFIX "
            "SCOPE_MAX_REPEATED_SEGMENTS SCOPE_MAX_QUERY_PARAMS CLOSESPIDER_PAGECOUNT "
            "CLOSESPIDER_ITEMCOUNT CLOSESPIDER_ERRORCOUNT DOWNLOAD_WARNSIZE DNSCACHE_SIZE "
            "MEMUSAGE_LIMIT_MB MEMUSAGE_WARNING_MB RENDER_MAX_PAGES RENDER_MAX_REQUESTS "
            "FRONTIER_SHARDS SITEMAPS_MAX_NESTING CLOSESPIDER_PAGECOUNT_NO_ITEM "
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE FEED_EXPORT_BATCH_ITEM_COUNT "
            "REMOTE_CONTROL_OUTPUT_MAX_BYTES REMOTE_CONTROL_TRACEBACK_MAX_BYTES "
            "FILES_EXPIRES IMAGES_EXPIRES IMAGES_MIN_HEIGHT IMAGES_MIN_WIDTH",
        ),
        (
            values.whole_number(1),
            "POLITENESS_MAX_LOOKUPS FRONTIER_COMMIT_PAGES CONCURRENT_ITEMS "
            "REACTOR_THREADPOOL_MAXSIZE DUPLICATES_MIN_WORDS RENDER_CONCURRENCY "
            "RECRAWL_GONE_VISITS SITEMAPS_MAX_URLS SITEMAPS_MAX_BYTES SITEMAPS_MAX_FILES "
            "HTTP2_MAX_FRAME_SIZE",
        ),
        (values.indent, "FEED_EXPORT_INDENT"),
        (
            values.whole_number(),
            "DEPTH_PRIORITY REDIRECT_PRIORITY_ADJUST METAREFRESH_MAXDELAY "
            "HTTPCACHE_EXPIRATION_SECS",
        ),
        (values.whole_number(0, LONGEST_URL), "URLLENGTH_LIMIT"),
        (values.whole_number(0, 6), "PAGES_HEADING_LEVELS"),
        (values.whole_number(MIN_SIZE, MAX_SIZE), "DUPLICATES_PERMUTATIONS"),
        (values.whole_number(1, 50), "DUPLICATES_SHINGLE_WORDS"),
        (values.part, "DUPLICATES_THRESHOLD RECRAWL_COSMETIC_SIMILARITY"),
        (values.share, "RECRAWL_SHARE"),
        (values.chance, "RECRAWL_CHANCE"),
        (values.one_of(MARK, DROP), "DUPLICATES_ACTION"),
        (values.one_of(*BACKENDS), "DUPLICATES_BACKEND"),
        (
            values.some_time,
            "DOWNLOAD_TIMEOUT DNS_TIMEOUT RENDER_TIMEOUT_SECONDS FRONTIER_LEASE_SECONDS "
            "MONITORING_SNAPSHOT_SECONDS RECRAWL_MIN_INTERVAL_SECONDS "
            "RECRAWL_MAX_INTERVAL_SECONDS MEMUSAGE_CHECK_INTERVAL_SECONDS "
            "REMOTE_CONTROL_TIMEOUT_DEFAULT REMOTE_CONTROL_TIMEOUT_MAX",
        ),
        (values.port, "METRICS_PORT MAIL_PORT"),
        (values.ports, "TELNETCONSOLE_PORT"),
        (values.text, "METRICS_ADDRESS"),
        (values.encoding, "FEED_EXPORT_ENCODING HTTPPROXY_AUTH_ENCODING"),
        (
            values.statuses,
            "RETRY_HTTP_CODES HTTPERROR_ALLOWED_CODES HTTPCACHE_IGNORE_HTTP_CODES",
        ),
        (values.one_of(HOSTNAME, DOMAIN), "POLITENESS_HOST"),
        (values.one_of(CARES, SYSTEM), "POLITENESS_RESOLVER"),
        (parse_name_servers, "POLITENESS_NAME_SERVERS"),
        (values.some_of(*SYNTAXES), "PAGES_STRUCTURED_DATA"),
        (values.above_zero, "AUTOTHROTTLE_TARGET_CONCURRENCY"),
        (values.host_limits, "POLITENESS_HOSTS"),
        (values.download_slots, "DOWNLOAD_SLOTS"),
        (values.log_level, "LOG_LEVEL RETRY_GIVE_UP_LOG_LEVEL DEFAULT_DROPITEM_LOG_LEVEL"),
        (values.some_stats, "PERIODIC_LOG_STATS PERIODIC_LOG_DELTA"),
        (values.fields, "FEED_EXPORT_FIELDS"),
        (rules, "SCOPE_RULES"),
        (values.crawl_name, "FRONTIER_CRAWL_ID"),
        (values.text_or_none, "STORE_URI DUPLICATES_ITEM_TEXT REDIS_URL REDIS_START_URLS_KEY"),
        (values.file_or_none, "MONITORING_SNAPSHOT_FILE"),
    )
    for name in names.split()
}
