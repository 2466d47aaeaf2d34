"""Every setting of Scrapy: it is in docs/scrapy.md, and does there what it says.

What is refused ends with one line. For all others there is an effect below, judged by what the
server or the user sees, or the test that shows it is named.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.extensions.feedexport import FTPFeedStorage, GCSFeedStorage, S3FeedStorage
from scrapy.settings import default_settings

from crawlproject.commands.checks import check_set_up
from crawlproject.commands.components import check_components
from crawlproject.errors import BadArgument
from crawlproject.spiders.arguments import check_all
from crawlproject.spiders.refused import REFUSED
from tests.certificates import self_signed
from tests.crawling import PROJECT, project_settings, scrapy

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

TABLE = (PROJECT / "docs/scrapy.md").read_text().partition("## Settings")[2].partition("## Comp")[0]
ROWS = re.findall(r"^\| (`[^|]+`) \| (\w+) \|", TABLE, re.MULTILINE)
STATUS = {name: status for cell, status in ROWS for name in re.findall(r"`(\w+)`", cell)}
# Of Scrapy's media pipelines, which have no default among its settings.
MEDIA = {
    "MEDIA_ALLOW_REDIRECTS",
    *("FILES_EXPIRES", "FILES_RESULT_FIELD", "FILES_URLS_FIELD"),
    *("IMAGES_EXPIRES", "IMAGES_RESULT_FIELD", "IMAGES_URLS_FIELD"),
    *("IMAGES_MIN_HEIGHT", "IMAGES_MIN_WIDTH", "IMAGES_THUMBS"),
}
SETTINGS = {name for name in vars(default_settings) if name.isupper()} | MEDIA

SITE: dict[str, Any] = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {
            "title": "Home",
            "links": ["/a", "/b", "/gone", "/old", "/private", f"/{'x' * 100}"],
            "headers": {"Set-Cookie": "session=secret", "Cache-Control": "max-age=60"},
        },
        "/a": {"title": "A", "links": ["/a/1", "/b", "/a?utm_source=x"]},
        "/a/1": {"title": "A1", "links": ["/a/1/1"]},
        "/a/1/1": {"title": "A11"},
        "/b": {"title": "B", "links": ["/a"]},
        "/old": {"redirect": "/target"},
        "/target": {"title": "Target"},
        "/broken": {"status": 503, "body": "busy"},
        "/refresh": {"body": '<meta http-equiv="refresh" content="0; url=/target">'},
        "/refresh-noscript": {
            "body": '<noscript><meta http-equiv="refresh" content="0; url=/a"></noscript>'
        },
        f"/{'x' * 100}": {"title": "Long"},
        "/big": {"body": "y" * 5000},
        "/pictures": {"body": "<img src=/big><img src=/old>"},
        "/cut": {"raw": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"},
    },
}
CODE = '''
import asyncio
import logging

import scrapy
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import DropItem
from scrapy.linkextractors import LinkExtractor
from scrapy.logformatter import LogFormatter
from scrapy.pipelines import ItemPipelineManager
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.spiderloader import SpiderLoader
from scrapy.spiders import CrawlSpider, Rule
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter

from crawlproject.frontier.scheduler import FrontierScheduler
from crawlproject.politeness.downloader import GatedDownloader
from crawlproject.spiders.site import SiteSpider


class Plain(scrapy.Spider):
    """Fetches what it is told to, and follows links as deep as it is told to."""

    name = "plain"

    def __init__(self, url="", follow="", **arguments):
        super().__init__(**arguments)
        self.start_urls = url.split()
        self.follow = follow

    def parse(self, response):
        yield {"url": response.url, "status": response.status}
        if self.follow and isinstance(response, scrapy.http.TextResponse):
            yield from response.follow_all(css="a")


class Noted(SiteSpider):
    name = "noted"

    def parse_start_url(self, response):
        yield {"note": response.status}


class Loop(Plain):
    name = "loop"

    def parse(self, response):
        yield {"loop": type(asyncio.get_running_loop()).__name__}


class Fails(Plain):
    name = "fails"

    def parse(self, response):
        yield from response.follow_all(css="a")
        raise RuntimeError("on purpose")


class Returns(Plain):
    name = "returns"

    def parse(self, response):
        yield scrapy.Request(response.url, self.parse_again, dont_filter=True)

    def parse_again(self, response):
        yield {}
        return 3


class Follow(CrawlSpider):
    name = "follow"

    def __init__(self, url, **arguments):
        super().__init__(**arguments)
        self.start_urls = [url]

    rules = [Rule(LinkExtractor(), callback="found", follow=True)]

    def found(self, response):
        yield {"url": response.url}


class Stateful(Plain):
    name = "stateful"

    def parse(self, response):
        self.state["count"] = self.state.get("count", 0) + 1
        yield {"count": self.state["count"]}


class Prints(Plain):
    name = "prints"

    def parse(self, response):
        print("printed by the spider")
        yield {}


class Addon:
    def update_settings(self, settings):
        settings.set("USER_AGENT", "by the add-on", "cmdline")


class Mark:
    """A middleware of both kinds, an extension, a pipeline: it counts."""

    def __init__(self, crawler):
        self.crawler = crawler
        crawler.stats.inc_value("mark/made")

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_request(self, request):
        request.headers["X-Mark"] = "yes"

    async def process_spider_output_async(self, response, result):
        async for one in result:
            self.crawler.stats.inc_value("mark/output")
            yield one

    def process_spider_output(self, response, result):
        return result

    def process_item(self, item):
        self.crawler.stats.inc_value("mark/item")
        return item


class Drop:
    def process_item(self, item):
        raise DropItem("not wanted")


class Slow:
    async def process_item(self, item):
        await asyncio.sleep(0)
        return item


class Processor(ItemPipelineManager):
    async def process_item_async(self, item):
        self.crawler.stats.inc_value("mark/processor")
        return await super().process_item_async(item)


class Downloader(GatedDownloader):
    def __init__(self, crawler):
        super().__init__(crawler)
        crawler.stats.inc_value("mark/downloader")


class Scheduler(FrontierScheduler):
    def enqueue_request(self, request):
        request.headers["X-Mark"] = "scheduler"
        return super().enqueue_request(request)


class NoB(BaseDupeFilter):
    def request_seen(self, request):
        return request.url.endswith("/b")


class NoFilter(BaseDupeFilter):
    pass


class OnePerLetter(RequestFingerprinter):
    def fingerprint(self, request):
        return request.url.rpartition("/")[2][:1].encode()


class Robots(ProtegoRobotParser):
    def allowed(self, url, user_agent):
        return not url.endswith("/a")


class Loader(SpiderLoader):
    def list(self):
        return ["by the loader"]


class Words(LogFormatter):
    def dropped(self, item, exception, response, spider):
        return {"level": logging.WARNING, "msg": "dropped in my words", "args": ()}


class Collector(MemoryStatsCollector):
    def open_spider(self, spider=None):
        super().open_spider(spider)
        self.set_value("mark/collector", 1)


class Handler:
    lazy = False

    def __init__(self, crawler):
        pass

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def download_request(self, request):
        return scrapy.http.HtmlResponse(request.url, body=b"made up", request=request)

    async def close(self):
        pass
'''


@dataclass
class Done:
    result: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def log(self) -> str:
        return self.result.stderr

    @property
    def items(self) -> list[dict[str, Any]]:
        path = self.folder / "items.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def stat(self, name: str) -> str | None:
        found = re.search(rf"^[ {{]'{re.escape(name)}': (.*?)[,}}]*$", self.log, re.MULTILINE)
        return found[1] if found else None


class Lab:
    """Crawls of one site, with settings."""

    def __init__(self, start: SiteFactory, folder: Path) -> None:
        self.start = start
        self.folder = folder
        self.server = start(SITE)
        (folder / "acme.py").write_text(CODE)

    def crawl(
        self,
        *settings: str,
        spider: str = "plain",
        url: str = "/",
        follow: bool = False,
        level: str = "INFO",
        fails: bool = False,
    ) -> Done:
        argument = "seed" if spider in {"site", "noted"} else "url"
        words = ["crawl", spider, "-a", f"{argument}={self.server.url(url)}"]
        if follow:
            words += ["-a", "follow=yes"]
        # Ours first: what is given later wins.
        given = [
            *("SPIDER_MODULES=crawlproject.spiders,acme", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01"),
            *("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=no", "SITEMAPS_MODE=never"),
            *("MONITORING_SUMMARY=no", "POLITENESS_NAME_SERVERS=127.0.0.1:9"),
            *(f"LOG_LEVEL={level}", *settings),
        ]
        words += [word for pair in given for word in ("-s", pair)]
        result = scrapy(*words, "-O", "items.jsonl", cwd=self.folder)
        assert (result.returncode != 0) == fails, result.stderr
        return Done(result, self.folder)

    def headers(self, name: str) -> set[str | None]:
        return {
            entry["headers"].get(name)
            for entry in self.server.log()
            if entry["path"] != "/robots.txt"
        }

    def paths(self) -> Counter[str]:
        return Counter(self.server.paths())


@pytest.fixture
def lab(site: SiteFactory, tmp_path: Path) -> Lab:
    return Lab(site, tmp_path)


EFFECTS: dict[str, Any] = {}
COVERED: dict[str, str] = {}


def effect(*names: str) -> Callable[[Any], Any]:
    """The settings whose effect a function shows."""

    def note(function: Any) -> Any:
        EFFECTS[function.__name__] = function
        COVERED.update(dict.fromkeys(names, function.__name__))
        return function

    return note


# --- components


@effect("ADDONS")
def add_ons_of_the_user(lab: Lab) -> None:
    lab.crawl('ADDONS={"crawlproject.wiring.Wiring": 0, "acme.Addon": 1}')
    assert lab.headers("user-agent") == {"by the add-on"}


@effect("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
def components_of_the_user(lab: Lab) -> None:
    kinds = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
    done = lab.crawl(*(f'{kind}={{"acme.Mark": 500}}' for kind in kinds))
    assert lab.headers("x-mark") == {"yes"}
    assert done.stat("mark/made") == "4"
    assert done.stat("mark/output") == done.stat("mark/item") == "1"


@effect(
    "DOWNLOADER_MIDDLEWARES_BASE",
    "SPIDER_MIDDLEWARES_BASE",
    "EXTENSIONS_BASE",
    "ITEM_PIPELINES_BASE",
)
def base_components(lab: Lab) -> None:
    retry = '{"scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500}'
    mark = '{"acme.Mark": 500}'
    done = lab.crawl(
        f"DOWNLOADER_MIDDLEWARES_BASE={retry}",
        *(f"{kind}_BASE={mark}" for kind in ("SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")),
        "USER_AGENT=based",
    )
    # Without the middleware for default headers.
    assert lab.headers("accept-language") == {None}
    assert lab.headers("user-agent") == {"based"}
    assert done.stat("mark/made") == "3"


@effect("ITEM_PROCESSOR")
def item_processor(lab: Lab) -> None:
    done = lab.crawl("ITEM_PROCESSOR=acme.Processor", 'ITEM_PIPELINES={"acme.Slow": 1}')
    assert done.stat("mark/processor") == "1"


@effect("DOWNLOADER")
def downloader(lab: Lab) -> None:
    assert lab.crawl("DOWNLOADER=acme.Downloader").stat("mark/downloader") == "1"


@effect("SCHEDULER")
def scheduler(lab: Lab) -> None:
    lab.crawl("SCHEDULER=acme.Scheduler")
    assert lab.headers("x-mark") == {"scheduler"}


@effect("DUPEFILTER_CLASS")
def dupe_filter(lab: Lab) -> None:
    lab.crawl("DUPEFILTER_CLASS=acme.NoB", follow=True)
    assert "/b" not in lab.paths()
    # Known to the frontier already, whatever the filter says.
    assert lab.paths()["/a"] == 1


@pytest.mark.parametrize("spider", ["site", "plain"])
@pytest.mark.parametrize("name", ["scrapy.dupefilters.BaseDupeFilter", "acme.NoFilter"])
def test_a_dupe_filter_that_filters_nothing_is_refused(lab: Lab, name: str, spider: str) -> None:
    done = lab.crawl(f"DUPEFILTER_CLASS={name}", spider=spider, level="WARNING", fails=True)
    assert done.result.returncode == 2
    assert done.log == (
        f"scrapy crawl: error: DUPEFILTER_CLASS: {name} can't switch the filter off, as the "
        "frontier fetches each URL once: remove the setting, and give dont_filter=True to requests "
        "that are to be made again\n"
    )
    assert lab.server.log() == []


@effect("DUPEFILTER_DEBUG")
def dupe_filter_debug(lab: Lab) -> None:
    few = lab.crawl(follow=True, level="DEBUG")
    many = lab.crawl("DUPEFILTER_DEBUG=1", follow=True, level="DEBUG")
    assert few.log.count("Duplicate request dropped") == 1
    assert many.log.count("Duplicate request dropped") > 1


@effect("REQUEST_FINGERPRINTER_CLASS")
def fingerprinter(lab: Lab) -> None:
    lab.crawl("REQUEST_FINGERPRINTER_CLASS=acme.OnePerLetter", follow=True)
    # One of /a/1 and /a/1/1.
    assert sum(lab.paths()[path] for path in ("/a/1", "/a/1/1")) == 1


@effect("STATS_CLASS", "STATS_DUMP")
def stats(lab: Lab) -> None:
    assert lab.crawl("STATS_CLASS=acme.Collector").stat("mark/collector") == "1"
    silent = lab.crawl("STATS_CLASS=acme.Collector", "STATS_DUMP=False")
    assert silent.stat("mark/collector") is None


@effect("DOWNLOAD_HANDLERS", "DOWNLOAD_HANDLERS_BASE")
def download_handlers(lab: Lab) -> None:
    handlers = '{"http": "acme.Handler"}'
    done = lab.crawl(f"DOWNLOAD_HANDLERS={handlers}", "ROBOTSTXT_OBEY=no")
    assert done.items == [{"url": lab.server.url(), "status": 200}]
    assert lab.server.log() == []
    based = lab.crawl('DOWNLOAD_HANDLERS_BASE={"data": "acme.Handler"}', url="/a")
    assert [item["status"] for item in based.items] == [200]


@effect("SPIDER_LOADER_CLASS", "SPIDER_LOADER_WARN_ONLY", "SPIDER_MODULES")
def spider_loader(lab: Lab) -> None:
    done = scrapy("list", "-s", "SPIDER_LOADER_CLASS=acme.Loader", cwd=lab.folder)
    assert done.stdout == "by the loader\n"
    (lab.folder / "broken").mkdir()
    (lab.folder / "broken/__init__.py").write_text("")
    (lab.folder / "broken/one.py").write_text("import nowhere\n")
    given = ("-s", "SPIDER_MODULES=acme,broken", "-s", "SPIDER_LOADER_WARN_ONLY=1")
    done = scrapy("list", *given, cwd=lab.folder)
    assert "plain" in done.stdout.split()


@effect("COMMANDS_MODULE")
def commands(lab: Lab) -> None:
    (lab.folder / "mine").mkdir()
    (lab.folder / "mine/__init__.py").write_text("")
    (lab.folder / "mine/hello.py").write_text(
        "from scrapy.commands import ScrapyCommand\n\n\nclass Command(ScrapyCommand):\n"
        "    def short_desc(self):\n        return 'greets'\n\n"
        "    def run(self, args, opts):\n        print('hello', self.settings['BOT_NAME'])\n"
    )
    (lab.folder / "own.py").write_text(
        "from crawlproject.settings import *\n\nCOMMANDS_MODULE = 'mine'\nBOT_NAME = 'me'\n"
    )
    done = scrapy("hello", cwd=lab.folder, SCRAPY_SETTINGS_MODULE="own")
    assert done.stdout == "hello me\n", done.stderr


@effect("BOT_NAME", "DEFAULT_ITEM_CLASS")
def names_and_items_in_the_shell(lab: Lab) -> None:
    (lab.folder / "thing.py").write_text("class Thing(dict):\n    pass\n")
    given = ("-s", "BOT_NAME=me", "-s", "DEFAULT_ITEM_CLASS=thing.Thing")
    code = "(settings['BOT_NAME'], type(item).__name__)"
    done = scrapy("shell", "-c", code, *given, cwd=lab.folder)
    assert done.stdout == "('me', 'Thing')\n", done.stderr


@effect("NEWSPIDER_MODULE", "TEMPLATES_DIR")
def templates(lab: Lab) -> None:
    (lab.folder / "t/spiders").mkdir(parents=True)
    (lab.folder / "t/spiders/basic.tmpl").write_text("# by my template: $name\n")
    (lab.folder / "new").mkdir()
    (lab.folder / "new/__init__.py").write_text("")
    given = ("-s", "NEWSPIDER_MODULE=new", "-s", "TEMPLATES_DIR=t")
    scrapy("genspider", "one", "example.com", *given, cwd=lab.folder)
    assert (lab.folder / "new/one.py").read_text() == "# by my template: one\n"


@effect("SPIDER_CONTRACTS", "SPIDER_CONTRACTS_BASE")
def contracts(lab: Lab) -> None:
    (lab.folder / "contracted.py").write_text(
        "import scrapy\nfrom scrapy.contracts import Contract\n\n\n"
        "class Loud(Contract):\n    name = 'loud'\n\n"
        "    def pre_process(self, response):\n        print('checked', response.status)\n\n\n"
        "class Checked(scrapy.Spider):\n    name = 'checked'\n\n    def parse(self, response):\n"
        f'        """@url {lab.server.url()}\n        @loud\n        """\n'
    )
    given = ("-s", "SPIDER_MODULES=contracted", "-s", 'SPIDER_CONTRACTS={"contracted.Loud": 10}')
    done = scrapy("check", *given, cwd=lab.folder)
    assert done.stdout == "checked 200\n", done.stderr
    done = scrapy("check", *given, "-s", "SPIDER_CONTRACTS_BASE={}", cwd=lab.folder)
    assert "checked" not in done.stdout


# --- requests and responses


@effect("DEFAULT_REQUEST_HEADERS", "USER_AGENT")
def headers(lab: Lab) -> None:
    lab.crawl('DEFAULT_REQUEST_HEADERS={"X-Env": "staging"}', "USER_AGENT=me/1 (+http://me)")
    assert lab.headers("x-env") == {"staging"}
    assert lab.headers("user-agent") == {"me/1 (+http://me)"}


@effect("COMPRESSION_ENABLED")
def compression(lab: Lab) -> None:
    lab.crawl("COMPRESSION_ENABLED=False")
    assert lab.headers("accept-encoding") == {None}
    lab.crawl()
    assert "gzip" in str(lab.headers("accept-encoding"))


@effect("COOKIES_ENABLED", "COOKIES_DEBUG")
def cookies(lab: Lab) -> None:
    lab.crawl(follow=True)
    assert lab.headers("cookie") == {None}
    done = lab.crawl("COOKIES_ENABLED=True", "COOKIES_DEBUG=1", follow=True, level="DEBUG")
    assert "session=secret" in lab.headers("cookie")
    assert "Received cookies from" in done.log


@effect("REFERER_ENABLED", "REFERRER_POLICY", "REFERRER_POLICIES")
def referer(lab: Lab) -> None:
    lab.crawl(follow=True)
    assert lab.headers("referer") == {None}
    lab.crawl("REFERER_ENABLED=True", follow=True)
    assert lab.server.url() in lab.headers("referer")
    policy = ("REFERER_ENABLED=True", "REFERRER_POLICY=none")
    before = len(lab.server.log())
    own = 'REFERRER_POLICIES={"none": "scrapy.spidermiddlewares.referer.NoReferrerPolicy"}'
    lab.crawl(*policy, own, follow=True)
    assert all("referer" not in entry["headers"] for entry in lab.server.log()[before:])


@effect("REDIRECT_ENABLED", "REDIRECT_MAX_TIMES", "REDIRECT_PRIORITY_ADJUST")
def redirects(lab: Lab) -> None:
    assert [item["status"] for item in lab.crawl(url="/old").items] == [301]
    on = ("REDIRECT_ENABLED=True", "REFERER_ENABLED=True", "REDIRECT_PRIORITY_ADJUST=5")
    followed = lab.crawl(*on, url="/old")
    assert followed.items == [{"url": lab.server.url("/target"), "status": 200}]
    none = lab.crawl(*on, "REDIRECT_MAX_TIMES=0", url="/old")
    assert none.items == []


@effect("METAREFRESH_ENABLED", "METAREFRESH_IGNORE_TAGS", "METAREFRESH_MAXDELAY")
def meta_refresh(lab: Lab) -> None:
    on = ("METAREFRESH_ENABLED=True", "REDIRECT_ENABLED=True", "REFERER_ENABLED=True")
    assert [item["url"] for item in lab.crawl(url="/refresh").items] == [lab.server.url("/refresh")]
    assert lab.crawl(*on, url="/refresh").items[0]["url"] == lab.server.url("/target")
    path = "/refresh-noscript"
    assert lab.crawl(*on, url=path).items[0]["url"] == lab.server.url(path)
    heeded = lab.crawl(*on, "METAREFRESH_IGNORE_TAGS=[]", url=path)
    assert heeded.items[0]["url"] == lab.server.url("/a")
    never = lab.crawl(*on, "METAREFRESH_MAXDELAY=-1", url="/refresh")
    assert never.items[0]["url"] == lab.server.url("/refresh")


@effect("HTTPERROR_ALLOW_ALL", "HTTPERROR_ALLOWED_CODES")
def http_errors(lab: Lab) -> None:
    strict = "HTTPERROR_ALLOW_ALL=False"
    assert [item["status"] for item in lab.crawl(url="/gone").items] == [404]
    assert lab.crawl(strict, url="/gone").items == []
    allowed = lab.crawl(strict, "HTTPERROR_ALLOWED_CODES=404", url="/gone")
    assert [item["status"] for item in allowed.items] == [404]
    # A SiteSpider has a page of it in any case; its callback is called as the setting says.
    for given, notes in (((), 1), ((strict,), 0), ((strict, "HTTPERROR_ALLOWED_CODES=404"), 1)):
        # The seed could not be fetched: exit status 1.
        items = lab.crawl(*given, spider="noted", url="/gone", fails=True).items
        assert len([item for item in items if "note" in item]) == notes
        assert len([item for item in items if "url" in item]) == 1


@effect(
    *("RETRY_ENABLED", "RETRY_TIMES", "RETRY_HTTP_CODES", "RETRY_EXCEPTIONS"),
    "RETRY_GIVE_UP_LOG_LEVEL",
)
def retries(lab: Lab) -> None:
    lab.crawl("RETRY_TIMES=1", url="/broken")
    assert lab.paths()["/broken"] == 2
    lab.crawl("RETRY_ENABLED=False", url="/broken")
    assert lab.paths()["/broken"] == 3
    done = lab.crawl("RETRY_HTTP_CODES=404", "RETRY_GIVE_UP_LOG_LEVEL=ERROR", url="/gone")
    assert lab.paths()["/gone"] == 3
    assert re.search(r"ERROR: Gave up retrying <GET \S+/gone>", done.log)
    lab.crawl("RETRY_EXCEPTIONS=builtins.KeyError", url="/cut")
    assert lab.paths()["/cut"] == 1


@effect("DOWNLOAD_MAXSIZE", "DOWNLOAD_WARNSIZE")
def sizes(lab: Lab) -> None:
    assert lab.crawl("DOWNLOAD_MAXSIZE=1000", url="/big").items == []
    assert "more than the download warn size" in lab.crawl("DOWNLOAD_WARNSIZE=1000", url="/big").log


@effect("DOWNLOAD_FAIL_ON_DATALOSS")
def data_loss(lab: Lab) -> None:
    assert lab.crawl("RETRY_ENABLED=no", url="/cut").items == []
    kept = lab.crawl("DOWNLOAD_FAIL_ON_DATALOSS=False", url="/cut")
    assert [item["status"] for item in kept.items] == [200]


@effect("DOWNLOAD_TIMEOUT")
def timeout(lab: Lab) -> None:
    lab.server.set({"pages": {"/": {"hang": True}}})
    done = lab.crawl("DOWNLOAD_TIMEOUT=0.2", "RETRY_TIMES=0", "ROBOTSTXT_OBEY=no")
    assert done.items == []
    kind = "scrapy.exceptions.DownloadTimeoutError"
    assert done.stat(f"downloader/exception_type_count/{kind}") == "1"


@effect("CONCURRENT_REQUESTS")
def in_flight_in_all(lab: Lab) -> None:
    lab.server.set({**SITE, "random_delay": [0.05, 0.05]})
    lab.crawl("CONCURRENT_REQUESTS=1", "CONCURRENT_REQUESTS_PER_DOMAIN=4", follow=True)
    assert lab.server.max_in_flight() == 1


@effect("HTTPAUTH_USER", "HTTPAUTH_PASS", "HTTPAUTH_DOMAIN")
def password(lab: Lab) -> None:
    lab.crawl("HTTPAUTH_USER=me", "HTTPAUTH_PASS=pw", spider="site")
    assert lab.headers("authorization") == {"Basic bWU6cHc="}
    before = len(lab.server.log())
    lab.crawl("HTTPAUTH_USER=me", "HTTPAUTH_DOMAIN=http://other.example", spider="site")
    assert all("authorization" not in entry["headers"] for entry in lab.server.log()[before:])


class Secure(ThreadingHTTPServer):
    """A server of another kind: TLS, and who has called."""

    def __init__(self, folder: Path, **versions: ssl.TLSVersion) -> None:
        self.callers: list[str] = []
        super().__init__(("127.0.0.1", 0), Answer)
        pem, _ = self_signed(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        for name, version in versions.items():
            setattr(context, name, version)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away: that is what they are here for."""


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Secure)
        self.server.callers.append(self.client_address[0])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@effect(
    *("DOWNLOAD_VERIFY_CERTIFICATES", "DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION"),
    *("DOWNLOADER_CLIENT_TLS_CIPHERS", "DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING"),
    "DOWNLOAD_BIND_ADDRESS",
)
def tls(lab: Lab) -> None:
    words = [
        *("crawl", "plain", "-O", "items.jsonl", "-s", "ROBOTSTXT_OBEY=no"),
        *("-s", "SPIDER_MODULES=acme", "-s", "RETRY_ENABLED=no", "-L", "DEBUG"),
    ]

    def fetched(server: Secure, *settings: str) -> list[str]:
        before = len(server.callers)
        given = [word for pair in settings for word in ("-s", pair)]
        done = scrapy(*words, "-a", f"url={server.url}", *given, cwd=lab.folder)
        logs.append(done.stderr)
        return server.callers[before:]

    logs: list[str] = []
    loose = "DOWNLOAD_VERIFY_CERTIFICATES=no"
    with Secure(lab.folder, maximum_version=ssl.TLSVersion.TLSv1_2) as old:
        assert fetched(old) == []
        assert fetched(old, loose) == ["127.0.0.1"]
        assert fetched(old, loose, "DOWNLOAD_BIND_ADDRESS=127.0.0.5") == ["127.0.0.5"]
        assert fetched(old, loose, "DOWNLOAD_TLS_MIN_VERSION=TLSv1.3") == []
        # The key is an elliptic one: no cipher for another kind fits.
        assert fetched(old, loose, "DOWNLOADER_CLIENT_TLS_CIPHERS=ECDHE-RSA-AES128-SHA") == []
        logs.clear()
        fetched(old, loose, "DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING=True")
        assert "TLSv1.2" in logs[0]
        old.shutdown()
    with Secure(lab.folder, minimum_version=ssl.TLSVersion.TLSv1_3) as new:
        assert fetched(new, loose, "DOWNLOAD_TLS_MAX_VERSION=TLSv1.2") == []
        assert fetched(new, loose) == ["127.0.0.1"]
        new.shutdown()


@effect("HTTPPROXY_ENABLED", "HTTPPROXY_AUTH_ENCODING")
def proxy(lab: Lab) -> None:
    # The site plays the proxy: it gets a request for another host, with a password.
    proxy_url = f"http://us%C3%A9r:pw@127.0.0.1:{lab.server.port}"
    url = "http://127.0.0.9:9/"
    words = ("crawl", "plain", "-a", f"url={url}", "-O", "items.jsonl", "-s", "ROBOTSTXT_OBEY=no")
    given = ("-s", "SPIDER_MODULES=acme", "-s", "HTTPPROXY_AUTH_ENCODING=utf-8")
    scrapy(*words, *given, cwd=lab.folder, timeout=60, http_proxy=proxy_url)
    (entry,) = lab.server.log()
    assert entry["host"] == "127.0.0.9:9"
    assert entry["headers"]["proxy-authorization"] == "Basic dXPDqXI6cHc="
    off = ("-s", "HTTPPROXY_ENABLED=False", "-s", "RETRY_TIMES=0")
    scrapy(*words, *given, *off, cwd=lab.folder, timeout=60, http_proxy=proxy_url)
    assert len(lab.server.log()) == 1


@effect("ROBOTSTXT_OBEY", "ROBOTSTXT_PARSER", "ROBOTSTXT_USER_AGENT")
def robots(lab: Lab) -> None:
    lab.crawl(url="/private")
    assert "/private" not in lab.paths()
    lab.crawl("ROBOTSTXT_OBEY=False", url="/private")
    assert "/private" in lab.paths()
    lab.crawl("ROBOTSTXT_PARSER=acme.Robots", url="/a")
    assert "/a" not in lab.paths()
    lab.server.set({**SITE, "robots": "User-agent: special\nDisallow: /b\n"})
    lab.crawl("ROBOTSTXT_USER_AGENT=special", url="/b")
    assert "/b" not in lab.paths()


@effect(
    *("HTTPCACHE_ENABLED", "HTTPCACHE_DIR", "HTTPCACHE_IGNORE_MISSING", "HTTPCACHE_POLICY"),
    *("HTTPCACHE_STORAGE", "HTTPCACHE_GZIP", "HTTPCACHE_IGNORE_HTTP_CODES"),
    *("HTTPCACHE_IGNORE_SCHEMES", "HTTPCACHE_EXPIRATION_SECS", "HTTPCACHE_DBM_MODULE"),
    *("HTTPCACHE_ALWAYS_STORE", "HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS"),
)
def http_cache(lab: Lab) -> None:
    on = ("HTTPCACHE_ENABLED=1", "ROBOTSTXT_OBEY=no")

    def fetched(*settings: str, url: str = "/a") -> int:
        before = len(lab.server.log())
        lab.crawl(*on, *settings, url=url)
        return len(lab.server.log()) - before

    # Outside a project's folder, too.
    assert [fetched(), fetched()] == [1, 0]
    assert (lab.folder / ".scrapy/httpcache/plain").is_dir()
    assert [fetched("HTTPCACHE_DIR=mine", "HTTPCACHE_GZIP=1") for _ in "12"] == [1, 0]
    dbm = ("HTTPCACHE_STORAGE=scrapy.extensions.httpcache.DbmCacheStorage", "HTTPCACHE_DIR=dbm")
    assert [fetched(*dbm, "HTTPCACHE_DBM_MODULE=dbm.dumb") for _ in "12"] == [1, 0]
    assert list((lab.folder / ".scrapy/dbm").glob("*.dat"))
    assert fetched("HTTPCACHE_IGNORE_MISSING=1", url="/b") == 0
    codes = "HTTPCACHE_IGNORE_HTTP_CODES=404"
    assert [fetched(codes, url="/gone") for _ in "12"] == [1, 1]
    schemes = "HTTPCACHE_IGNORE_SCHEMES=http"
    assert [fetched(schemes, url="/b") for _ in "12"] == [1, 1]
    for kept in (lab.folder / ".scrapy/httpcache").rglob("pickled_meta"):
        os.utime(kept, (0, 0))
    assert [fetched("HTTPCACHE_EXPIRATION_SECS=3600") for _ in "12"] == [1, 0]
    policy = ("HTTPCACHE_POLICY=scrapy.extensions.httpcache.RFC2616Policy", "HTTPCACHE_DIR=rfc")
    # With a lifetime from the server it is fresh; without one it is not.
    assert [fetched(*policy, url="/") for _ in "12"] == [1, 0]
    ignored = "HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS=max-age"
    assert fetched(*policy, ignored, "HTTPCACHE_ALWAYS_STORE=1", url="/") == 1


# --- which URLs


@effect("DEPTH_LIMIT", "DEPTH_STATS_VERBOSE", "URLLENGTH_LIMIT")
def depth_and_length(lab: Lab) -> None:
    done = lab.crawl("DEPTH_LIMIT=1", "DEPTH_STATS_VERBOSE=1", "URLLENGTH_LIMIT=80", follow=True)
    assert not {"/a/1", f"/{'x' * 100}"} & set(lab.paths())
    assert done.stat("request_depth_count/1") is not None


@effect("CRAWLSPIDER_FOLLOW_LINKS")
def follow_links(lab: Lab) -> None:
    lab.crawl("CRAWLSPIDER_FOLLOW_LINKS=False", spider="follow")
    assert set(lab.paths()) == {"/"}
    lab.crawl("CRAWLSPIDER_FOLLOW_LINKS=False", spider="site")
    assert set(lab.paths()) == {"/"}
    lab.crawl(spider="follow")
    assert "/a/1" in lab.paths()


# --- ends


@effect("CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_ITEMCOUNT", "CLOSESPIDER_ERRORCOUNT")
def counts_that_end_a_crawl(lab: Lab) -> None:
    for name, spider in (("PAGE", "plain"), ("ITEM", "plain"), ("ERROR", "fails")):
        done = lab.crawl(f"CLOSESPIDER_{name}COUNT=1", spider=spider, follow=True)
        assert done.stat("finish_reason") == f"'closespider_{name.lower()}count'"


@effect("CLOSESPIDER_PAGECOUNT_NO_ITEM", "CLOSESPIDER_TIMEOUT_NO_ITEM", "CLOSESPIDER_TIMEOUT")
def ends_without_items(lab: Lab) -> None:
    drop = 'ITEM_PIPELINES={"acme.Drop": 1}'
    done = lab.crawl("CLOSESPIDER_PAGECOUNT_NO_ITEM=2", drop, follow=True)
    assert done.stat("finish_reason") == "'closespider_pagecount_no_item'"
    lab.server.set({"pages": {"/": {"links": ["/hang"]}, "/hang": {"hang": True}}})
    done = lab.crawl("CLOSESPIDER_TIMEOUT=1", follow=True)
    assert done.stat("finish_reason") == "'closespider_timeout'"
    done = lab.crawl("CLOSESPIDER_TIMEOUT_NO_ITEM=1", drop, "DOWNLOAD_TIMEOUT=4", follow=True)
    assert done.stat("finish_reason") == "'closespider_timeout_no_item'"


@effect(
    *("MEMUSAGE_ENABLED", "MEMUSAGE_LIMIT_MB", "MEMUSAGE_WARNING_MB"),
    *("MEMUSAGE_CHECK_INTERVAL_SECONDS", "MEMDEBUG_ENABLED"),
)
def memory(lab: Lab) -> None:
    lab.server.set({"pages": {"/": {"links": ["/hang"]}, "/hang": {"hang": True}}})
    often = "MEMUSAGE_CHECK_INTERVAL_SECONDS=0.1"
    done = lab.crawl("MEMUSAGE_LIMIT_MB=1", often, "DOWNLOAD_TIMEOUT=3", follow=True)
    assert done.stat("finish_reason") == "'memusage_exceeded'"
    done = lab.crawl("MEMUSAGE_WARNING_MB=1", often, "DOWNLOAD_TIMEOUT=1", follow=True)
    assert done.stat("memusage/warning_reached") == "1"
    done = lab.crawl("MEMUSAGE_ENABLED=False", "MEMDEBUG_ENABLED=1", url="/nothing")
    assert done.stat("memusage/startup") is None
    assert done.stat("memdebug/gc_garbage_count") is not None


# --- the log


@effect("LOG_LEVEL", "LOG_FORMAT", "LOG_DATEFORMAT", "LOG_SHORT_NAMES", "LOG_VERSIONS")
def log_lines(lab: Lab) -> None:
    assert lab.crawl(level="ERROR").log == ""
    lines = ("LOG_FORMAT=%(asctime)s|%(name)s|%(message)s", "LOG_DATEFORMAT=then")
    log = lab.crawl(*lines, "LOG_VERSIONS=Twisted").log
    assert "then|scrapy.core.engine|Spider opened" in log
    assert "'Twisted':" in log
    assert "'lxml':" not in log
    log = lab.crawl(*lines, "LOG_SHORT_NAMES=1").log
    assert "then|scrapy|Spider opened" in log


@effect("LOG_FILE", "LOG_FILE_APPEND", "LOG_ENCODING", "LOG_ENABLED", "LOG_STDOUT")
def log_files(lab: Lab) -> None:
    to_file = ("LOG_FILE=crawl.log", "LOG_ENCODING=utf-16", "LOG_FORMAT=ü %(message)s")
    for _ in "12":
        assert lab.crawl(*to_file).log == ""
    text = (lab.folder / "crawl.log").read_bytes().decode("utf-16", "replace")
    assert text.count("ü Spider opened") == 2
    lab.crawl("LOG_FILE=crawl.log", "LOG_FILE_APPEND=False", "LOG_STDOUT=1", spider="prints")
    text = (lab.folder / "crawl.log").read_text()
    assert text.count("Spider opened") == 1
    assert "[stdout] INFO: printed by the spider" in text
    assert lab.crawl("LOG_ENABLED=False").log == ""


@effect("LOG_COLOR", "LOG_INSTALL_ROOT_HANDLER")
def log_handlers(lab: Lab) -> None:
    # Colours are for terminals.
    assert "\x1b" not in lab.crawl("LOG_COLOR=True").log
    assert "Spider opened" not in lab.crawl("LOG_INSTALL_ROOT_HANDLER=False").log


@effect("LOG_FORMATTER", "DEFAULT_DROPITEM_LOG_LEVEL")
def log_words(lab: Lab) -> None:
    drop = 'ITEM_PIPELINES={"acme.Drop": 1}'
    assert "dropped in my words" in lab.crawl("LOG_FORMATTER=acme.Words", drop).log
    assert re.search("WARNING: Dropped: not wanted", lab.crawl(drop).log)
    assert re.search("ERROR: Dropped: not", lab.crawl(drop, "DEFAULT_DROPITEM_LOG_LEVEL=ERROR").log)


@effect("LOGSTATS_INTERVAL")
def log_stats(lab: Lab) -> None:
    assert re.search(r"Crawled \d+ pages \(at", lab.crawl("LOGSTATS_INTERVAL=1").log)
    assert "Crawled 0 pages (at" not in lab.crawl("LOGSTATS_INTERVAL=0").log


@effect("PERIODIC_LOG_DELTA", "PERIODIC_LOG_STATS", "PERIODIC_LOG_TIMING_ENABLED")
def periodic_log(lab: Lab) -> None:
    extension = 'EXTENSIONS={"scrapy.extensions.periodic_log.PeriodicLog": 0}'
    every = ("PERIODIC_LOG_STATS=True", "PERIODIC_LOG_DELTA=True")
    log = lab.crawl(extension, *every, "PERIODIC_LOG_TIMING_ENABLED=True").log
    for part in ('"stats":', '"delta":', '"time":'):
        assert part in log


@effect("WARN_ON_GENERATOR_RETURN_VALUE")
def generators(lab: Lab) -> None:
    said = 'includes a "return" statement with a value'
    assert said in lab.crawl("WARN_ON_GENERATOR_RETURN_VALUE=True", spider="returns").log
    assert said not in lab.crawl(spider="returns").log


# --- the process


@effect("ASYNCIO_EVENT_LOOP", "TWISTED_REACTOR", "TWISTED_REACTOR_ENABLED", "FORCE_CRAWLER_PROCESS")
def reactors(lab: Lab) -> None:
    loop = lab.crawl("ASYNCIO_EVENT_LOOP=asyncio.SelectorEventLoop", spider="loop")
    assert loop.items == [{"loop": "_UnixSelectorEventLoop"}]
    assert len(lab.crawl("TWISTED_REACTOR_ENABLED=False", url="/a").items) == 1
    forced = lab.crawl("FORCE_CRAWLER_PROCESS=True", url="/a", level="DEBUG")
    assert len(forced.items) == 1
    done = lab.crawl("TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor", fails=True)
    assert "is not asyncio's, which the frontier needs" in done.log


@effect("REACTOR_THREADPOOL_MAXSIZE", "CONCURRENT_ITEMS", "SCRAPER_SLOT_MAX_ACTIVE_SIZE")
def sizes_of_the_process(lab: Lab) -> None:
    (lab.folder / "seen.py").write_text(
        "from twisted.internet import reactor\n\n\nclass Seen:\n"
        "    def __init__(self, crawler):\n        self.crawler = crawler\n\n"
        "    @classmethod\n    def from_crawler(cls, crawler):\n        return cls(crawler)\n\n"
        "    def process_item(self, item):\n        scraper = self.crawler.engine.scraper\n"
        "        return {\n"
        "            'threads': reactor.getThreadPool().max,\n"
        "            'items': scraper.concurrent_items,\n"
        "            'size': scraper.slot.max_active_size,\n        }\n"
    )
    done = lab.crawl(
        *("REACTOR_THREADPOOL_MAXSIZE=3", "CONCURRENT_ITEMS=4", "SCRAPER_SLOT_MAX_ACTIVE_SIZE=5"),
        'ITEM_PIPELINES={"seen.Seen": 1}',
    )
    assert done.items == [{"threads": 3, "items": 4, "size": 5}]


@effect(
    *("TELNETCONSOLE_ENABLED", "TELNETCONSOLE_HOST", "TELNETCONSOLE_PORT"),
    *("TELNETCONSOLE_USERNAME", "TELNETCONSOLE_PASSWORD"),
)
def telnet(lab: Lab) -> None:
    assert "Telnet" not in lab.crawl().log
    on = ("TELNETCONSOLE_ENABLED=True", "TELNETCONSOLE_HOST=127.0.0.7", "TELNETCONSOLE_PORT=0")
    log = lab.crawl(*on).log
    assert "Telnet console listening on 127.0.0.7:" in log
    assert "Telnet Password:" in log
    named = lab.crawl(*on, "TELNETCONSOLE_USERNAME=me", "TELNETCONSOLE_PASSWORD=hidden").log
    assert "Telnet Password:" not in named


@effect(
    *("REMOTE_CONTROL_ENABLED", "REMOTE_CONTROL_JOBS_DIR", "REMOTE_CONTROL_TIMEOUT_DEFAULT"),
    *("REMOTE_CONTROL_TIMEOUT_MAX", "REMOTE_CONTROL_OUTPUT_MAX_BYTES"),
    "REMOTE_CONTROL_TRACEBACK_MAX_BYTES",
)
def remote_control(lab: Lab) -> None:
    assert "Remote control" not in lab.crawl().log
    on = ("REMOTE_CONTROL_ENABLED=True", "REMOTE_CONTROL_JOBS_DIR=jobs")
    assert "Remote control HTTP server listening on port" in lab.crawl(*on).log
    assert (lab.folder / "jobs").is_dir()
    # Scrapy would log a warning and leave the server off.
    refused = lab.crawl(*on, "REMOTE_CONTROL_TIMEOUT_MAX=0", fails=True)
    assert "error: REMOTE_CONTROL_TIMEOUT_MAX: 0 is no time at all" in refused.log


@effect("JOBDIR")
def state_of_a_spider(lab: Lab) -> None:
    job = "JOBDIR=job"
    assert lab.crawl(job, spider="stateful", url="/a").items == [{"count": 1}]
    items = lab.crawl(job, spider="stateful", url="/b").items
    assert {"count": 2} in items


# --- outputs


@effect("FEED_EXPORTERS", "FEED_EXPORTERS_BASE", "FEED_STORAGES", "FEED_STORAGES_BASE", "FEEDS")
def feed_components(lab: Lab) -> None:
    feeds = 'FEEDS={"mine.x": {"format": "pickle"}, "kept:x": {"format": "mine"}}'
    (lab.folder / "kept.py").write_text(
        "import shutil\n\nfrom scrapy.extensions.feedexport import BlockingFeedStorage\n\n\n"
        "class Kept(BlockingFeedStorage):\n"
        "    def __init__(self, uri, *, feed_options=None):\n        pass\n\n"
        "    def _store_in_thread(self, file):\n        file.seek(0)\n"
        "        with open('kept.txt', 'wb') as copy:\n"
        "            shutil.copyfileobj(file, copy)\n"
    )
    words = ("crawl", "plain", "-a", f"url={lab.server.url('/a')}", "-s", "SPIDER_MODULES=acme")
    given = (
        *("-s", feeds, "-s", 'FEED_EXPORTERS={"mine": "scrapy.exporters.JsonLinesItemExporter"}'),
        *("-s", 'FEED_STORAGES={"kept": "kept.Kept"}'),
    )
    done = scrapy(*words, *given, cwd=lab.folder)
    assert done.returncode == 0, done.stderr
    assert (lab.folder / "mine.x").stat().st_size
    item = {"url": lab.server.url("/a"), "status": 200}
    assert json.loads((lab.folder / "kept.txt").read_text()) == item
    off = scrapy(*words, *given, "-s", "FEED_EXPORTERS_BASE={}", cwd=lab.folder)
    assert "its format 'pickle' is not one of" in off.stderr


@effect(
    *("FEED_EXPORT_ENCODING", "FEED_EXPORT_FIELDS", "FEED_EXPORT_INDENT", "FEED_STORE_EMPTY"),
    *("FEED_URI_PARAMS", "FEED_EXPORT_BATCH_ITEM_COUNT", "FEED_TEMPDIR"),
)
def feed_settings(lab: Lab) -> None:
    (lab.folder / "params.py").write_text(
        "def more(params, spider):\n    return {**params, 'who': 'me'}\n"
    )
    feeds = 'FEEDS={"%(who)s-%(batch_id)d.json": {"format": "json"}}'
    words = ("crawl", "site", "-a", f"seed={lab.server.url('/a')}", "-a", "depth=0")
    given = (
        *("-s", feeds, "-s", "FEED_EXPORT_FIELDS=title,url", "-s", "FEED_EXPORT_INDENT=2"),
        *("-s", "FEED_URI_PARAMS=params.more", "-s", "FEED_EXPORT_BATCH_ITEM_COUNT=1"),
        *("-s", "FEED_EXPORT_ENCODING=ascii", "-s", "FEED_STORE_EMPTY=False"),
    )
    done = scrapy(*words, *given, cwd=lab.folder)
    assert done.returncode == 0, done.stderr
    text = (lab.folder / "me-1.json").read_text()
    assert list(json.loads(text)["pages"][0]) == ["title", "url"]
    assert '\n    {\n      "title": ' in text
    nothing = 'FEEDS={"no.jsonl": {"format": "jsonl", "item_classes": ["scrapy.Item"]}}'
    scrapy(*words, "-s", nothing, "-s", "FEED_STORE_EMPTY=False", cwd=lab.folder)
    assert not (lab.folder / "no.jsonl").exists()


@effect(
    *("FILES_STORE", "FILES_STORE_S3_ACL", "FILES_STORE_GCS_ACL"),
    *("IMAGES_STORE", "IMAGES_STORE_S3_ACL", "IMAGES_STORE_GCS_ACL"),
    *("FILES_EXPIRES", "FILES_RESULT_FIELD", "FILES_URLS_FIELD", "MEDIA_ALLOW_REDIRECTS"),
)
def media(lab: Lab) -> None:
    (lab.folder / "files.py").write_text(
        "import scrapy\n\n\nclass Files(scrapy.Spider):\n    name = 'files'\n\n"
        f"    start_urls = ['{lab.server.url()}']\n\n"
        "    def parse(self, response):\n        yield {'file_urls': [response.urljoin('/big')]}\n"
    )
    pipelines = 'ITEM_PIPELINES={"scrapy.pipelines.files.FilesPipeline": 1}'
    given = (
        "-s",
        "SPIDER_MODULES=crawlproject.spiders,files",
        "-s",
        pipelines,
        "-s",
        "FILES_STORE=stored",
    )
    done = scrapy("crawl", "files", *given, "-O", "items.jsonl", cwd=lab.folder)
    assert done.returncode == 0, done.stderr
    (item,) = (json.loads(line) for line in (lab.folder / "items.jsonl").read_text().splitlines())
    stored = lab.folder / "stored" / item["files"][0]["path"]
    assert stored.read_text() == "y" * 5000
    assert lab.paths()["/big"] == 1
    words = ("crawl", "site", "-a", f"seed={lab.server.url('/pictures')}", *given)
    fields = ("-s", "FILES_URLS_FIELD=images", "-s", "FILES_RESULT_FIELD=files_kept")
    more = ("-s", "FILES_EXPIRES=0", "-s", "MEDIA_ALLOW_REDIRECTS=yes")
    # What is stored is fresh for 90 days, by default; then it needs no redirect either.
    both = ["/big", "/old"]
    for added, names, times in (((), ["/big"], 1), (more, both, 2), ((), both, 2)):
        done = scrapy(*words, *fields, *added, "-O", "pages.json", cwd=lab.folder)
        assert done.returncode == 0, done.stderr
        (page,) = json.loads((lab.folder / "pages.json").read_text())["pages"]
        kept = [one["url"] for one in page["files_kept"]]
        assert kept == [lab.server.url(name) for name in names]
        assert lab.paths()["/big"] == times


@pytest.mark.parametrize("name", EFFECTS)
def test_the_setting_has_its_effect(lab: Lab, name: str) -> None:
    EFFECTS[name](lab)


# Shown by other tests, which have this word in them.
ELSEWHERE = {
    "AUTOTHROTTLE_ENABLED": ("tests/politeness/test_gate.py", "AUTOTHROTTLE_ENABLED"),
    "AUTOTHROTTLE_DEBUG": ("tests/politeness/test_throttle.py", "AUTOTHROTTLE_DEBUG"),
    "AUTOTHROTTLE_START_DELAY": ("tests/politeness/test_gate.py", "AUTOTHROTTLE_START_DELAY"),
    "AUTOTHROTTLE_MAX_DELAY": ("tests/politeness/test_throttle.py", "maximum"),
    "AUTOTHROTTLE_TARGET_CONCURRENCY": ("tests/politeness/test_throttle.py", "target"),
    "CONCURRENT_REQUESTS_PER_DOMAIN": ("tests/politeness/test_gate.py", "concurrency"),
    "DOWNLOAD_DELAY": ("tests/politeness/test_gate.py", "delay"),
    "DOWNLOAD_SLOTS": ("tests/politeness", "DOWNLOAD_SLOTS"),
    "DOWNLOAD_DELAY_JITTER": ("tests/politeness", "JITTER"),
    "RANDOMIZE_DOWNLOAD_DELAY": ("tests/politeness", "RANDOMIZE_DOWNLOAD_DELAY"),
    "DNSCACHE_ENABLED": ("tests/fetching/test_resolver.py", "looked_up_ahead"),
    "DNSCACHE_SIZE": ("tests/fetching/test_resolver.py", "cache_is_bounded"),
    "DNS_TIMEOUT": ("tests/hostile/test_name_servers.py", "DNS_TIMEOUT"),
    "DEPTH_PRIORITY": ("tests/scope/test_depth.py", "DEPTH_PRIORITY"),
    "EDITOR": ("tests/commands/test_scrapys.py", "EDITOR"),
}
# Read by parts of Scrapy that are in their place here, and that need a service of somebody else's,
# or Pillow.
BY_SCRAPY = {
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"),
    *("AWS_REGION_NAME", "AWS_MAX_POOL_CONNECTIONS", "AWS_USE_SSL", "AWS_VERIFY"),
    *("FEED_STORAGE_FTP_ACTIVE", "FEED_STORAGE_GCS_ACL", "FEED_STORAGE_S3_ACL", "GCS_PROJECT_ID"),
    *("FTP_PASSIVE_MODE", "FTP_PASSWORD", "FTP_USER"),
    *("HTTP2_MAX_FRAME_SIZE", "HTTPX_HTTP2_ENABLED"),
    *("MAIL_FROM", "MAIL_HOST", "MAIL_PASS", "MAIL_PORT", "MAIL_SSL", "MAIL_TLS", "MAIL_USER"),
    *("MEMUSAGE_NOTIFY_MAIL", "STATSMAILER_RCPTS"),
    *(name for name in MEDIA if name.startswith("IMAGES_")),
}


def test_every_setting_of_scrapy_is_in_the_table_once() -> None:
    names = [name for cell, _ in ROWS for name in re.findall(r"`(\w+)`", cell)]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert set(names) == SETTINGS
    assert set(STATUS.values()) == {"works", "differs", "refused"}


def test_what_is_not_refused_has_an_effect_that_is_tested() -> None:
    tested = {*COVERED, *ELSEWHERE, *BY_SCRAPY}
    assert {name for name, status in STATUS.items() if status != "refused"} == tested
    for name, (path, word) in ELSEWHERE.items():
        place = PROJECT / path
        files = [place] if place.is_file() else list(place.glob("test_*.py"))
        assert any(word in file.read_text() for file in files), (name, path)


def test_storages_of_scrapy_are_in_their_place() -> None:
    storages = project_settings().getwithbase("FEED_STORAGES")
    wanted = {"s3": S3FeedStorage, "gs": GCSFeedStorage, "ftp": FTPFeedStorage}
    for scheme, storage in wanted.items():
        assert storages[scheme] == f"{storage.__module__}.{storage.__qualname__}"


def test_what_is_refused_is_what_the_table_says() -> None:
    # Scrapy has no default for what it has removed.
    documented = {name for name, status in STATUS.items() if status == "refused"}
    assert REFUSED.keys() - {"CONCURRENT_REQUESTS_PER_IP"} == documented
    assert "CONCURRENT_REQUESTS_PER_IP" in TABLE


@pytest.mark.parametrize("spider", ["site", "plain"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_setting_ends_with_one_line(lab: Lab, name: str, spider: str) -> None:
    value = "False" if name == "DOWNLOADER_STATS" else "7"
    done = lab.crawl(f"{name}={value}", spider=spider, level="WARNING", fails=True)
    assert done.result.returncode == 2
    assert done.log == f"scrapy crawl: error: {name}: has no effect here: {REFUSED[name]}\n"
    assert lab.server.log() == []


# What is no switch, no number, and no port.
TYPED = [
    name
    for name in sorted(SETTINGS - REFUSED.keys())
    if isinstance(getattr(default_settings, name, None), bool | int | float)
]


OF_OTHER_FORMS = (
    *("TELNETCONSOLE_PORT", "LOG_VERSIONS", "RETRY_GIVE_UP_LOG_LEVEL", "HTTPPROXY_AUTH_ENCODING"),
    *("DEFAULT_DROPITEM_LOG_LEVEL", "PERIODIC_LOG_STATS", "PERIODIC_LOG_DELTA"),
)


@pytest.mark.parametrize("name", [*TYPED, *OF_OTHER_FORMS])
def test_a_value_of_the_wrong_type_is_refused(name: str) -> None:
    def check() -> None:
        settings = project_settings({name: "[0]"})
        check_set_up(settings)
        check_all(settings)

    with pytest.raises(BadArgument, match=rf"^{name}: '\[0\]' is not "):
        check()


# What names a class, or classes by something else.
NAMING = [
    name
    for name in sorted(SETTINGS - REFUSED.keys())
    if re.fullmatch(r"[a-z_]+(\.\w+)+", str(getattr(default_settings, name, None)))
]
NAMING_MANY = [
    name
    for name in sorted(SETTINGS - REFUSED.keys() - {"FEEDS", "DOWNLOAD_SLOTS"})
    if isinstance(getattr(default_settings, name, None), dict) and name != "DEFAULT_REQUEST_HEADERS"
]
ON: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "REFERER_ENABLED": True, "FEEDS": {"a.jl": {}}}
BY_NAME = ("DOWNLOAD_HANDLERS", "FEED_EXPORTERS", "FEED_STORAGES", "REFERRER_POLICIES")


@pytest.mark.parametrize("name", [*NAMING, *NAMING_MANY, "FEED_URI_PARAMS", "RETRY_EXCEPTIONS"])
def test_what_names_a_class_that_is_not_there_is_refused(name: str) -> None:
    value: Any = "no.x"
    if name in NAMING_MANY:
        value = {"a": "no.x"} if name.removesuffix("_BASE") in BY_NAME else {"no.x": 1}
    settings = project_settings({**ON, name: value})

    def check() -> None:
        check_set_up(settings)
        check_components(settings)

    with pytest.raises(BadArgument, match=rf"^{name}: (can't load )?'no.x'"):
        check()


@pytest.mark.parametrize("value", ['{"a"', "[url", 3])
def test_fields_in_broken_json_are_refused(value: object) -> None:
    with pytest.raises(BadArgument, match=r"^FEED_EXPORT_FIELDS: .* is not "):
        check_all(project_settings({"FEED_EXPORT_FIELDS": value}))


def test_settings_that_a_version_of_scrapy_does_not_have_are_not_checked() -> None:
    settings = project_settings({})
    for name in ("REMOTE_CONTROL_TIMEOUT_MAX", "LOG_COLOR"):
        settings.delete(name)
    check_set_up(settings)
    check_all(settings)


@pytest.mark.parametrize("name", ["LOG_ENABLED", "DEPTH_PRIORITY", "TELNETCONSOLE_PORT"])
def test_a_value_of_the_wrong_type_ends_with_one_line(lab: Lab, name: str) -> None:
    done = lab.crawl(f"{name}=[0]", level="WARNING", fails=True)
    assert done.result.returncode == 2
    assert re.fullmatch(rf"scrapy crawl: error: {name}: '\[0\]' is not .*\n", done.log)
    assert lab.server.log() == []


def test_switches_are_said_by_yes_and_no_too(lab: Lab) -> None:
    done = lab.crawl("LOG_SHORT_NAMES=yes", "LOG_COLOR=off", "MEMUSAGE_ENABLED=no", url="/a")
    assert "[scrapy]" in done.log
    assert lab.paths()["/a"] == 1


def test_a_refused_setting_at_its_default_is_no_error(lab: Lab) -> None:
    lab.crawl(f"SCHEDULER_PRIORITY_QUEUE={default_settings.SCHEDULER_PRIORITY_QUEUE}", url="/a")
    assert lab.paths()["/a"] == 1
