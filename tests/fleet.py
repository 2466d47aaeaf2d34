"""A fleet: workers of one shared crawl, each a process of its own, as users start them.

with Fleet(tmp_path, redis_url, "-a", f"seed={site.url()}") as fleet:
    fleet.start(3)
    assert fleet.finish() == [0, 0, 0]
"""

from __future__ import annotations

import os
import signal
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Self

from crawlproject.frontier.redis.keys import prefix_of
from tests.killing import start_crawl
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CRAWL = "fleet"
# Where a test looks into Redis itself.
PREFIX = prefix_of(CRAWL)


class Worker:
    """A ``scrapy crawl site`` with an output and a log of its own."""

    def __init__(self, folder: Path, name: str, options: tuple[str, ...]) -> None:
        self.name = name
        self.output = folder / f"{name}.json"
        self._errors = folder / f"{name}.txt"
        with self._errors.open("w") as errors:
            self._process = start_crawl(folder, ["-O", self.output.name, *options], errors)

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def finish(self) -> int:
        return self._process.wait(PATIENCE)

    def errors(self) -> str:
        """What it has logged."""
        return self._errors.read_text()


class Fleet:
    """``options`` are those of all workers. Who still runs at the end is killed."""

    def __init__(self, folder: Path, redis_url: str, *options: str) -> None:
        self._folder = folder
        self._redis_url = redis_url
        self._options = (
            *options,
            *("-s", f"REDIS_URL={redis_url}", "-s", f"FRONTIER_CRAWL_ID={CRAWL}"),
            *("-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01", "-s", "MONITORING_SUMMARY=False"),
        )
        self.workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            if not worker.has_ended():
                worker.kill()

    def start(self, workers: int = 1, *options: str) -> list[Worker]:
        """Let some join."""
        new = [
            Worker(self._folder, f"worker-{len(self.workers) + number}", (*self._options, *options))
            for number in range(workers)
        ]
        self.workers += new
        return new

    def until_joined(self, workers: int) -> None:
        """Wait until so many have a session."""
        from redis import Redis

        with closing(Redis.from_url(self._redis_url)) as client:
            self.until(lambda: client.zcard(f"{PREFIX}workers") >= workers)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to happen while somebody works."""

        def has_happened() -> bool:
            if condition():
                return True
            assert not all(worker.has_ended() for worker in self.workers), self.errors()
            return False

        wait_for(has_happened)

    def finish(self) -> list[int]:
        """How those ended that were not killed."""
        codes = [worker.finish() for worker in self.workers]
        return [code for code in codes if code != -signal.SIGKILL]

    def outputs(self) -> list[str]:
        """The different things that workers have written."""
        return sorted({one.output.read_text() for one in self.workers if one.output.exists()})

    def errors(self) -> str:
        return "\n".join(f"--- {worker.name}\n{worker.errors()}" for worker in self.workers)
