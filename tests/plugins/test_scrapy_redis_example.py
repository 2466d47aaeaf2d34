"""A project as scrapy-redis' own example, with one line added: ``ADDONS``.

It has a CrawlSpider that follows categories, a RedisSpider and a RedisCrawlSpider that are fed
through Redis, a pipeline of its own that stamps items, and scrapy-redis' pipeline that stores
them. All else in its settings is as scrapy-redis wants it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.killing import kill
from tests.own_redis import OwnRedis, own_redis
from tests.stock import ADDONS, StockProject, ended
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

__all__ = ["own_redis"]

DELAY = 0.05

SPIDERS = """
from scrapy.core.engine import ExecutionEngine
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

# Scrapy looks for idle spiders every five seconds, which is too long for a test.
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.1


class Directory(CrawlSpider):
    name = "directory"
    rules = [
        Rule(
            LinkExtractor(restrict_css=(".top-cat", ".sub-cat")),
            callback="parse_directory",
            follow=True,
        ),
    ]

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [site]

    def parse_directory(self, response):
        for entry in response.css(".entry"):
            yield {
                "name": entry.css(".title::text").extract_first(),
                "link": entry.css("a::attr(href)").extract_first(),
            }


class Fed(RedisSpider):
    name = "fed"
    redis_key = "fed:start_urls"

    def __init__(self, *args, **kwargs):
        # An iterator, as the example has it.
        self.allowed_domains = filter(None, kwargs.pop("domain", "").split(","))
        super().__init__(*args, **kwargs)

    def parse(self, response):
        return {
            "name": response.css("title::text").extract_first(),
            "url": response.url,
            "job": response.meta.get("job"),
        }


class FedCrawler(RedisCrawlSpider):
    name = "fed_crawler"
    redis_key = "fed_crawler:start_urls"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, *args, **kwargs):
        # Not an iterator: Scrapy 2.19 reads it more than once, and would follow no link.
        self.allowed_domains = kwargs.pop("domain", "").split(",")
        super().__init__(*args, **kwargs)

    def parse_page(self, response):
        return {"name": response.css("title::text").extract_first(), "url": response.url}
"""
PIPELINES = """
from datetime import datetime, timezone


class Stamp:
    def process_item(self, item, spider):
        item["crawled"] = datetime.now(timezone.utc)
        item["spider"] = spider.name
        return item
"""


@pytest.fixture(params=[True, False], ids=["fastpath", "plain"])
def example(tmp_path: Path, own_redis: OwnRedis, request: pytest.FixtureRequest) -> StockProject:
    project = StockProject(tmp_path)
    project.write(
        SPIDERS,
        ADDONS=ADDONS,
        FASTPATH_ENABLED=request.param,
        USER_AGENT="an example (+https://example.com)",
        DUPEFILTER_CLASS="scrapy_redis.dupefilter.RFPDupeFilter",
        SCHEDULER="scrapy_redis.scheduler.Scheduler",
        SCHEDULER_PERSIST=True,
        ITEM_PIPELINES={
            "shop.pipelines.Stamp": 300,
            "scrapy_redis.pipelines.RedisPipeline": 400,
        },
        LOG_LEVEL="DEBUG",
        DOWNLOAD_DELAY=DELAY,
        REDIS_URL=own_redis.url,
    )
    (tmp_path / "shop/pipelines.py").write_text(PIPELINES)
    return project


def items_of(redis: OwnRedis, spider: str) -> list[dict[str, Any]]:
    return list(map(json.loads, redis.client.lrange(f"{spider}:items", 0, -1)))


def entry(name: str) -> str:
    return (
        f'<div class="entry"><a href="http://{name}.example/"><b class="title">{name}</b></a></div>'
    )


def category(name: str, *links: str) -> str:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f'<div class="{name}">{anchors}</div>'


def test_a_crawl_spider_follows_categories_and_its_items_are_in_redis(
    site: SiteFactory, own_redis: OwnRedis, example: StockProject
) -> None:
    server = site(
        {
            "pages": {
                "/": {"body": category("top-cat", "/arts", "/games") + category("menu", "/about")},
                "/arts": {"body": category("sub-cat", "/arts/film", "/") + entry("louvre")},
                "/arts/film": {"body": entry("nosferatu") + entry("metropolis")},
                "/games": {"body": category("sub-cat", "/arts/film") + entry("chess")},
            }
        }
    )
    example.crawl("-a", f"site={server.url()}", spider="directory")
    assert sorted(server.paths()) == ["/", "/arts", "/arts/film", "/games"]
    assert server.max_in_flight() == 1
    assert min(server.gaps()) >= DELAY
    items = items_of(own_redis, "directory")
    assert {item["name"] for item in items} == {"louvre", "nosferatu", "metropolis", "chess"}
    assert {item["spider"] for item in items} == {"directory"}
    # Persistent: what is known is not asked for again.
    example.crawl("-a", f"site={server.url()}", spider="directory")
    assert len(server.paths()) == 4
    assert len(items_of(own_redis, "directory")) == len(items)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("lpush", ()),
        ("sadd", ("-s", "REDIS_START_URLS_AS_SET=True")),
        ("zadd", ("-s", "REDIS_START_URLS_AS_ZSET=True")),
    ],
)
def test_a_redis_spider_is_fed_as_before(
    site: SiteFactory,
    own_redis: OwnRedis,
    example: StockProject,
    command: str,
    options: tuple[str, ...],
) -> None:
    server = site({"pages": {"/a": {"title": "A"}, "/b": {"title": "B"}, "/c": {"title": "C"}}})
    with_meta = json.dumps({"url": server.url("/b"), "meta": {"job": 7}})
    seeds = [server.url("/a"), with_meta]
    late = json.dumps({"url": server.url("/c"), "page": "2"})
    put = getattr(own_redis.client, command)

    def feed(*values: str) -> None:
        if command == "zadd":
            put("fed:start_urls", dict.fromkeys(values, 1))
        else:
            put("fed:start_urls", *values)

    feed(*seeds)
    process = example.start("-a", "domain=127.0.0.1", *options, spider="fed")
    try:
        wait_for(lambda: len(items_of(own_redis, "fed")) == 2)
        # It waits for more, for ever.
        feed(late)
        wait_for(lambda: len(items_of(own_redis, "fed")) == 3)
        process.terminate()
        log = ended(process)
    finally:
        kill(process)
    assert "Traceback" not in log
    assert sorted(server.paths()) == ["/a", "/b", "/c?page=2"]
    jobs = {item["name"]: item["job"] for item in items_of(own_redis, "fed")}
    assert jobs == {"A": None, "B": 7, "C": None}
    assert not own_redis.client.exists("fed:start_urls")


def test_a_redis_crawl_spider_follows_links_of_what_it_is_fed(
    site: SiteFactory, own_redis: OwnRedis, example: StockProject
) -> None:
    server = site(
        {
            "pages": {
                "/": {"title": "Home", "links": ["/a", "http://127.0.0.2:{port}/offsite"]},
                "/a": {"title": "A", "links": ["/b", "/"]},
                "/b": {"title": "B"},
            }
        }
    )
    own_redis.client.lpush("fed_crawler:start_urls", server.url())
    idle = ("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=1")
    example.crawl("-a", "domain=127.0.0.1", *idle, spider="fed_crawler")
    # A seed is not filtered, so that a link to it is a request of its own; as in scrapy-redis.
    assert set(server.paths()) == {"/", "/a", "/b"}
    names = {item["name"] for item in items_of(own_redis, "fed_crawler")}
    assert {"A", "B"} <= names
