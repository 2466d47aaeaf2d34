"""A crawl as a process of its own, and the most memory that it had at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crawling import command_environment

# The kernel's own figure, of the process alone: that of getrusage() begins with the memory of
# whoever started it.
_STATUS = Path("/proc/self/status")
needs_proc = pytest.mark.skipif(not _STATUS.exists(), reason="peak memory is read from /proc")

_RUN = """
import sys
from pathlib import Path
from scrapy.cmdline import execute
try:
    execute()
finally:
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    Path("peak.txt").write_text(peak)
"""


class Ended(NamedTuple):
    status: int
    errors: str
    # Bytes.
    peak: int


def crawl_with_peak(folder: Path, *options: str, timeout: float = 120) -> Ended:
    """``scrapy crawl site`` in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, "crawl", "site", *options],
        cwd=folder,
        env=command_environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ended(done.returncode, done.stderr, int((folder / "peak.txt").read_text()) * 1024)
