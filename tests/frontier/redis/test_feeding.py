"""On a real server."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from redis import Redis
from scrapy.settings import Settings

from crawlproject.errors import BadArgument
from crawlproject.frontier.redis.feeding import MOST_MALFORMED, Feed, batch_size
from tests.own_redis import OwnRedis, own_redis

__all__ = ["own_redis"]

KEY = "shop:start_urls"
A, B, C = (f"http://{host}.example/" for host in "abc")
AS_SET, AS_SORTED = {"REDIS_START_URLS_AS_SET": True}, {"REDIS_START_URLS_AS_ZSET": True}


def feed_of(server: OwnRedis, settings: dict[str, Any] | None = None) -> Feed:
    return Feed(server.client, Settings(settings or {}), "shop")


def put(server: OwnRedis, kind: str, *values: str | bytes) -> None:
    """As somebody feeds; sorted sets with the first highest."""
    if kind == "list":
        server.client.rpush(KEY, *values)
    elif kind == "set":
        server.client.sadd(KEY, *values)
    else:
        server.client.zadd(KEY, {value: -rank for rank, value in enumerate(values)})


KINDS = [("list", {}), ("set", AS_SET), ("zset", AS_SORTED)]


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=[kind for kind, _ in KINDS])
def test_seeds_stay_until_they_are_removed(
    own_redis: OwnRedis, kind: str, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    feed = feed_of(own_redis, settings)
    assert feed.peek(10) == []
    put(own_redis, kind, A, json.dumps({"url": B, "meta": {"job": 7}}), C)
    seen = feed.peek(10)
    assert sorted(fed.url for fed in seen) == [A, B, C]
    assert next(fed.meta for fed in seen if fed.url == B) == {"job": 7}
    # Somebody who is killed here finds them again.
    assert sorted(feed_of(own_redis, settings).peek(10)) == sorted(seen)
    # What comes meanwhile is not what was seen.
    more = [fed for fed in seen if fed.url != A]
    feed.remove(more)
    assert [fed.url for fed in feed.peek(10)] == [A]
    assert feed.waiting() == 1
    feed.remove(feed.peek(10))
    assert feed.waiting() == 0
    assert not own_redis.client.keys("*")
    assert caplog.records == []


def test_the_order_is_scrapy_rediss(own_redis: OwnRedis) -> None:
    own_redis.client.lpush(KEY, A, B, C)
    # From the head, where the last is.
    assert [fed.url for fed in feed_of(own_redis).peek(2)] == [C, B]
    own_redis.client.delete(KEY)
    own_redis.client.zadd(KEY, {A: 1, B: 5, C: 3})
    assert [fed.url for fed in feed_of(own_redis, AS_SORTED).peek(2)] == [B, C]


def test_the_same_seed_twice_in_a_list_is_two_and_new_ones_in_front_do_no_harm(
    own_redis: OwnRedis,
) -> None:
    own_redis.client.lpush(KEY, A, A, A, B)
    feed = feed_of(own_redis)
    seen = feed.peek(3)
    assert [fed.url for fed in seen] == [B, A, A]
    own_redis.client.lpush(KEY, C)
    feed.remove(seen)
    assert [fed.url for fed in feed.peek(10)] == [C, A]


@pytest.mark.parametrize(("kind", "settings"), KINDS, ids=[kind for kind, _ in KINDS])
def test_what_is_no_seed_is_counted_moved_aside_and_told_once(
    own_redis: OwnRedis, kind: str, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    bad = [b"no url", b"\xff\xfe", b'{"url"', b'{"u": 1}', b"7" * 10_000]
    put(own_redis, kind, *bad, A)
    feed = feed_of(own_redis, settings)
    # The good one is found behind them.
    seeds: list[str] = []
    while feed.waiting() and not seeds:
        seeds = [fed.url for fed in feed.peek(2)]
    feed.peek(10)
    assert seeds == [A]
    assert feed.malformed == len(bad)
    aside = own_redis.client.lrange(f"{KEY}:malformed", 0, -1)
    # A long one is cut.
    assert sorted(aside) == sorted(value[:4096] for value in bad)
    assert feed.waiting() == 1
    [record] = caplog.records
    assert f"{KEY}:malformed" in record.getMessage()


def test_no_more_is_kept_of_them_than_somebody_would_look_at(own_redis: OwnRedis) -> None:
    put(own_redis, "list", *(f"no seed {number}" for number in range(MOST_MALFORMED + 50)))
    feed = feed_of(own_redis)
    while feed.waiting():
        assert feed.peek(500) == []
    assert feed.malformed == MOST_MALFORMED + 50
    assert own_redis.client.llen(f"{KEY}:malformed") == MOST_MALFORMED


def test_the_type_of_the_key_decides_and_who_meant_another_is_told(
    own_redis: OwnRedis, caplog: pytest.LogCaptureFixture
) -> None:
    put(own_redis, "zset", A, B)
    feed = feed_of(own_redis, AS_SET)
    assert [fed.url for fed in feed.peek(10)] == [A, B]
    feed.remove(feed.peek(1))
    assert [fed.url for fed in feed.peek(10)] == [B]
    [record] = caplog.records
    assert "is a sorted set, not a set as the settings say" in record.getMessage()


def test_a_key_of_another_type_is_moved_away_and_can_be_fed_again(
    own_redis: OwnRedis, caplog: pytest.LogCaptureFixture
) -> None:
    own_redis.client.set(KEY, A)
    feed = feed_of(own_redis)
    assert feed.peek(10) == []
    assert own_redis.client.get(f"{KEY}:malformed:string") == A.encode()
    assert feed.malformed == 1
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "LPUSH" in record.getMessage()
    own_redis.client.lpush(KEY, B)
    assert [fed.url for fed in feed.peek(10)] == [B]


def test_a_key_that_changes_its_type_meanwhile_does_no_harm(own_redis: OwnRedis) -> None:
    put(own_redis, "list", A)
    feed = feed_of(own_redis)
    seen = feed.peek(10)
    own_redis.client.delete(KEY)
    put(own_redis, "set", A, B)
    feed.remove(seen)
    assert sorted(fed.url for fed in feed.peek(10)) == [A, B]


def test_a_client_that_decodes_is_no_trouble(own_redis: OwnRedis) -> None:
    put(own_redis, "list", b"\xff", A)
    client = Redis.from_url(own_redis.url, decode_responses=True)
    feed = Feed(client, Settings(), "shop")
    assert [fed.url for fed in feed.peek(10)] == [A]
    client.close()


def test_the_settings_are_scrapy_rediss(own_redis: OwnRedis) -> None:
    assert feed_of(own_redis).key == "shop:start_urls"
    assert feed_of(own_redis, {"REDIS_START_URLS_KEY": "in:%(name)s"}).key == "in:shop"
    own_redis.client.lpush(KEY, "http://a.example/ü".encode("latin-1"))
    [fed] = feed_of(own_redis, {"REDIS_ENCODING": "latin-1"}).peek(10)
    assert fed.url == "http://a.example/ü"
    assert batch_size(Settings({"CONCURRENT_REQUESTS": 9})) == 9
    assert batch_size(Settings({"REDIS_START_URLS_BATCH_SIZE": "5"})) == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_START_URLS_KEY", "%(spider)s:start_urls"),
        ("REDIS_START_URLS_KEY", "100%"),
        ("REDIS_START_URLS_KEY", " "),
        ("REDIS_ENCODING", "utf-9"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(own_redis: OwnRedis, name: str, value: str) -> None:
    with pytest.raises(BadArgument) as caught:
        feed_of(own_redis, {name: value})
    assert str(caught.value).startswith(f"{name}: {value!r} is ")
