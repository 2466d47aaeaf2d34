"""The processes of the workers: started, heard, replaced when they die, ended.

What they say on standard error comes line by line, with their number. Complaints about how a
worker ended are kept until it is clear whether its end matters.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.monitoring.streams import tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Words of a command that everybody may read: crawl, and the spider's name.
_SHOWN = 2
# Times that a dead worker is replaced, for each worker that was wanted.
_REPLACED = 3
# Seconds before a worker is replaced: whatever ended it may pass.
PAUSE = 1.0

# How ``scrapy crawl`` says what was wrong with its arguments or with its end.
_COMPLAINT = "scrapy crawl: error: "
_SEED = "the seed "
_FAILED, BAD_ARGUMENTS = 1, 2

# Why a crawl has ended, besides Scrapy's words.
NO_WORKERS = "no worker is left"


class End(NamedTuple):
    """How a worker has ended."""

    number: int
    process: int
    # As a shell has it: below 0, the signal.
    status: int
    complaint: str

    def __str__(self) -> str:
        if self.status < 0:
            how = f"was ended by {_signal_name(-self.status)}"
        else:
            how = f"has ended with status {self.status}"
        return f"worker {self.number} {how}{': ' if self.complaint else ''}{self.complaint}"


class Workers:
    """``count`` workers that run ``command``. What they tell comes in threads of their own:
    ``hear`` gets lines, ``told`` gets ends.
    """

    def __init__(self, command: Sequence[str], count: int) -> None:
        self._command = list(command)
        self.count = count
        self._replacements = _REPLACED * count
        self._alive: dict[int, subprocess.Popen[str]] = {}
        # Nobody is replaced any more.
        self.is_stopping = False
        self.hear: Callable[[str], None] = tell
        self.told: Callable[[End], None] = _ignore

    @property
    def alive(self) -> int:
        return len(self._alive)

    def pids(self) -> dict[int, int]:
        """The processes by the numbers of the workers."""
        return {number: process.pid for number, process in dict(self._alive).items()}

    def start(self) -> None:
        for number in range(1, self.count + 1):
            self._start(number)

    def replace(self, end: End) -> bool:
        """Start another worker in the place of one; not if too many have ended already."""
        if self.is_stopping or not self._replacements:
            return False
        self._replacements -= 1
        self._start(end.number)
        return True

    def stop(self) -> None:
        """Let all of them end in peace: what is in flight is finished, the rest is handed back."""
        self.is_stopping = True
        # Not SIGINT: who has just begun to import would show where it was.
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End all of them at once."""
        self.is_stopping = True
        self._signal(signal.SIGKILL)
        for process in list(self._alive.values()):
            process.wait()

    def _signal(self, number: int) -> None:
        for process in list(self._alive.values()):
            # Does nothing where a process has ended.
            process.send_signal(number)

    def _start(self, number: int) -> None:
        process = subprocess.Popen(  # noqa: S603 - scrapy, with arguments that were checked
            [sys.executable, "-m", "crawlproject.cluster.worker", *self._command[:_SHOWN]],
            stdin=subprocess.PIPE,
            # Standard output is the supervisor's, for an output.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=_environment(),
            # Ctrl-C is for the supervisor, which passes it on.
            start_new_session=True,
        )
        assert process.stdin is not None
        # One that has died is noticed by the thread.
        with suppress(OSError):
            process.stdin.write(json.dumps(self._command[_SHOWN:]) + "\n")
            process.stdin.flush()
        self._alive[number] = process
        threading.Thread(target=self._follow, args=(number, process), daemon=True).start()

    def _follow(self, number: int, process: subprocess.Popen[str]) -> None:
        complaints = []
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                text = line.rstrip("\n")
                if text.startswith(_COMPLAINT):
                    complaints.append(text.removeprefix(_COMPLAINT))
                elif text:
                    self.hear(f"[{number}] {text}")
        status = process.wait()
        if status == _FAILED and complaints and all(text.startswith(_SEED) for text in complaints):
            # It has done its work. Whether any seed could be had, nobody knows alone.
            status, complaints = 0, []
        assert process.stdin is not None
        process.stdin.close()
        self._alive.pop(number, None)
        self.told(End(number, process.pid, status, "; ".join(complaints)))


def _environment() -> dict[str, str]:
    """Ours, in which the package is found: Scrapy may have found it by a scrapy.cfg."""
    package = str(Path(__file__).parent.parent.parent)
    found = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ignore(end: End) -> None:
    pass
