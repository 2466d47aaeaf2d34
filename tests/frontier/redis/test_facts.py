"""What can't be had of the server at hand; the rest is in test_connection.py."""

from __future__ import annotations

import pytest

from crawlproject.frontier.redis.binary import Server
from crawlproject.frontier.redis.facts import Facts, facts_of
from tests.redis_server import connected


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        (Facts(), None),
        (Facts(version="6.2.0"), None),
        (Facts(version="7.4-rc1"), None),
        (Facts(version="10.0.1"), None),
        (Facts(version="unstable"), None),
        (Facts(version="6.0.16"), "it is Redis 6.0.16: a shared crawl needs 6.2 or newer"),
        (Facts(version="5.0.9"), "it is Redis 5.0.9: a shared crawl needs 6.2 or newer"),
        (
            Facts(mode="sentinel"),
            "it is a Sentinel, which keeps no data: give the address of the master",
        ),
        (Facts(is_replica=True), "it is a replica: give the address of the master"),
        (Facts(maxmemory=0, eviction="allkeys-lru"), None),
        (Facts(maxmemory=1, eviction=None), None),
    ],
)
def test_what_can_hold_a_crawl(facts: Facts, problem: str | None) -> None:
    assert facts.problem() == problem


def test_what_is_not_known_is_no_pity() -> None:
    assert Facts().warnings() == []
    assert Facts(has_aof=False).warnings() == []


def test_a_server_tells_all_of_it(redis_server: Server) -> None:
    with connected(redis_server) as client:
        facts = facts_of(client)
        assert facts._replace(version=None) == Facts(
            mode="standalone",
            is_replica=False,
            maxmemory=0,
            eviction="noeviction",
            has_aof=True,
            has_snapshots=False,
        )


def test_a_server_that_has_no_info_still_says_what_it_is() -> None:
    with Server(options={"rename-command": ("INFO", "")}) as server, connected(server) as client:
        facts = facts_of(client)
        assert facts.version is not None
        assert facts._replace(version=None) == Facts(mode="standalone", is_replica=False)
