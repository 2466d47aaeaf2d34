"""The frontier's time: seconds of the epoch, so that they mean the same after a restart.

Within a process they never go back, whatever is done to the system's clock.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

_IMPORTED = time.monotonic()
_BEGAN = time.time() - _IMPORTED
_runs = count()


def now() -> float:
    return _BEGAN + time.monotonic()


def run_began() -> float:
    """When a run began, which asks once: the first one of a process with the process itself, so
    that workers that are started together agree, however long each of them takes to get ready.
    """
    return _process_began() if next(_runs) == 0 else now()


def _process_began() -> float:
    with suppress(OSError, ValueError, IndexError):
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        return now() - up + ticks / os.sysconf("SC_CLK_TCK")
    # Where the system does not tell: when this was imported.
    return _BEGAN + _IMPORTED
