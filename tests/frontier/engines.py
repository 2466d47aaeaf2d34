"""Engines of the contract: as they are, left and opened again, killed and opened again."""

from __future__ import annotations

import shutil
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import connect
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.redis.frontier import RedisFrontier
from crawlproject.frontier.redis.keys import prefixes_of
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.frontier.rounds import ALL
from crawlproject.frontier.sqlite import SqliteFrontier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlproject.frontier.base import Frontier, Lease

    Engine = Callable[..., Frontier]


class Reopened:
    """A frontier that is left and opened again before every call, when no lease is out.

    ``killed``: what is left is what a process that was killed leaves behind.
    """

    def __init__(self, folder: Path, *, killed: bool, **options: Any) -> None:
        self._folder, self._killed, self._options = folder, killed, options
        self._runs = 0
        self._frontier: Any = None
        self._round: tuple[float, float | None] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._frontier is None or not self._is_under_way(self._frontier):
            self._reopen()
        return getattr(self._frontier, name)

    def revisit(self, now: float, *, before: float | None = None) -> int:
        self._round = None
        count: int = self.__getattr__("revisit")(now, before=before)
        self._round = now, before
        return count

    def begin_round(self, mode: str, now: float, since: float) -> int:
        self._round = None
        count: int = self.__getattr__("begin_round")(mode, now, since)
        self._round = now, now if mode == ALL else None
        return count

    def end_visits(self) -> None:
        self.__getattr__("end_visits")()
        self._round = None

    def _is_under_way(self, frontier: SqliteFrontier) -> bool:
        turns = any(host.in_flight for host in frontier._gate)
        return turns or frontier.counts().leased > 0

    def _reopen(self) -> None:
        if self._frontier is not None:
            self._frontier.commit()
            if self._killed:
                shutil.copytree(self._folder / str(self._runs), self._folder / str(self._runs + 1))
                self._runs += 1
            self._frontier.close()
        self._frontier = opened(self._folder / str(self._runs), **self._options)
        self._go_on()

    def _go_on(self) -> None:
        """With the round of visits that was open, as a scheduler does."""
        if self._round is not None:
            now, before = self._round
            self._frontier.revisit(now, before=before)


def opened(
    folder: Path, limits: dict[str, HostLimits] | None = None, **options: Any
) -> SqliteFrontier:
    folder.mkdir(parents=True, exist_ok=True)
    options.setdefault("host_of", lambda url: url.split("/")[0])
    return SqliteFrontier(
        connect(folder),
        limits=lambda host: (limits or {}).get(host, HostLimits(0, 2)),
        now=options.pop("now", -1000),
        **options,
    )


class Rejoined(Reopened):
    """The same in Redis: a worker that leaves, or dies, and another that goes on."""

    def __init__(self, url: str, *, killed: bool, **options: Any) -> None:
        self._url = url
        super().__init__(Path(), killed=killed, **options)

    def _is_under_way(self, frontier: Any) -> bool:
        return super()._is_under_way(frontier) or bool(frontier._flying)

    def _reopen(self) -> None:
        if self._frontier is not None:
            self._frontier.commit()
            if self._killed:
                # Its time is up.
                for prefix in prefixes_of("contract", self._options.get("shards", 1)):
                    Redis.from_url(self._url).zadd(
                        f"{prefix}workers", {self._frontier.session.worker: float("-inf")}
                    )
            else:
                self._frontier.close()
        self._frontier = joined(self._url, **self._options)
        self._go_on()


def joined(url: str, limits: dict[str, HostLimits] | None = None, **options: Any) -> Any:
    """A frontier in Redis that asks and tells at every call."""
    options.setdefault("host_of", lambda url: url.split("/")[0])
    return RedisFrontier(
        Scripts(Redis.from_url(url), "contract", options.pop("shards", 1)),
        token_hex(4),
        limits=lambda host: (limits or {}).get(host, HostLimits(0, 2)),
        now=options.pop("now", -1000),
        lasts=1e9,
        **{"depth_limit": None, "budget": None, "budgets": None, "capacity": None}
        | {"max_redirects": 20, "seeds_first": False}
        | options,
    )


_WAYS = ("as it is", "reopened", "killed")
# Parts of a shared crawl, which may be on different servers.
_SHARDS = {"redis": 1, "redis in shards": 3}


@pytest.fixture(params=[*_WAYS, *(f"{kind}, {way}" for kind in _SHARDS for way in _WAYS)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    frontiers: list[Any] = []
    if request.param.startswith("redis"):
        url = request.getfixturevalue("redis_url")

        def start_shared(**options: Any) -> Any:
            options["shards"] = _SHARDS[request.param.partition(",")[0]]
            if request.param.endswith("as it is"):
                frontiers.append(joined(url, **options))
            else:
                killed = request.param.endswith("killed")
                frontiers.append(Rejoined(url, killed=killed, **options))
            return frontiers[-1]

        yield start_shared
        for frontier in frontiers:
            frontier.close()
        return

    def start(**options: Any) -> Any:
        folder = tmp_path / str(len(frontiers))
        if request.param == "as it is":
            frontiers.append(opened(folder, **options))
        else:
            frontiers.append(Reopened(folder, killed=request.param == "killed", **options))
        return frontiers[-1]

    yield start
    for frontier in frontiers:
        frontier.close()


def take(frontier: Frontier, now: float = 0) -> Lease:
    lease = frontier.take(now)
    assert lease is not None
    return lease


def fetched(frontier: Frontier, lease: Lease, *links: str, now: float = 0) -> None:
    """The lease's page has come and links to others."""
    lease.found = [Candidate(link) for link in links]
    frontier.landed(lease, now)
    frontier.finish(lease)


def moved(frontier: Frontier, lease: Lease, target: str) -> None:
    """The lease's URL redirects."""
    lease.redirect, lease.redirect_answer = target, {"status_code": 301}
    frontier.landed(lease, 0)
    frontier.finish(lease)


def failed(frontier: Frontier, lease: Lease) -> None:
    """The lease has ended with an error, and a pipeline has dropped the page that says so."""
    lease.failed = True
    frontier.finish(lease)


def drain(frontier: Frontier, now: float = 0) -> list[str]:
    urls = []
    while (lease := frontier.take(now)) is not None:
        urls.append(lease.url)
        fetched(frontier, lease, now=now)
    return urls
