"""Every setting: its default, its unit, one line. All wiring and order numbers.

Names that Scrapy knows keep Scrapy's meaning. Ours start with the name of their room.
``docs/settings.md`` says more about each; a test keeps the two together.
"""

from __future__ import annotations

from crawlproject.urls.canonical import DEFAULT_TRACKING_PARAMS

BOT_NAME = "crawlproject"
SPIDER_MODULES = ["crawlproject.spiders"]
NEWSPIDER_MODULE = "crawlproject.spiders"
COMMANDS_MODULE = "crawlproject.commands"

# --- Seeds

SEEDS: list[str] = []  # URLs to start from (argument: seed)
SEEDS_FILE: str | None = None  # a file of them, one a line (argument: seeds_file)

# --- urls: the one spelling of a URL, and the links of a page

REQUEST_FINGERPRINTER_CLASS = "crawlproject.urls.fingerprint.CanonicalFingerprinter"
DUPEFILTER_CLASS = "crawlproject.urls.dupefilter.CanonicalDupeFilter"
URLS_TRACKING_PARAMS = list(DEFAULT_TRACKING_PARAMS)  # query parameters that name no page
URLS_JOIN_SCHEMES = False  # whether http and https are one URL (then https is fetched)
URLS_RESPECT_NOFOLLOW = True  # record, but don't follow, what a page asks not to be followed
URLS_LINK_RELS: list[str] = []  # which <link rel=…> count as links: next, alternate, canonical
URLS_MAX_LINK_CHARACTERS = 10_000_000  # of all links of a page; 0: no limit

# --- scope: who may enter

SCOPE_MODE = "host"  # how far a seed reaches: host, domain (with subdomains) or any
SCOPE_ALLOW: list[str] = []  # further hosts, with their subdomains
SCOPE_INCLUDE: list[str] = []  # regular expressions: a URL must match one of them
SCOPE_EXCLUDE: list[str] = []  # regular expressions: a URL must match none of them
SCOPE_RULES: list[str] = []  # classes of your own that say why a URL is not to be fetched
SCOPE_SEEDS_ONLY = False  # follow no link at all (argument: depth=0)
SCOPE_MAX_PAGES = 0  # pages in the output, at most; 0: no limit
SCOPE_MAX_PAGES_PER_HOST = 0  # URLs of a host that are fetched, at most; 0: no limit
SCOPE_MAX_PAGES_PER_PREFIX = 300  # … of a calendar, of the facets of a list …; 0: no limit
SCOPE_MAX_REPEATED_SEGMENTS = 3  # times that a path may say the same segment; 0: no limit
SCOPE_MAX_QUERY_PARAMS = 12  # parameters of a URL, at most; 0: no limit
SCOPE_INTERNAL_SEEDS = True  # a seed may be internal; if all are, other URLs may be, too
SCOPE_FOLLOW_SEED_REDIRECTS = True  # a seed that redirects to another host takes it into scope
DEPTH_LIMIT = 16  # links from a seed, at most; 0: no limit
URLLENGTH_LIMIT = 2083  # characters; longer URLs are skipped; 0: no limit

# --- frontier: what is known, and what is next

SCHEDULER = "crawlproject.frontier.scheduler.FrontierScheduler"
FRONTIER_GATEKEEPER = "crawlproject.politeness.robots.RobotsGatekeeper"  # asked before a fetch
JOBDIR: str | None = None  # the crawl directory: what a crawl knows, and goes on from
FRONTIER_COMMIT_PAGES = 100  # pages that are committed together, at most
FRONTIER_COMMIT_SECONDS = 0.1  # what has changed is committed after this time at the latest
FRONTIER_CAPACITY = 0  # queued URLs, about; at the bound discovery waits; 0: no limit
REDIS_URL: str | None = None  # where several workers share the crawl: redis://host:6379/0
REDIS_PARAMS: dict[str, object] = {}  # more about the connection, as redis-py has it
SCHEDULER_PERSIST = True  # keep a finished crawl in Redis
SCHEDULER_FLUSH_ON_START = False  # forget what is there, unless other workers are at it
FRONTIER_CRAWL_ID: str | None = None  # a shared crawl's name; by default of spider and seeds
FRONTIER_SHARDS = 0  # parts of a shared crawl that may be on different nodes; 0: as many as nodes
FRONTIER_WAIT_FOR_SEEDS = False  # a shared crawl does not end: more seeds may be fed
SCHEDULER_IDLE_BEFORE_CLOSE = 0  # seconds that a crawl with nothing left to fetch waits for more
REDIS_START_URLS_KEY: str | None = None  # where seeds are fed; %(name)s is the spider's name
REDIS_START_URLS_AS_SET = False  # … with SADD, not LPUSH
REDIS_START_URLS_AS_ZSET = False  # … with ZADD, the highest score first
FRONTIER_LEASE_SECONDS = 60.0  # then what a worker has, that is not heard of, goes to others
FRONTIER_RETRY_BACKOFF_SECONDS = 1.0  # before the first retry of a URL; doubles with each
RETRY_TIMES = 2  # after the first attempt
RETRY_EXCEPTIONS: list[str | type[Exception]] = [  # failures worth a retry
    "scrapy.exceptions.CannotResolveHostError",
    "scrapy.exceptions.DownloadConnectionRefusedError",
    "scrapy.exceptions.DownloadFailedError",
    "scrapy.exceptions.DownloadTimeoutError",
    "scrapy.exceptions.ResponseDataLossError",
    OSError,
]
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # the page says why it failed
REDIRECT_MAX_TIMES = 20  # redirects in a row

# --- politeness: when a host may be touched

USER_AGENT = "crawlproject/0.1 (+https://crawlproject.example/bot)"  # who asks, and a contact
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT: str | None = None  # the name in robots.txt; by default USER_AGENT's first
ROBOTSTXT_PARSER = "crawlproject.politeness.parser.IndexedRobotParser"  # any number of rules
POLITENESS_ROBOTS_MAX_BYTES = 1024 * 1024  # of a robots.txt; the rest is ignored
POLITENESS_ROBOTS_MAX_AGE_SECONDS = 86_400.0  # then a robots.txt is asked for again
POLITENESS_ROBOTS_UNREACHABLE_SECONDS = 300.0  # to wait for a robots.txt; then its URLs are skipped
POLITENESS_MAX_CRAWL_DELAY_SECONDS = 60.0  # a longer Crawl-delay is cut to this, with a warning
POLITENESS_MAX_HOLD_SECONDS = 600.0  # a longer Retry-After or back-off is cut to this
POLITENESS_HOST = "hostname"  # what has a delay of its own: hostname, or domain (registered)
POLITENESS_HOSTS: dict[str, dict[str, float]] = {}  # exceptions: {"a.com": {"rate": 2}}
POLITENESS_FAST_LOOPBACK = True  # a crawl of this machine's own servers needs no delay
DOWNLOAD_DELAY = 0.25  # seconds from a response to the next request, per host; 0 with a rate
DOWNLOAD_DELAY_JITTER = 0.0  # the part of the delay by which it varies at random: 0.5 is ±50 %
POLITENESS_RATE = 0.0  # requests started a second, per host; 0: no limit
CONCURRENT_REQUESTS = 32  # in flight in all
CONCURRENT_REQUESTS_PER_DOMAIN = 2  # in flight per host
AUTOTHROTTLE_ENABLED = True  # a host that responds slowly gets fewer requests
AUTOTHROTTLE_START_DELAY = 0.25  # seconds between two starts, until the first response
AUTOTHROTTLE_MAX_DELAY = 30.0  # seconds between two starts, at most
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0  # in flight on average; by default the concurrency you set

# --- sitemaps: what sites say of their own pages

SITEMAPS_MODE = "auto"  # whether they are read: auto (where the scope is a host), always, never
SITEMAPS_MAX_URLS = 50_000  # of one sitemap; the rest is ignored, with a warning
SITEMAPS_MAX_BYTES = 52_428_800  # … and bytes, as they are sent and as they are unpacked
SITEMAPS_MAX_NESTING = 3  # sitemaps that name sitemaps that name sitemaps
SITEMAPS_MAX_FILES = 1000  # sitemaps of a host

# --- recrawl: when to come back to what a crawl directory has

RECRAWL_MODE = "due"  # what a finished crawl visits again: due, all, or never: nothing
RECRAWL_CONTINUOUS = False  # go on for ever: sleep until something is due
RECRAWL_MIN_INTERVAL_SECONDS = 3600.0  # between two visits, at least
RECRAWL_MAX_INTERVAL_SECONDS = 30 * 86_400.0  # … and at most
RECRAWL_CHANCE = 0.3  # a page is due when the chance is that it has changed
RECRAWL_COSMETIC_SIMILARITY = 0.98  # of its text: then a change is none to speak of
RECRAWL_GONE_VISITS = 5  # visits to a page that is gone, ever later; then no more
RECRAWL_SHARE = 0.5  # of a host's requests, for visits, while new URLs wait

# --- the fetch

DOWNLOAD_TIMEOUT = 30  # seconds for one answer
DNS_TIMEOUT = 10.0  # seconds for the lookup of a name, with all its retries
DNSCACHE_ENABLED = True  # remember the addresses of names, for as long as their TTL says
DNSCACHE_SIZE = 10_000  # names that are remembered
POLITENESS_RESOLVER = "c-ares"  # who looks up names; system: as other programs do, but few at once
POLITENESS_NAME_SERVERS: list[str] = []  # addresses of name servers; by default the system's
POLITENESS_MAX_LOOKUPS = 2000  # of names, under way at once
POLITENESS_DNS_MIN_TTL_SECONDS = 30.0  # a shorter TTL of an address is raised to this
POLITENESS_DNS_MAX_TTL_SECONDS = 3600.0  # … and a longer one cut to this
POLITENESS_DNS_NEGATIVE_SECONDS = 60.0  # for which a name without an address is not asked again
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024  # bytes of a body, also after decompression
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOADER = "crawlproject.politeness.downloader.GatedDownloader"
DOWNLOAD_HANDLERS: dict[str, str | None] = {
    "http": "crawlproject.fetching.handler.HttpDownloadHandler",
    "https": "crawlproject.fetching.handler.HttpDownloadHandler",
    "file": None,
    "data": None,
    "s3": None,
    "ftp": None,
}
CLOSESPIDER_TIMEOUT = 0.0  # seconds for the whole crawl; 0: no limit
# One spelling of the answer for everybody: no state that depends on what was fetched before.
COOKIES_ENABLED = False  # keep cookies and send them back (argument: cookies)
FETCHING_HEADERS: dict[str, str] = {}  # for FETCHING_ORIGINS only (argument: header)
FETCHING_COOKIES: dict[str, str] = {}  # … and cookies (argument: cookie)
FETCHING_ORIGINS: str | None = None  # https://a.example:8443 …; by default the seeds' origins
# Redirects are the frontier's: each is admitted, gated and accounted for like a link.
REDIRECT_ENABLED = False
METAREFRESH_ENABLED = False
REFERER_ENABLED = False
HTTPERROR_ALLOW_ALL = True
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
ASYNCIO_EVENT_LOOP: str | None = None  # for scrapy crawl: uvloop's, where it is installed
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
# One page makes one item, and Scrapy starts this many tasks for each response.
CONCURRENT_ITEMS = 1

# --- render: pages that are made by scripts (see requirements-render.txt)

RENDER_MODE = "never"  # or auto: those that are empty without scripts; or always: all HTML pages
RENDER_MAX_PAGES = 0  # that are rendered, at most; 0: no limit
RENDER_CONCURRENCY = 2  # pages in the browser at once
RENDER_TIMEOUT_SECONDS = 20.0  # for one page, besides its fetch; then it stays as it was fetched
RENDER_MAX_REQUESTS = 100  # that a page's scripts may send, at most; 0: no limit
RENDER_BROWSER_PATH: str | None = None  # a Chromium; by default the one that is installed

# --- pages: what is read of a page

PAGES_CONTENT = True  # read what pages say; off: their links and their head, in less time
PAGES_HEADING_LEVELS = 2  # 1 to 6: which headings are recorded; 0: none
PAGES_MEDIA = True  # record the URLs of pictures, videos and sounds
PAGES_STRUCTURED_DATA = ["json-ld", "microdata", "rdfa"]  # the syntaxes that are read; []: none
PAGES_MAX_SECONDS = 10.0  # of CPU to read a page, a sitemap or a robots.txt; 0: no limit
PAGES_TEXT = False  # have the main text in the outputs (pipelines always have it)

# --- pipelines: what pages are compared by

DUPLICATES_ENABLED = True  # whether pages are compared with each other
DUPLICATES_ACTION = "mark"  # what is done with duplicates: mark, or drop (from sorted outputs)
DUPLICATES_THRESHOLD = 0.85  # how much of the text near-duplicates have in common, at least
DUPLICATES_BACKEND = "builtin"  # what makes signatures: builtin, or datasketch (its MinHash)
DUPLICATES_PERMUTATIONS = 128  # values of a signature: more tell similarity more exactly
DUPLICATES_SHINGLE_WORDS = 3  # words in a row that are compared as one
DUPLICATES_MIN_WORDS = 30  # of the main text; shorter pages are not compared
DUPLICATES_ITEM_TEXT: str | None = None  # the field with the text of items that are no pages

# --- pipelines: what is kept of an answer

STORE_BODIES = False  # keep the body and the headers of every answer, once a content
STORE_URI: str | None = None  # where; by default in the crawl directory; or s3://bucket/prefix

# --- outputs

FEED_EXPORT_ENCODING = "utf-8"
FEED_STORAGES = {
    "": "crawlproject.exports.storage.ReplacingFileStorage",
    "file": "crawlproject.exports.storage.ReplacingFileStorage",
    "stdout": "crawlproject.monitoring.standard_output.StandardOutput",
}
FEED_EXPORTERS = {
    "json": "crawlproject.exports.sitemap_json.SitemapJsonExporter",
    "jsonl": "crawlproject.exports.pages_jsonl.PagesJsonLinesExporter",
    "jsonlines": "crawlproject.exports.pages_jsonl.PagesJsonLinesExporter",
    "jl": "crawlproject.exports.pages_jsonl.PagesJsonLinesExporter",
    "csv": "crawlproject.exports.pages_csv.PagesCsvExporter",
    "xml": "crawlproject.exports.sitemap_xml.SitemapXmlExporter",
    "warc": "crawlproject.exports.pages_warc.WarcExporter",
    "warc.gz": "crawlproject.exports.pages_warc.CompressedWarcExporter",
    "html": "crawlproject.report.exporter.ReportExporter",
    "parquet": "crawlproject.exports.pages_parquet.PagesParquetExporter",
}

# --- monitoring

MONITORING_PROGRESS = True  # a live line, when standard error is a terminal
MONITORING_SUMMARY = True  # a table at the end, on standard error
MONITORING_SNAPSHOT_FILE: str | None = None  # a JSON file that says how the crawl goes
MONITORING_SNAPSHOT_SECONDS = 1.0  # between two of them
METRICS_PORT = 0  # where Prometheus gets /metrics while the crawl runs; 0: nobody listens
METRICS_ADDRESS = "127.0.0.1"  # … and from which machines: 0.0.0.0 is all
LOG_LEVEL = "WARNING"
LOG_FORMATTER = "crawlproject.monitoring.logs.SparingLogFormatter"
# Scrapy would look for it in the source of every callback, at every call.
WARN_ON_GENERATOR_RETURN_VALUE = False
STATS_DUMP = True

# --- fast path: replacements of Scrapy internals that only buy speed

FASTPATH_ENABLED = True  # False: only Scrapy's own code runs; the results are the same

# --- wiring. Ours leave gaps of 10 and more, for what a team adds between.

ADDONS = {"crawlproject.wiring.Wiring": 0}  # puts back what a team's own settings leave out

DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {
    "crawlproject.frontier.leases.LeaseGuard": 10,
    "crawlproject.fetching.unpacking.Unpacking": 590,
    # With Scrapy's for redirects, which is off by default.
    "crawlproject.fetching.media_redirects.MediaRedirects": 600,
    # OriginAuth takes its place.
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "crawlproject.monitoring.traffic.Traffic": 850,
    # After Scrapy's CookiesMiddleware (700), and after HttpCacheMiddleware (900): it writes the
    # headers of a request to files.
    "crawlproject.fetching.origin_auth.OriginAuth": 940,
    "crawlproject.fetching.origin_headers.OriginHeaders": 950,
    # Unpacking takes its place.
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": None,
    # The frontier asks for robots.txt.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    # The frontier sets the time-out of each request.
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": None,
}
SPIDER_MIDDLEWARES: dict[str, int | None] = {
    "crawlproject.frontier.leases.LeaseMiddleware": 10,
    "crawlproject.scope.depth.DepthMiddleware": 900,
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
}
EXTENSIONS: dict[str, int | None] = {
    "crawlproject.monitoring.counting.Counting": 0,
    "crawlproject.politeness.throttle.GateThrottle": 100,
    "crawlproject.politeness.overload.Overload": 110,
    "crawlproject.monitoring.vitals.Vitals": 190,
    "crawlproject.monitoring.progress.Progress": 200,
    # Before the outputs: it says that they are being written.
    "crawlproject.monitoring.snapshot_file.SnapshotFile": 210,
    "crawlproject.monitoring.metrics_server.MetricsServer": 220,
    "crawlproject.monitoring.summary.Summary": 300,
    "crawlproject.exports.feeds.Feeds": 400,
    "scrapy.extensions.corestats.CoreStats": None,
    "scrapy.extensions.feedexport.FeedExporter": None,
    # Ours takes its place: it unpickles a file of the crawl directory, which may be anybody's.
    "crawlproject.spiders.state.SpiderState": 10,
    "scrapy.extensions.spiderstate.SpiderState": None,
    "scrapy.extensions.throttle.AutoThrottle": None,
}
# Below 100: what changes a page before it is compared. Between: what comes of it.
ITEM_PIPELINES: dict[str, int | None] = {
    "crawlproject.pipelines.duplicates.Duplicates": 100,
    # Last: what a pipeline of yours drops need not be kept.
    "crawlproject.pipelines.store.Store": 900,
}
