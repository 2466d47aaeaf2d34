"""Spiders of scrapy-redis in another project with the add-on, on a real Redis."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.test import get_crawler
from scrapy_redis.spiders import RedisSpider

from crawlproject.frontier.redis.popping import guard
from tests.killing import kill
from tests.own_redis import OwnRedis, own_redis
from tests.stock import ADDONS, StockProject, ended
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

__all__ = ["own_redis"]

DELAY = 0.1
KEY = "shop:start_urls"

# Who finds out first that Redis is away: the spider, which is idle, or the worker, which is not.
AWAY = ("No seeds can be read from Redis now", "Redis can't be used")
BACK = ("Redis is back", "Redis can be used again")

# Scrapy looks for idle spiders every five seconds, which is too long for a test.
SPIDER = """
from scrapy.core.engine import ExecutionEngine
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1
"""
PLAIN = (
    SPIDER
    + """

class Shop(RedisSpider):
    name = "shop"

    def parse(self, response):
        yield {"path": "/" + response.url.split("/", 3)[3], "job": response.meta.get("job")}
        yield from response.follow_all(css="a")
"""
)
CRAWLING = (
    SPIDER
    + """

class Shop(RedisCrawlSpider):
    name = "shop"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response):
        yield {"path": "/" + response.url.split("/", 3)[3]}
"""
)


@pytest.fixture
def project(tmp_path: Path) -> StockProject:
    return StockProject(tmp_path)


def settings_for(server: OwnRedis, **more: Any) -> dict[str, Any]:
    """What a project has that uses scrapy-redis, and the add-on."""
    return {
        "ADDONS": ADDONS,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": server.url,
        "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
        **more,
    }


def put(client: Any, command: str, *values: str | bytes, key: str = KEY) -> None:
    if command == "zadd":
        client.zadd(key, {value: rank for rank, value in enumerate(values)})
    else:
        getattr(client, command)(key, *values)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("lpush", {}),
        ("sadd", {"REDIS_START_URLS_AS_SET": True}),
        ("zadd", {"REDIS_START_URLS_AS_ZSET": True, "REDIS_START_URLS_KEY": "in:%(name)s"}),
        # Whoever pushes decides, and not the setting.
        ("sadd", {}),
    ],
    ids=["list", "set", "sorted", "otherwise"],
)
def test_seeds_come_by_the_commands_of_scrapy_redis(
    site: SiteFactory,
    own_redis: OwnRedis,
    project: StockProject,
    tmp_path: Path,
    command: str,
    settings: dict[str, Any],
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}, "/b": {}, "/c": {}}})
    put(
        own_redis.client,
        command,
        server.url(),
        json.dumps({"url": server.url("/b"), "meta": {"job": 7}}),
        json.dumps({"url": server.url("/c"), "page": "3"}),
        key=settings.get("REDIS_START_URLS_KEY", KEY) % {"name": "shop"},
    )
    project.write(PLAIN, **settings_for(own_redis, **settings))
    log = project.crawl("-O", "items.json")
    assert sorted(server.paths()) == ["/", "/a", "/b", "/c?page=3"]
    items = json.loads((tmp_path / "items.json").read_text())
    assert {item["path"]: item["job"] for item in items} == {
        "/": None,
        "/a": None,
        "/b": 7,
        "/c?page=3": None,
    }
    # Neither they nor anything else of scrapy-redis' is there.
    keys = own_redis.client.keys("*")
    assert [key for key in keys if not key.startswith(b"crawl:{")] == []
    assert ("as the settings say" in log) is (command == "sadd" and not settings)


def test_a_crawl_spider_is_fed_while_it_runs_and_is_polite(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /no\n",
            "pages": {
                "/": {"links": ["/a", "/no", "/old"]},
                "/a": {"links": ["/"], "delay": 0.05},
                "/old": {"redirect": "/new"},
                "/new": {},
                "/later": {"links": ["/a", "/last"]},
                "/last": {},
            },
        }
    )
    project.write(
        CRAWLING,
        **settings_for(
            own_redis,
            ROBOTSTXT_OBEY=True,
            DOWNLOAD_DELAY=DELAY,
            MAX_IDLE_TIME_BEFORE_CLOSE=0,
            REDIS_START_URLS_BATCH_SIZE=1,
        ),
    )
    put(own_redis.client, "lpush", server.url())
    process = project.start()
    try:
        wait_for(lambda: "/new" in server.paths())
        put(own_redis.client, "lpush", server.url("/later"), server.url("/a?again"))
        wait_for(lambda: {"/last", "/a?again"} <= set(server.paths()))
        # It waits for more, for ever.
        process.terminate()
        log = ended(process)
    finally:
        kill(process)
    assert "Traceback" not in log
    # One at a time, as the setting says.
    assert log.count(f"Read 1 requests from '{KEY}'") == 3
    asked = Counter(server.paths())
    # A seed is not filtered, as scrapy-redis has it, but what it links to is.
    assert asked == {
        **dict.fromkeys(["/a", "/old", "/new", "/later", "/last", "/a?again"], 1),
        "/": asked["/"],
    }
    assert server.max_in_flight() == 1
    assert min(server.gaps()) >= DELAY


def test_what_is_no_seed_costs_itself_alone(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    server = site({"pages": {"/": {}, "/b": {}}})
    bad = [
        b"123",
        b"[1]",
        b"\xff\xfe",
        b"no url",
        b'{"page": 3}',
        b'{"url": 5}',
        b'{"url": "x:", "meta": 1}',
    ]
    put(own_redis.client, "lpush", server.url(), *bad, server.url("/b"))
    # What only the frontier says of a request is no way to break it.
    put(own_redis.client, "lpush", json.dumps({"url": server.url("/c"), "meta": {"lease": 1}}))
    project.write(PLAIN, **settings_for(own_redis))
    log = project.crawl()
    assert sorted(server.paths()) == ["/", "/b", "/c"]
    assert sorted(own_redis.client.lrange(f"{KEY}:malformed", 0, -1)) == sorted(bad)
    assert f"'frontier/malformed_seeds': {len(bad)}," in log
    assert log.count("is no seed and was moved to") == 1


def test_a_redis_that_is_away_for_a_while_ends_nothing(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {}, "/later": {}}})
    put(own_redis.client, "lpush", server.url())
    # It waits for more for ever, however long this machine takes to stop and start a Redis.
    project.write(
        PLAIN, **settings_for(own_redis, LOG_FILE="log.txt", MAX_IDLE_TIME_BEFORE_CLOSE=0)
    )
    log = tmp_path / "log.txt"

    def says(words: Sequence[str]) -> bool:
        return any(word in log.read_text() for word in words)

    process = project.start()
    try:
        wait_for(lambda: server.paths() == ["/"])
        own_redis.stop()
        wait_for(lambda: says(AWAY))
        own_redis.start()
        put(own_redis.client, "lpush", server.url("/later"))
        wait_for(lambda: server.paths() == ["/", "/later"])
        process.terminate()
        ended(process)
    finally:
        kill(process)
    assert server.paths() == ["/", "/later"]
    assert says(BACK)
    assert "Traceback" not in log.read_text()


def test_a_spider_that_ends_when_there_are_no_seeds_waits_while_nobody_knows(
    own_redis: OwnRedis,
) -> None:
    crawler = get_crawler(RedisSpider, {"REDIS_URL": own_redis.url})
    spider: Any = crawler._create_spider("shop")
    guard(spider, crawler, lambda: None)
    assert spider.count_size(KEY) == 0
    own_redis.stop()
    assert spider.count_size(KEY) > 0
    assert spider.fetch_data(KEY, 1) == []
    own_redis.start()
    assert spider.count_size(KEY) == 0


def test_what_was_fed_before_a_kill_is_crawled_after_it(
    site: SiteFactory, own_redis: OwnRedis, project: StockProject
) -> None:
    pages = {f"/{number}": {"delay": 0.02} for number in range(20)}
    server = site({"pages": pages})
    put(own_redis.client, "lpush", *map(server.url, pages))
    project.write(
        PLAIN, **settings_for(own_redis, JOBDIR="job", DOWNLOAD_DELAY=0.02, CONCURRENT_REQUESTS=20)
    )
    process = project.start()
    try:
        wait_for(lambda: len(server.paths()) >= 3)
    finally:
        kill(process)
    # All were taken out of Redis at once.
    assert not own_redis.client.exists(KEY)
    project.crawl()
    assert set(server.paths()) == set(pages)
