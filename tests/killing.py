"""Crawls that are killed: the command as a process group of its own, and its end by SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

from tests.crawling import command_environment
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.site.fixture import Site


def start_crawl(
    folder: Path,
    options: Sequence[str],
    errors: int | IO[str] = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    spider: str = "site",
) -> subprocess.Popen[str]:
    return start_scrapy(folder, ["crawl", spider, *options], errors, before)


def start_scrapy(
    folder: Path,
    arguments: Sequence[str],
    errors: int | IO[str] = subprocess.PIPE,
    before: Callable[[], None] | None = None,
) -> subprocess.Popen[str]:
    """A command of Scrapy, in a session of its own, so that all of it can be killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=folder,
        env=command_environment(),
        stdout=subprocess.DEVNULL,
        stderr=errors,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )


class Command:
    """A ``scrapy crawl`` in ``folder``, with its crawl directory there."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        before: Callable[[], None] | None = None,
        spider: str = "site",
    ) -> None:
        self.folder = folder
        self._spider = spider
        # Called in the new process, before it becomes the command.
        self._before = before
        self.job = folder / "job"
        self._options = [*options, "-s", f"JOBDIR={self.job}"]

    def start(self) -> subprocess.Popen[str]:
        return start_crawl(self.folder, self._options, subprocess.PIPE, self._before, self._spider)

    def run_until_asked(
        self, server: Site, paths: int, *, since: int = 0, later: float = 0.0
    ) -> None:
        """Run the command, and kill it when so many paths were asked for, or somewhat later."""
        process = self.start()

        def is_time() -> bool:
            if len(set(server.paths()[since:])) >= paths:
                return True
            assert process.poll() is None, "the crawl ended before it could be killed"
            return False

        try:
            wait_for(is_time)
            # Anywhere in what a page goes through.
            time.sleep(later)
        finally:
            kill(process)

    def run(self, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        process = self.start()
        try:
            _, errors = process.communicate(timeout=timeout)
        except BaseException:
            kill(process)
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, "", errors)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a command and whatever it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


class CrawlProcess:
    """``scrapy crawl site`` in ``folder``, with its crawl directory there too."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._errors = folder / "stderr.txt"
        options += ("-s", "JOBDIR=job", "-s", "MONITORING_SUMMARY=False")
        with self._errors.open("w") as errors:
            self._process = start_crawl(folder, options, errors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to happen while the crawl runs."""

        def has_happened() -> bool:
            if condition():
                return True
            assert self._process.poll() is None, f"the crawl ended: {self.errors()}"
            return False

        wait_for(has_happened)

    def until_said(self, words: str) -> None:
        """Wait for a line in its log."""
        self.until(lambda: words in self.errors())

    def kill(self) -> None:
        kill(self._process)

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        os.kill(self.pid, signal.SIGINT)

    def finish(self) -> int:
        return self._process.wait(PATIENCE)

    def errors(self) -> str:
        return self._errors.read_text()
