"""Workers that are killed, that join, or that stand still for longer than their session lasts:
nothing is lost, little is fetched again, and the answer is the same.
"""

from __future__ import annotations

import random
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject.frontier.redis.pump import _MANY
from tests.fleet import PREFIX, Fleet, Worker
from tests.redis_server import connected
from tests.spiders.test_same_answer import GOLDEN, SPEC, comparable
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlproject.frontier.redis.binary import Server
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SLOWER: dict[str, Any] = {**SPEC, "random_delay": [0.02, 0.15]}
IN_FLIGHT = 4
# A session ends soon: it lasts twice as long as a request may take.
SHORT = (
    "-s",
    "FRONTIER_LEASE_SECONDS=2",
    "-s",
    "DOWNLOAD_TIMEOUT=1",
    "-a",
    "concurrency=8",
    "-a",
    f"workers={IN_FLIGHT}",
)


def committer_of(server: Server, fleet: Fleet) -> Worker | None:
    """Who may commit, if that is known now. A worker's name has its process's number."""
    with connected(server) as client:
        name = str(client.get(f"{PREFIX}committer"))
    found = [one for one in fleet.workers if f"-{one.pid}-" in name and not one.has_ended()]
    return found[0] if found else None


def refetched(server: Site) -> int:
    return sum(count - 1 for count in Counter(server.paths()).values())


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_and_joins_lose_nothing_and_cost_little(
    site: SiteFactory, tmp_path: Path, redis_server: Server, seed: int
) -> None:
    server = site({**SLOWER, "seed": seed})
    luck = random.Random(seed)
    with Fleet(tmp_path, redis_server.url, "-a", f"seed={server.url()}", *SHORT) as fleet:
        fleet.start(3)
        kills = 3
        for number in range(kills):
            asked = 15 + number * 25 + luck.randrange(10)
            fleet.until(lambda asked=asked: len(set(server.paths())) >= asked)  # type: ignore[misc]
            # The committer, too.
            alive = [one for one in fleet.workers if not one.has_ended()]
            victim = committer_of(redis_server, fleet) if number == 1 else None
            (victim or luck.choice(alive)).kill()
            fleet.start()
        assert fleet.finish() == [0] * 3, fleet.errors()
    expected = (GOLDEN / "whole.json").read_text()
    for worker in fleet.workers[-3:]:
        if worker.output.exists():
            assert comparable(worker.output, server) == expected
    assert len(fleet.outputs()) == 1
    # What a worker has in flight, and the answers that it has not handed in: those that are told
    # at once, and what came while an exchange with as many was under way.
    assert refetched(server) <= kills * (IN_FLIGHT + 2 * (_MANY + IN_FLIGHT))


def test_who_stands_still_for_too_long_goes_on_without_what_it_had(
    site: SiteFactory, tmp_path: Path, redis_server: Server
) -> None:
    server = site(SLOWER)
    with (
        Fleet(tmp_path, redis_server.url, "-a", f"seed={server.url()}", *SHORT) as fleet,
        connected(redis_server) as client,
    ):
        fleet.start(2)
        fleet.until(lambda: len(set(server.paths())) >= 20)
        fleet.until(lambda: client.zcard(f"{PREFIX}workers") == 2)
        sleeper = committer_of(redis_server, fleet)
        assert sleeper is not None
        sleeper.signal(signal.SIGSTOP)
        try:
            # Its session ends, and another one commits.
            fleet.until(lambda: client.zcard(f"{PREFIX}workers") == 1)
            fleet.until(lambda: committer_of(redis_server, fleet) is not sleeper)
        finally:
            sleeper.signal(signal.SIGCONT)
        assert fleet.finish() == [0, 0], fleet.errors()
    for worker in fleet.workers:
        assert comparable(worker.output, server) == (GOLDEN / "whole.json").read_text()
    # What it had in flight, and what it had not handed in: all else it asked for by a new lease.
    assert refetched(server) <= IN_FLIGHT + 2 * (_MANY + IN_FLIGHT)
    assert "Traceback" not in fleet.errors()


def test_all_are_killed_and_others_go_on_later(
    site: SiteFactory, tmp_path: Path, redis_server: Server
) -> None:
    server = site(SLOWER)
    with (
        Fleet(tmp_path, redis_server.url, "-a", f"seed={server.url()}", *SHORT) as fleet,
        connected(redis_server) as client,
    ):
        first = fleet.start(2)
        fleet.until(lambda: len(set(server.paths())) >= 30)
        for worker in first:
            worker.kill()
        fleet.start()
        wait_for(lambda: client.zcard(f"{PREFIX}workers") >= 1)
        assert fleet.finish() == [0], fleet.errors()
    assert comparable(fleet.workers[-1].output, server) == (GOLDEN / "whole.json").read_text()
    assert refetched(server) <= 2 * (IN_FLIGHT + 2 * (_MANY + IN_FLIGHT))
