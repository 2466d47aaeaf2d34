"""A crawl in a process of its own, that can be killed as by ``kill -9``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

from tests.crawling import command_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What a test waits for comes, or the test fails; no test passes because of it.
_PATIENCE = 30.0


class CrawlProcess:
    """``scrapy crawl site`` in ``folder``, with its crawl directory there too."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._errors = folder / "stderr.txt"
        command = [sys.executable, "-m", "scrapy", "crawl", "site", *options]
        command += ["-s", "JOBDIR=job", "-s", "MONITORING_SUMMARY=False"]
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=command_environment(),
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to happen while the crawl runs."""
        deadline = time.monotonic() + _PATIENCE
        while not condition():
            assert self._process.poll() is None, f"the crawl ended: {self.errors()}"
            assert time.monotonic() < deadline, f"nothing happened: {self.errors()}"
            time.sleep(0.01)

    def until_said(self, words: str) -> None:
        """Wait for a line in its log."""
        self.until(lambda: words in self.errors())

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def finish(self) -> int:
        return self._process.wait(_PATIENCE)

    def errors(self) -> str:
        return self._errors.read_text()
