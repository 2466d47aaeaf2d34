"""Seeds that are fed through Redis, as with scrapy-redis, to our own spider."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from tests.crawling import scrapy
from tests.fleet import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SPEC: dict[str, Any] = {
    "pages": {
        "/": {"links": ["/a"]},
        "/a": {"links": ["http://127.0.0.2:{port}/"]},
        "/fed": {"links": ["/behind"]},
        "/behind": {},
        "/other": {},
    }
}
KEY = "site:start_urls"


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_what_is_fed_is_crawled_and_taken_out(
    site: SiteFactory, tmp_path: Path, redis_url: str, kind: str
) -> None:
    server = site(SPEC)
    client = Redis.from_url(redis_url)
    feeding: dict[str, Callable[[str], object]] = {
        "list": lambda value: client.lpush(KEY, value),
        "set": lambda value: client.sadd(KEY, value),
        "zset": lambda value: client.zadd(KEY, {value: 1}),
    }
    setting = {"list": [], "set": ["AS_SET"], "zset": ["AS_ZSET"]}[kind]
    options = [word for one in setting for word in ("-s", f"REDIS_START_URLS_{one}=True")]
    feeding[kind](f"{server.url('/fed')}?utm_source=x")
    feeding[kind](json.dumps({"url": server.url("/other"), "meta": {"why": "tested"}}))
    seed = ("-a", f"seed={server.url()}")
    with Fleet(tmp_path, redis_url, *seed, "-s", f"REDIS_START_URLS_KEY={KEY}", *options) as fleet:
        fleet.start(2)
        assert fleet.finish() == [0, 0], fleet.errors()
    (text,) = fleet.outputs()
    pages = {page["url"]: page["depth"] for page in json.loads(text)["pages"]}
    depths = {"/": 0, "/a": 1, "/fed": 0, "/behind": 1, "/other": 0}
    assert {server.url(path): depth for path, depth in depths.items()} == pages
    assert not client.exists(KEY)


def test_workers_without_a_seed_wait_for_one_until_they_are_stopped(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(SPEC)
    client = Redis.from_url(redis_url)
    # An internal address is crawled where a first seed is one.
    options = ("-a", f"seed={server.url('/other')}", "-s", "FRONTIER_WAIT_FOR_SEEDS=True")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(2)
        # Who comes after a stop goes on with the crawl.
        fleet.until_joined(2)
        fleet.until(lambda: "/other" in server.paths())
        client.lpush(KEY, server.url("/fed"))
        fleet.until(lambda: "/behind" in server.paths())
        client.hset("crawl:{fleet}:meta", "stop", "stopped")
        fleet.finish()
    assert "/a" not in server.paths()


def test_what_is_no_seed_for_this_spider_is_moved_aside(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(SPEC)
    client = Redis.from_url(redis_url)
    for value in ("ftp://example.com/", "no url", '{"url": 7}', b"\xff\xfe", '{"broken'):
        client.lpush(KEY, value)
    options = ("-a", f"seed={server.url()}", "-s", f"REDIS_START_URLS_KEY={KEY}")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start()
        assert fleet.finish() == [0], fleet.errors()
        assert "no seed" in fleet.errors()
        assert "Traceback" not in fleet.errors()
    assert not client.exists(KEY)
    assert client.llen(f"{KEY}:malformed") == 5


def test_a_crawl_that_is_not_fed_needs_a_seed(redis_url: str, tmp_path: Path) -> None:
    done = scrapy("crawl", "site", "-s", f"REDIS_URL={redis_url}", cwd=tmp_path)
    assert done.returncode == 2
    assert "seed: missing" in done.stderr


def test_a_crawl_of_another_spider_is_refused(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(SPEC)
    named = ("-s", f"REDIS_URL={redis_url}", "-s", "FRONTIER_CRAWL_ID=fleet")
    seed = ("-a", f"seed={server.url()}")
    assert scrapy("crawl", "site", *seed, *named, cwd=tmp_path).returncode == 0
    (tmp_path / "acme.py").write_text(
        "from crawlproject.spiders.site import SiteSpider\n\n\n"
        'class Other(SiteSpider):\n    name = "other"\n'
    )
    asked = len(server.log())
    done = scrapy("runspider", "acme.py", *seed, *named, cwd=tmp_path)
    assert done.returncode == 2
    assert "is that of the spider 'site': give 'other' one of its own" in done.stderr
    assert len(server.log()) == asked


def test_a_name_that_somebody_else_uses_for_another_key_is_one_line(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(SPEC)
    Redis.from_url(redis_url).set("crawl:{fleet}:meta", "not ours")
    named = ("-s", f"REDIS_URL={redis_url}", "-s", "FRONTIER_CRAWL_ID=fleet")
    done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *named, cwd=tmp_path)
    assert done.returncode == 2
    assert "scrapy crawl: error: redis://" in done.stderr
    assert "Traceback" not in done.stderr
    assert server.log() == []
