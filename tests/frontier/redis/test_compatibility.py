"""Settings and methods of scrapy-redis: each works, works differently, or is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scrapy_redis
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler
from scrapy_redis.scheduler import Scheduler

from crawlproject.errors import BadArgument
from crawlproject.frontier.redis.compatibility import (
    check_scrapy_redis,
    crawl_name,
    guard_redis_spider,
    idle_seconds,
)
from crawlproject.frontier.scheduler import FrontierScheduler
from tests.crawling import PROJECT
from tests.killing import kill
from tests.own_redis import OwnRedis, own_redis
from tests.stock import ADDONS, StockProject, ended
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

__all__ = ["own_redis"]

DOCUMENTED = (PROJECT / "docs" / "extending.md").read_text()
QUICK = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False}

SPIDER = """
from scrapy import Spider
from scrapy.core.engine import ExecutionEngine

# Scrapy looks for idle spiders every five seconds, which is too long for a test.
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1


class Shop(Spider):
    name = "shop"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response):
        yield {"path": "/" + response.url.split("/", 3)[3]}
        yield from response.follow_all(css="a")
"""


def settings_of_scrapy_redis() -> set[str]:
    """Every name that scrapy-redis' source reads from the settings, or documents."""
    names: set[str] = set()
    for path in Path(scrapy_redis.__file__).parent.glob("*.py"):
        text = path.read_text()
        names |= set(re.findall(r"settings\.get\w*\(\s*\"([A-Z_]+)\"", text))
        names |= set(re.findall(r"settings\[\"([A-Z_]+)\"\]", text))
        names |= set(re.findall(r"\"((?:REDIS|SCHEDULER|DUPEFILTER)_[A-Z_]+)\"", text))
        names |= set(re.findall(r"^ {4}([A-Z_]{5,}) : ", text, re.MULTILINE))
    return names


def test_every_setting_of_scrapy_redis_is_in_the_documentation() -> None:
    names = settings_of_scrapy_redis()
    assert {"SCHEDULER_IDLE_BEFORE_CLOSE", "REDIS_DECODE_RESPONSES", "STATS_KEY"} <= names
    # Not settings, but constants of its module defaults.
    names -= {"REDIS_CLS", "REDIS_CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS"}
    assert {name for name in names if f"`{name}" not in DOCUMENTED} == set()


def test_every_method_of_its_scheduler_is_there_or_documented_as_missing() -> None:
    methods = {name for name, value in vars(Scheduler).items() if callable(value)}
    methods |= {name for name, value in vars(Scheduler).items() if isinstance(value, classmethod)}
    public = {name for name in methods if not name.startswith("_")} | {"__len__"}
    assert {name for name in public if not hasattr(FrontierScheduler, name)} == {"from_settings"}
    assert {name for name in public if f"`{name}`" not in DOCUMENTED} == set()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.SpiderPriorityQueue"},
        {"SCHEDULER_QUEUE_CLASS": scrapy_redis.scheduler.defaults.SCHEDULER_QUEUE_CLASS},
        {"SCHEDULER_QUEUE_KEY": scrapy_redis.scheduler.defaults.SCHEDULER_QUEUE_KEY},
        {"SCHEDULER_DUPEFILTER_KEY": scrapy_redis.scheduler.defaults.SCHEDULER_DUPEFILTER_KEY},
        {"SCHEDULER_DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter"},
        {"SCHEDULER_SERIALIZER": "json"},
        {"SCHEDULER_SERIALIZER": json},
        {"SCHEDULER_IDLE_BEFORE_CLOSE": "5"},
    ],
)
def test_what_a_project_of_scrapy_redis_usually_has_is_accepted(settings: dict[str, Any]) -> None:
    check_scrapy_redis(Settings(settings))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"SCHEDULER_QUEUE_CLASS": "shop.Queue"}, "orders URLs by depth, then by Request.priority"),
        ({"SCHEDULER_QUEUE_CLASS": Scheduler}, "'scrapy_redis.scheduler.Scheduler' is not used"),
        ({"SCHEDULER_QUEUE_KEY": "%(name)s"}, "%(spider)s for the spider's name"),
        ({"SCHEDULER_QUEUE_KEY": "{a}"}, "is no name of a crawl"),
        ({"SCHEDULER_DUPEFILTER_KEY": "seen"}, "would share known URLs between spiders"),
        ({"SCHEDULER_DUPEFILTER_CLASS": "shop.Filter"}, "set DUPEFILTER_CLASS to 'shop.Filter'"),
        ({"SCHEDULER_SERIALIZER": "scrapy_redis.picklecompat"}, "requests are kept as JSON"),
        ({"SCHEDULER_IDLE_BEFORE_CLOSE": -1}, "whole number of seconds, 0 or more, and is -1"),
        ({"SCHEDULER_IDLE_BEFORE_CLOSE": "soon"}, "0 or more, and is 'soon'"),
        ({"REDIS_PASSWORD": "s3cret"}, "put it in REDIS_PARAMS, as in {'password': …}"),
    ],
)
def test_what_can_not_be_honoured_is_refused_with_one_line(
    settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadArgument) as raised:
        check_scrapy_redis(Settings(settings))
    message = str(raised.value)
    assert message.startswith(f"{next(iter(settings))}: ")
    assert problem in message
    assert "\n" not in message
    assert "s3cret" not in message


def test_the_key_of_its_queue_names_the_crawl() -> None:
    assert crawl_name(Settings({"SCHEDULER_QUEUE_KEY": "%(spider)s:requests"}), "a") == "a:requests"
    assert crawl_name(Settings(), "a") is None
    assert idle_seconds(Settings({"SCHEDULER_IDLE_BEFORE_CLOSE": None})) == 0


def test_a_spider_that_reads_no_seeds_is_told_that_its_idle_time_has_no_effect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawler = get_crawler(settings_dict={"MAX_IDLE_TIME_BEFORE_CLOSE": 5})
    guard_redis_spider(crawler, lambda: None)
    assert "for this spider set SCHEDULER_IDLE_BEFORE_CLOSE" in caplog.text


@pytest.fixture
def project(tmp_path: Path) -> StockProject:
    return StockProject(tmp_path)


def keys_of(redis: OwnRedis) -> set[str]:
    """The names of the crawls in a Redis."""
    return {key.decode().split("}")[0].removeprefix("crawl:{") for key in redis.client.keys("*")}


def test_scheduler_persist_queue_key_and_flush_on_start_are_obeyed(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    project.write(
        SPIDER,
        ADDONS=ADDONS,
        SCHEDULER="scrapy_redis.scheduler.Scheduler",
        SCHEDULER_QUEUE_KEY="%(spider)s:requests",
        # Where it is, in three settings.
        REDIS_HOST="127.0.0.1",
        REDIS_PORT=int(own_redis.url.rpartition(":")[2].partition("/")[0]),
        REDIS_DB=0,
        **QUICK,
    )
    options = ("-a", f"site={server.url()}")
    project.crawl(*options)
    assert server.paths() == ["/", "/a"]
    assert {name.partition("|")[0] for name in keys_of(own_redis)} == {"shop:requests"}
    # A finished crawl is kept: its URLs are known.
    project.crawl(*options)
    assert server.paths() == ["/", "/a"]
    # Flushed, everything is new, and not kept it leaves nothing behind.
    flushed = ("-s", "SCHEDULER_FLUSH_ON_START=True", "-s", "SCHEDULER_PERSIST=False")
    project.crawl(*options, *flushed)
    assert server.paths() == ["/", "/a", "/", "/a"]
    assert keys_of(own_redis) == set()


def test_another_spider_has_no_place_in_a_shared_crawl(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    options = ("-a", f"site={server.url()}", "-s", "FRONTIER_CRAWL_ID=jobs")
    kept = {"ADDONS": ADDONS, "REDIS_URL": own_redis.url, **QUICK}
    project.write(SPIDER, **kept)
    # robots.txt, and the first page.
    project.crawl(*options, "-s", "CLOSESPIDER_PAGECOUNT=2")
    assert server.paths() == ["/"]
    project.write(SPIDER.replace('"shop"', '"other"'), **kept)
    log = ended(project.start(*options, spider="other"), exit_code=1)
    assert "is that of the spider 'shop': give 'other' one of its own" in log
    assert "Traceback" not in log
    assert server.paths() == ["/"]
    # What was queued still is, for the spider that can make it.
    project.write(SPIDER, **kept)
    project.crawl(*options)
    assert server.paths() == ["/", "/a"]


FLUSHING = (
    SPIDER
    + """
        if len(self.crawler.engine.scheduler) == 0 and self.crawler.engine.scheduler:
            self.crawler.engine.scheduler.flush()
"""
)


def test_flush_removes_a_shared_crawl_when_its_last_worker_leaves(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    project.write(FLUSHING, ADDONS=ADDONS, REDIS_URL=own_redis.url, **QUICK)
    project.crawl("-a", f"site={server.url()}")
    assert server.paths() == ["/", "/a"]
    assert keys_of(own_redis) == set()


def test_a_crawl_directory_that_is_flushed_says_that_it_can_not_be(
    site: SiteFactory, project: StockProject
) -> None:
    server = site({"pages": {"/": {}}})
    project.write(FLUSHING, ADDONS=ADDONS, **QUICK)
    log = ended(project.start("-a", f"site={server.url()}", "-s", "JOBDIR=job"))
    assert "can't be flushed while it is in use: delete it afterwards" in log


FED = SPIDER.replace(
    "    def parse",
    '''    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from scrapy import signals

        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self):
        """Somebody hands in a late request."""
        from pathlib import Path

        from scrapy import Request

        if Path("late").exists():
            self.crawler.engine.crawl(Request(Path("late").read_text()))
            Path("late").unlink()
        Path("idle").touch()

    def parse''',
)


@pytest.mark.parametrize("is_shared", [True, False], ids=["redis", "directory"])
def test_an_idle_crawl_waits_for_more_before_it_closes(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject, tmp_path: Path, is_shared: bool
) -> None:
    server = site({"pages": {"/": {}, "/late": {}}})
    where: dict[str, Any] = {"REDIS_URL": own_redis.url} if is_shared else {}
    # Longer than the test takes: it ends by a signal, unless it has ended before.
    project.write(FED, ADDONS=ADDONS, SCHEDULER_IDLE_BEFORE_CLOSE=600, **where, **QUICK)
    process = project.start("-a", f"site={server.url()}")
    try:
        wait_for((tmp_path / "idle").exists)
        (tmp_path / "late").write_text(server.url("/late"))
        wait_for(lambda: server.paths() == ["/", "/late"])
        process.terminate()
        log = ended(process)
    finally:
        kill(process)
    assert "Closing spider (shutdown)" in log
    # It ends by itself, when its time is up.
    project.crawl("-a", f"site={server.url()}", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
