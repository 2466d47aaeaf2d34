"""However many workers ask, no host is asked too soon or too often: judged by the server."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from tests.fleet import Fleet
from tests.frontier.engines import joined

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HOSTS = [f"127.0.{4 + number // 10}.{1 + number % 10}" for number in range(20)]
SLOW = HOSTS[::5]
DELAY, CRAWL_DELAY = 0.5, 0.7
PAGES = 3
WORKERS = 4


def seeds_of(server: Site, folder: Path) -> tuple[str, ...]:
    seeds = "\n".join(server.url("/", host=host) for host in HOSTS)
    (folder / "seeds.txt").write_text(seeds)
    return ("-a", "seeds_file=seeds.txt")


def fetched(server: Site) -> Counter[tuple[str, str]]:
    return Counter((entry["host"], entry["path"]) for entry in server.log())


def test_no_host_of_many_is_asked_too_soon_by_four_workers(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    spec: dict[str, Any] = {
        "generated": {"kind": "wide", "pages": PAGES - 1},
        "random_delay": [0.0, 0.05],
    }
    slow = {**spec, "robots": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n"}
    server = site({**spec, "hosts": dict.fromkeys(SLOW, slow)}, all_loopback=True)
    options = (*seeds_of(server, tmp_path), "-a", f"delay={DELAY}", "-a", "concurrency=1")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(WORKERS)
        assert fleet.finish() == [0] * WORKERS, fleet.errors()
    violations = [
        (host, gap)
        for host in HOSTS
        for gap in server.gaps(host)
        if gap < (CRAWL_DELAY if host in SLOW else DELAY)
    ]
    assert violations == []
    assert {server.max_in_flight(host) for host in HOSTS} == {1}
    # robots.txt, where a sitemap may be, and the pages, each once, whoever asks.
    assert len(fetched(server)) == len(HOSTS) * (2 + PAGES)
    assert set(fetched(server).values()) == {1}
    assert len(fleet.outputs()) == 1


def test_with_a_delay_a_host_has_two_in_flight_and_no_start_too_soon(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    hosts = HOSTS[:4]
    # They respond only when two of them are in flight, one later than the other.
    pages: dict[str, Any] = {f"/{n}": {"together": 2, "delay": 0.05 * (n % 2)} for n in range(6)}
    paired = {"pages": {"/": {"links": list(pages)}, **pages}}
    servers = [site(paired, all_loopback=True) for _ in hosts]
    seeds = " ".join(
        server.url("/", host=host) for server, host in zip(servers, hosts, strict=True)
    )
    options = ("-a", f"seed={seeds}", "-a", f"delay={DELAY}", "-a", "concurrency=2")
    with Fleet(tmp_path, redis_url, *options, "-a", "sitemaps=never") as fleet:
        fleet.start(3)
        assert fleet.finish() == [0, 0, 0], fleet.errors()
    for server in servers:
        assert len(server.paths()) == 1 + len(pages)
        assert server.max_in_flight() == 2
        assert min(server.pauses()) >= DELAY


def test_without_a_delay_a_host_has_no_more_in_flight_than_it_may_from_all_together(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    spec = {"generated": {"kind": "mesh", "pages": 80}, "random_delay": [0.01, 0.05]}
    server = site(spec, all_loopback=True)
    hosts = HOSTS[:3]
    seeds = " ".join(server.url("/", host=host) for host in hosts)
    options = ("-a", f"seed={seeds}", "-a", "concurrency=2")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(3)
        assert fleet.finish() == [0, 0, 0], fleet.errors()
    assert {server.max_in_flight(host) for host in hosts} == {2}
    assert set(fetched(server).values()) == {1}
    assert len(fetched(server)) == len(hosts) * (2 + 80)


@pytest.mark.parametrize(("delay", "concurrency"), [(0.1, 1), (0.0, 4)])
def test_a_host_that_asks_for_time_gets_it_from_all(
    site: SiteFactory, tmp_path: Path, redis_url: str, delay: float, concurrency: int
) -> None:
    wait, pages = 2, 30
    busy = {"status": 429, "headers": {"Retry-After": str(wait)}}
    spec = {
        "generated": {"kind": "wide", "pages": pages},
        "random_delay": [0.02, 0.04],
        "pages": {"/wide/7": {"times": {"1": busy}}},
    }
    server = site(spec, all_loopback=True)
    options = ("-a", f"seed={server.url()}", "-a", f"delay={delay}")
    more = ("-a", f"concurrency={concurrency}", "-a", "workers=8")
    with Fleet(tmp_path, redis_url, *options, *more) as fleet:
        fleet.start(3)
        assert fleet.finish() == [0, 0, 0], fleet.errors()
    log = server.log()
    (refused_at,) = [entry["end"] for entry in log if entry["status"] == 429]
    meanwhile = [entry for entry in log if refused_at < entry["start"] < refused_at + wait]
    if delay:
        assert meanwhile == []
    # Without a delay others are in flight, each of which may be followed by one before its
    # worker hears of it.
    assert len(meanwhile) <= concurrency
    assert server.max_in_flight() <= concurrency
    assert sum(fetched(server).values()) == pages + 4


@pytest.mark.parametrize("is_held", [True, False])
def test_what_one_worker_learns_of_a_host_holds_for_what_others_have_with_them(
    redis_url: str, is_held: bool
) -> None:
    options: dict[str, Any] = {"limits": {"host": HostLimits(0, 4)}, "ahead": 4.0, "room": 8}
    with closing(joined(redis_url, **options)) as one, closing(joined(redis_url, **options)) as two:
        one.admit(Candidate(f"host/{number}") for number in range(40))
        one.take(0)
        # URLs for some time, as in the background.
        two._exchange(8)
        second = two.take(0)
        assert two.desk.queued > 1
        if is_held:
            one.hold("host", 100)
        else:
            one.set_min_delay("host", 100)
        two.landed(second, 1)
        two.finish(second)
        assert two.take(2) is None
        # From now on it has one request at a time, and the first worker's is on its way: what the
        # second one had goes back.
        assert (two.desk.queued > 0) is is_held
        assert two.failure is None
