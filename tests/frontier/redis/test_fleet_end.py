"""The end of a shared crawl: for all workers, and what is left of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from tests.fleet import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

MESH = {"kind": "mesh", "pages": 60, "links": 5, "seed": 5}
SPEC = {"generated": MESH, "random_delay": [0, 0.02]}
# Of one host, in flight when a crawl of this machine is cut off, at most.
CONCURRENT = 16
FOREVER = {"generated": {**MESH, "pages": 9_000}, "random_delay": [0.02, 0.05]}


def test_the_last_worker_removes_a_finished_crawl_and_all_outputs_are_whole(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    # Long enough for all to join: who comes when it is removed begins another.
    server = site({**SPEC, "random_delay": [0.05, 0.15]})
    options = ("-a", f"seed={server.url()}", "-s", "SCHEDULER_PERSIST=False")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(3)
        fleet.until_joined(3)
        assert fleet.finish() == [0, 0, 0], fleet.errors()
    (text,) = fleet.outputs()
    assert len(json.loads(text)["pages"]) == len(set(server.paths()))
    # How far a worker's messages were heard is kept for a day.
    left = [str(key) for key in Redis.from_url(redis_url).keys("*")]
    assert [key for key in left if ":n:" not in key] == []


def test_one_that_is_not_finished_is_kept(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(SPEC)
    options = ("-a", f"seed={server.url()}", "-s", "SCHEDULER_PERSIST=False")
    with Fleet(tmp_path, redis_url, *options, "-s", "CLOSESPIDER_PAGECOUNT=10") as fleet:
        fleet.start()
        fleet.finish()
    assert Redis.from_url(redis_url).exists("crawl:{fleet}:meta")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start()
        assert fleet.finish() == [0], fleet.errors()
    (text,) = fleet.outputs()
    assert len(json.loads(text)["pages"]) == len(set(server.paths()))
    assert len(server.paths()) == len(set(server.paths()))


@pytest.mark.parametrize("limits", [(1, None), (3, 8, None), (None, 8)], ids=str)
def test_a_crawl_goes_on_with_another_page_limit_or_with_none(
    site: SiteFactory, tmp_path: Path, redis_url: str, limits: tuple[int | None, ...]
) -> None:
    # At first more than are let in at once.
    count = 1_100 if limits[0] == 1 else 60
    pages: dict[str, Any] = {f"/{number}": {} for number in range(count)}
    server = site({"pages": {**pages, "/": {"links": list(pages)}}})
    options = ("-a", f"seed={server.url()}", "-s", "SITEMAPS_MODE=never")
    for limit in limits:
        argument = () if limit is None else ("-a", f"max_pages={limit}")
        # The first run is cut off where it would leave nothing.
        cut = ("-s", "CLOSESPIDER_PAGECOUNT=3") if limit is limits[0] else ()
        with Fleet(tmp_path, redis_url, *options, *argument, *cut) as fleet:
            fleet.start()
            assert fleet.finish() == [0], fleet.errors()
    asked = server.paths()
    assert len(asked) == len(set(asked))
    if limits[-1] is None:
        assert set(asked) == {"/", *pages}
    else:
        assert len(asked) <= 3 + CONCURRENT + limits[-1]


def test_a_time_limit_is_that_of_the_whole_crawl(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(FOREVER)
    client = Redis.from_url(redis_url)
    meta = "crawl:{fleet}:meta"
    with Fleet(tmp_path, redis_url, "-a", f"seed={server.url()}") as fleet:
        fleet.start(1, "-a", "timeout=1h")
        fleet.until(lambda: client.hexists(meta, "ends_at"))
        # Who joins has no limit of its own.
        fleet.start(1)
        fleet.until(lambda: client.zcard("crawl:{fleet}:workers") == 2)
        # An hour later.
        client.hset(meta, "ends_at", 1)
        fleet.finish()
    assert "Traceback" not in fleet.errors()
    assert len(fleet.workers) == 2


def test_a_worker_with_another_scope_is_refused_while_others_are_at_it(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site(FOREVER)
    with Fleet(tmp_path, redis_url, "-a", f"seed={server.url()}") as fleet:
        fleet.start()
        fleet.until(lambda: len(server.paths()) > 3)
        (other,) = fleet.start(1, "-a", "depth=2")
        assert other.finish() != 0
        assert "other workers are at it with other seeds or another scope (DEPTH_LIMIT)" in (
            other.errors()
        )


def test_workers_that_start_together_on_a_finished_crawl_make_one_round_of_visits(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    """Also where the first has ended before the last has begun."""
    server = site({"generated": {**MESH, "pages": 4}})
    options = ("-a", f"seed={server.url()}", "-a", "recrawl=all", "-a", "sitemaps=never")
    for times in (1, 2):
        with Fleet(tmp_path, redis_url, *options) as fleet:
            fleet.start(2)
            assert fleet.finish() == [0, 0], fleet.errors()
        assert set(Counter(server.paths()).values()) == {times}
