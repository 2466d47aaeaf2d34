"""Redis goes away, comes back, is full, or loses answers: workers wait, and lose nothing."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlproject.frontier.redis.binary import Server
from tests.commands.inquiring import SharedCrawl
from tests.faults import Faults
from tests.fleet import Fleet
from tests.redis_server import connected
from tests.spiders.test_same_answer import GOLDEN, SPEC, comparable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SLOWER: dict[str, Any] = {**SPEC, "random_delay": [0.05, 0.25]}
# A session lasts for two seconds, and is sure for one.
LASTS = 2.0
SHORT = (
    "-s",
    f"FRONTIER_LEASE_SECONDS={LASTS}",
    "-s",
    "DOWNLOAD_TIMEOUT=1",
    "-a",
    "concurrency=8",
    "-a",
    "workers=4",
)
WAITS = "Redis can't be used, so the crawl waits for it"
GOES_ON = "Redis can be used again: the crawl goes on"


def is_golden(fleet: Fleet, server: Site) -> bool:
    expected = (GOLDEN / "whole.json").read_text()
    return all(comparable(worker.output, server) == expected for worker in fleet.workers)


def more_than_once(server: Site) -> dict[str, int]:
    return {path: count for path, count in Counter(server.paths()).items() if count > 1}


def test_an_outage_pauses_the_workers_and_nothing_is_lost(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SLOWER)
    options = ("-a", f"seed={server.url()}", *SHORT)
    with Server(tmp_path / "redis") as redis, Fleet(tmp_path, redis.url, *options) as fleet:
        fleet.start(2)
        fleet.until_joined(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        redis.kill()
        gone_at = time.monotonic()
        fleet.until(lambda: all(WAITS in worker.errors() for worker in fleet.workers))
        # As long as a session, and some more: then nobody has a right to ask for anything.
        fleet.until(lambda: time.monotonic() > gone_at + 1.5 * LASTS)
        back_at = time.monotonic()
        redis.start()
        assert fleet.finish() == [0, 0], fleet.errors()
    assert is_golden(fleet, server)
    unsure = [e for e in server.log() if gone_at + LASTS / 2 < e["start"] < back_at]
    assert unsure == []
    for worker in fleet.workers:
        assert worker.errors().count(WAITS) == 1
        assert worker.errors().count(GOES_ON) == 1
        assert "Traceback" not in worker.errors()


def test_a_short_restart_is_hardly_noticed(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOWER)
    options = ("-a", f"seed={server.url()}")
    # One that waits for a busy disk may lose what it answered last, when it is killed.
    always = {"appendfsync": "always"}
    with (
        Server(tmp_path / "redis", options=always) as redis,
        Fleet(tmp_path, redis.url, *options) as fleet,
    ):
        fleet.start(2)
        fleet.until_joined(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        redis.kill()
        redis.start()
        assert fleet.finish() == [0, 0], fleet.errors()
    assert is_golden(fleet, server)
    # The sessions have lasted, so nothing was fetched again.
    assert more_than_once(server) == {}


def test_a_redis_that_comes_back_empty_ends_the_crawl(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SLOWER)
    options = ("-a", f"seed={server.url()}")
    with Server(tmp_path / "redis") as redis, Fleet(tmp_path, redis.url, *options) as fleet:
        fleet.start(2)
        fleet.until_joined(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        with connected(redis) as client:
            client.flushall()
        codes = fleet.finish()
    assert 0 not in codes, fleet.errors()
    for worker in fleet.workers:
        assert "the crawl is gone from Redis" in worker.errors()
        assert "Traceback" not in worker.errors()


def test_a_full_redis_pauses_the_workers_until_it_has_room(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SLOWER)
    options = ("-a", f"seed={server.url()}", *SHORT)
    with (
        Server(tmp_path / "redis") as redis,
        Fleet(tmp_path, redis.url, *options) as fleet,
        connected(redis) as client,
    ):
        fleet.start(2)
        fleet.until_joined(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        client.config_set("maxmemory", "1mb")
        fleet.until(lambda: all("it is full" in worker.errors() for worker in fleet.workers))
        client.config_set("maxmemory", "0")
        assert fleet.finish() == [0, 0], fleet.errors()
    assert is_golden(fleet, server)
    for worker in fleet.workers:
        assert worker.errors().count(WAITS) == 1
        assert "Traceback" not in worker.errors()


def test_answers_of_redis_that_are_lost_lose_and_double_nothing(
    site: SiteFactory, tmp_path: Path, redis_server: Server
) -> None:
    server = site(SLOWER)
    with (
        Faults(redis_server.port, chance=0.0, seed=3) as way,
        Fleet(tmp_path, way.url, "-a", f"seed={server.url()}") as fleet,
    ):
        fleet.start(2)
        fleet.until_joined(2)
        # To the end: also when outputs are written.
        way.chance = 0.05
        assert fleet.finish() == [0, 0], fleet.errors()
    assert way.lost > 3
    assert is_golden(fleet, server)
    assert more_than_once(server) == {}
    assert "Traceback" not in fleet.errors()


def test_who_goes_on_with_a_crawl_asks_again_when_an_answer_is_lost(
    redis_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with Faults(redis_server.port, chance=0.0) as way:
        crawl = SharedCrawl(way.url)
        crawl.fetch("/")
        # What a worker that joins says first. A single loss is not worth a word.
        way.due = 1
        assert crawl.frontier.count_pages() == 1
        assert caplog.messages == []
        way.due = 3
        assert crawl.frontier.count_pages() == 1
        assert way.lost == 4
        crawl.close()
    assert [line.partition(":")[0] for line in caplog.messages] == [
        WAITS,
        "Redis can be used again",
    ]
