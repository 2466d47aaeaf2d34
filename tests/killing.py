"""Crawls that are killed: the command as a process group of its own, and its end by SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.crawling import command_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Command:
    """A ``scrapy crawl site`` in ``folder``, with its crawl directory there."""

    def __init__(
        self, folder: Path, *options: str, before: Callable[[], None] | None = None
    ) -> None:
        self.folder = folder
        # Called in the new process, before it becomes the command.
        self._before = before
        self.job = folder / "job"
        self._options = [*options, "-s", f"JOBDIR={self.job}"]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "site", *self._options],
            cwd=self.folder,
            env=command_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=self._before,
        )

    def run_for(self, seconds: float) -> bool:
        """Run the command, and kill it after some time; whether it came to that."""
        process = self.start()
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            kill(process)
            return True
        return False

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
