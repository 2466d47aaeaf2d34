"""Whoever can write to Redis: a value that is not ours is moved aside, and never run."""

from __future__ import annotations

import json
import pickle
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider

from crawlproject.frontier import requests
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.redis.blocks import packed
from crawlproject.frontier.redis.keys import prefix_of
from crawlproject.frontier.redis.tidying import type_of
from tests.fleet import PREFIX, Fleet
from tests.frontier.engines import joined
from tests.redis_server import connected
from tests.spiders.test_same_answer import GOLDEN, SPEC, comparable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redis import Redis

    from crawlproject.frontier.redis.binary import Server
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CONTRACT = prefix_of("contract")


class Trap:
    """Runs when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("RUN",)


VALUES = {
    "garbage": b"\xff\x00 garbage",
    "other JSON": packed({"a": [1, "b"]}),
    "huge number": b"9" * 400,
    "no number": b"nan",
    "pickle": pickle.dumps(Trap()),
}

# In the middle of a crawl these are there, and what they have is needed, or made again.
KEYS = (
    *("meta", "notes", "workers", "committer", "inbox", "items", "hosts", "ready", "q:host"),
    *("h:host", "e:0", "x:0", "l:{worker}", "s:{worker}", "n:{worker}", "tries", "due", "due_at"),
    *("hungry", "aside", "answers", "answered", "levels", "levels:1", "beyond", "budgets"),
    *("sources", "pages:0", "links:0", "contents:0", "things:0", "starts", "robots:host"),
)
# Nobody can do without.
NEEDED = ("inbox", "items", "ready", "q:host", "h:host", "tries", "due", "hosts", "x:0", "pages:0")


def spoil(client: Redis, key: str, value: bytes) -> None:
    """Put a value into each place of a key that has the right type."""
    name = CONTRACT + key
    kind = type_of(key)
    if kind == "string":
        client.set(name, value)
    elif kind == "hash":
        for field in client.hkeys(name) or [b"1"]:
            client.hset(name, field, value)
        client.hset(name, value, value)
    elif kind == "list":
        client.rpush(name, value)
        client.lpush(name, value)
    elif kind == "set":
        client.sadd(name, value)
    else:
        client.zadd(name, {value: 0.0})


def crawl_on(frontier: Any) -> int:
    """Take and finish what can be had, for a while: how many URLs."""
    finished = 0
    for now in range(100):
        lease = frontier.take(float(now))
        if lease is None:
            # What was moved aside is made again by the committer.
            frontier.commit()
            if frontier.failure is not None or frontier.exhausted():
                break
            continue
        frontier.landed(lease, float(now))
        lease.links = [f"host/{finished}/a", f"host/{finished}/b"] if lease.depth < 2 else []
        frontier.finish(lease)
        finished += 1
    return finished


def begun(url: str) -> Any:
    frontier = joined(url)
    frontier.admit([Candidate("host/0"), Candidate("host/1"), Candidate("host/2")])
    lease = frontier.take(0.0)
    frontier.landed(lease, 0.0)
    lease.links = ["host/0/x", "host/0/y"]
    frontier.finish(lease)
    return frontier


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_another_type_is_moved_aside_and_the_crawl_goes_on(
    redis_server: Server, key: str
) -> None:
    with closing(begun(redis_server.url)) as frontier, connected(redis_server) as client:
        name = CONTRACT + key.format(worker=frontier.session.worker)
        client.delete(name)
        if type_of(key) == "list":
            client.hset(name, "a", "b")
        else:
            client.rpush(name, "what", "is", "this")
        crawl_on(frontier)
        if frontier.failure is not None:
            assert "\n" not in frontier.failure
        else:
            assert frontier.exhausted()
            frontier.read()
        if key not in ("meta", "e:0", "workers", "committer"):
            assert frontier.failure is None
        if key in NEEDED:
            assert client.exists(f"{CONTRACT}aside:{key}")
            assert int(client.hget(f"{CONTRACT}meta", "malformed") or 0) == 1


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("key", KEYS)
def test_a_value_that_is_not_ours_ends_nothing_or_ends_it_with_one_line(
    redis_server: Server, key: str, value: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(begun(redis_server.url)) as frontier, connected(redis_server) as client:
        spoil(client, key.format(worker=frontier.session.worker), value)
        crawl_on(frontier)
        frontier.read()
        if key == "meta":
            # Nobody knows any more which crawl it is.
            assert frontier.failure is not None
            assert "the crawl is gone from Redis" in frontier.failure
        else:
            assert frontier.failure is None
            assert frontier.exhausted()
    assert "RUN" not in capsys.readouterr().out


@pytest.mark.parametrize("path", ["os.system", "this.Request", "crawlproject.frontier.base.Lease"])
def test_a_request_imports_nothing_that_a_value_names(path: str) -> None:
    text = requests._written({"_class": path, "url": "http://a.example/"})
    sys.modules.pop("this", None)
    with pytest.raises(ValueError, match="no class of requests"):
        requests.from_text(json.dumps(text), Spider("a"))
    assert "this" not in sys.modules


def test_a_fleet_goes_on_when_a_queue_and_its_leases_become_something_else(
    site: SiteFactory, tmp_path: Path, redis_server: Server
) -> None:
    server = site({**SPEC, "random_delay": [0.05, 0.2]})
    with (
        Fleet(tmp_path, redis_server.url, "-a", f"seed={server.url()}") as fleet,
        connected(redis_server) as client,
    ):
        fleet.start(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        for key in ("q:127.0.0.1", "tries", "ready"):
            # As one: in between, a worker would make the key anew.
            with client.pipeline() as both:
                both.delete(PREFIX + key)
                both.rpush(PREFIX + key, pickle.dumps(Trap()))
                both.execute()
        client.rpush(f"{PREFIX}inbox", pickle.dumps(Trap()), b"garbage")
        assert fleet.finish() == [0, 0], fleet.errors()
    for worker in fleet.workers:
        assert comparable(worker.output, server) == (GOLDEN / "whole.json").read_text()
        assert "Traceback" not in worker.errors()
    assert "is not ours" in fleet.errors()
    with connected(redis_server) as client:
        assert int(client.hget(f"{PREFIX}meta", "malformed") or 0) >= 3
        assert client.exists(f"{PREFIX}aside:tries")
