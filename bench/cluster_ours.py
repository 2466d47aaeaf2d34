"""``bench cluster``: our side, a crawl by several workers that share a Redis."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import TYPE_CHECKING, Any

from redis import Redis

from bench.crawlers import Pages, missing
from bench.measure import PROJECT, CrawlFailed, environment, ratio
from bench.site import ALONE
from crawlproject.frontier.database import connect_to_memory
from crawlproject.frontier.reading import Reader
from crawlproject.frontier.redis.mirror import Mirror
from crawlproject.frontier.redis.scripts import Scripts
from crawlproject.urls.canonical import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.server import Served
    from bench.site import Site
    from crawlproject.frontier.redis.binary import Server

_CRAWL_ID = "bench"
_CONCURRENCY = 16
_LIMIT_SECONDS = 60.0
_LIMIT_SECONDS_A_PAGE = 0.5
_ROUND_TRIPS = re.compile(r"'frontier/redis_round_trips': (\d+)")
_SHOWN_LINES = 15


@dataclass(frozen=True, slots=True)
class Use:
    """What one crawl by several workers has used."""

    wall_seconds: float
    workers_cpu_seconds: float
    redis_cpu_seconds: float
    # None: the system does not tell.
    server_cpu_seconds: float | None
    round_trips: int
    # By which Redis' memory has grown.
    redis_bytes: int


@dataclass(frozen=True, slots=True)
class FleetResult:
    """The best runs of some workers, and those that crawled one page: the start-up."""

    workers: int
    pages: int
    runs: list[Use]
    start_up: list[Use]
    differences: list[str]

    @property
    def best(self) -> Use:
        return min(self.runs, key=lambda use: use.wall_seconds)

    @property
    def pages_per_second(self) -> float | None:
        start_up = min(use.wall_seconds for use in self.start_up)
        return ratio(self.pages, self.best.wall_seconds - start_up)

    @property
    def cpu_ms_a_page(self) -> float | None:
        least = min(use.workers_cpu_seconds for use in self.runs)
        start_up = min(use.workers_cpu_seconds for use in self.start_up)
        return ratio(1000 * (least - start_up), self.pages)

    @property
    def redis_cpu_ms_a_page(self) -> float | None:
        return ratio(1000 * min(use.redis_cpu_seconds for use in self.runs), self.pages)

    @property
    def round_trips_a_page(self) -> float | None:
        return ratio(min(use.round_trips for use in self.runs), self.pages)

    @property
    def redis_bytes_a_page(self) -> float | None:
        return ratio(min(use.redis_bytes for use in self.runs), self.pages)

    def figures(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "pages": self.pages,
            **asdict(self.best),
            "pages_per_second": self.pages_per_second,
            "cpu_ms_a_page": self.cpu_ms_a_page,
            "redis_cpu_ms_a_page": self.redis_cpu_ms_a_page,
            "round_trips_a_page": self.round_trips_a_page,
            "redis_bytes_a_page": self.redis_bytes_a_page,
            "runs": [asdict(use) for use in self.runs],
            "start_up": [asdict(use) for use in self.start_up],
        }


def measure(
    site: Site,
    served: Served,
    server: Server,
    folder: Path,
    fleets: Sequence[int],
    *,
    repeat: int,
    say: Callable[[str], None],
) -> list[FleetResult]:
    """Crawl the site by fleets of so many workers, in turns. Raises CrawlFailed."""
    pages = len(site.paths)
    expected = {served.url + path.lstrip("/") for path in site.paths}
    results = [FleetResult(workers, pages, [], [], []) for workers in fleets]
    for kind, seed in (("alone", served.url + ALONE), ("site", served.url)):
        for turn in range(repeat):
            for result in results:
                say(f"ours, {result.workers} on Redis: {kind}, run {turn + 1} of {repeat}")
                place = folder / f"ours-{result.workers}-{kind}-{turn}"
                use = _crawl(seed, server.url, folder, place, result.workers, pages)
                (result.start_up if kind == "alone" else result.runs).append(use)
                if kind == "site":
                    found = missing(f"{result.workers} of ours", _pages(server.url), expected)
                    result.differences.extend(found)
    return results


def _crawl(seed: str, url: str, folder: Path, place: Path, workers: int, pages: int) -> Use:
    place.mkdir(parents=True)
    client: Any = Redis.from_url(url)
    client.flushall()
    server = _server_process(folder)
    memory, redis_cpu = client.info("memory")["used_memory"], _redis_cpu(client)
    server_cpu = None if server is None else _cpu_of(server)
    started = time.perf_counter()
    processes = [_start(seed, url, place / f"{number}.log") for number in range(workers)]
    limit = _LIMIT_SECONDS + pages * _LIMIT_SECONDS_A_PAGE
    alarm = threading.Timer(limit, _kill, [processes])
    alarm.start()
    try:
        cpu = sum(map(_cpu_at_end, processes))
    except BaseException:
        _kill(processes)
        for process in processes:
            process.wait()
        raise
    finally:
        alarm.cancel()
    wall = time.perf_counter() - started
    logs = [(place / f"{number}.log").read_text("utf-8", "replace") for number in range(workers)]
    for process, log in zip(processes, logs, strict=True):
        if process.returncode:
            last = "\n".join(log.splitlines()[-_SHOWN_LINES:])
            raise CrawlFailed(f"a worker ended with {process.returncode}:\n{last}")
    use = Use(
        wall,
        cpu,
        _redis_cpu(client) - redis_cpu,
        None if server is None or server_cpu is None else (_cpu_of(server) or 0.0) - server_cpu,
        sum(int(number) for log in logs for number in _ROUND_TRIPS.findall(log)),
        client.info("memory")["used_memory"] - memory,
    )
    client.close()
    return use


def _start(seed: str, url: str, log: Path) -> Popen[bytes]:
    settings = {
        "REDIS_URL": url,
        "FRONTIER_CRAWL_ID": _CRAWL_ID,
        "MONITORING_SUMMARY": False,
        "MONITORING_PROGRESS": False,
        # At the end the stats are in the log.
        "LOG_LEVEL": "INFO",
        "LOG_FILE": log,
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    how_many = ("-a", f"concurrency={_CONCURRENCY}", "-a", f"workers={_CONCURRENCY}")
    return Popen(  # noqa: S603  (a crawler of ours, on a site of ours)
        [
            sys.executable,
            "-m",
            "scrapy",
            "crawl",
            "site",
            "-a",
            f"seed={seed}",
            *how_many,
            *options,
        ],
        cwd=log.parent,
        env=environment(PYTHONPATH=str(PROJECT), SCRAPY_SETTINGS_MODULE="crawlproject.settings"),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )


def _kill(processes: list[Popen[bytes]]) -> None:
    for process in processes:
        process.kill()


def _cpu_at_end(process: Popen[bytes]) -> float:
    # Not process.wait: only this tells what one child alone has used.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _redis_cpu(client: Any) -> float:
    used = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


def _server_process(folder: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((folder / "server" / "nginx.pid").read_text())
    return None


def _cpu_of(process: int) -> float | None:
    """The processor's time of another process, where the system tells it in /proc."""
    with suppress(OSError, ValueError, IndexError):
        said = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
        fields = said.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


def _pages(url: str) -> Pages:
    database = connect_to_memory()
    Mirror(Scripts(Redis.from_url(url), _CRAWL_ID), database, host_of).copy()
    return {
        record["url"]: (record["status_code"], frozenset(record["links"]))
        for _, record in Reader(database).pages()
    }
