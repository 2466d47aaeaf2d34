"""What a process costs: the processor's time, wall time, memory, as the kernel counts them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN_LINES = 15


class CrawlFailed(Exception):
    """A crawler ended with an error; the message has what it said last."""


# Where the packages are.
PROJECT = Path(__file__).resolve().parent.parent


def environment(**variables: str) -> dict[str, str]:
    """The environment of a crawler: nothing that the shell says about Scrapy or Python."""
    shell = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SCRAPY_", "PYTHON"))
    }
    return {**shell, **variables}


@dataclass(frozen=True, slots=True)
class Cost:
    wall_seconds: float
    # User and system time of the process and of the children that it waited for.
    cpu_seconds: float
    peak_rss_mb: float


def run(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], limit_seconds: float
) -> Cost:
    """Run a command to its end and say what it cost. Raises CrawlFailed."""
    said = cwd / "output.log"
    with said.open("wb") as log:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603  (a crawler of ours, on a site of ours)
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for the benchmark: it ends what it has started.
            start_new_session=True,
        )
        alarm = threading.Timer(limit_seconds, process.kill)
        alarm.start()
        try:
            # Not process.wait: only this tells what one child alone has used.
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            alarm.cancel()
            wall_seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        late = f" (after the limit of {limit_seconds:.0f} s)" if process.returncode == -9 else ""
        lines = said.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
        raise CrawlFailed(
            "\n".join((f"{' '.join(command)} ended with {process.returncode}{late}:", *lines))
        )
    return Cost(
        wall_seconds,
        usage.ru_utime + usage.ru_stime,
        _mb(usage.ru_maxrss),
    )


def resident_mb() -> float:
    """The memory that this process has now; where the system does not say it, had at most."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _mb(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return int(status.partition("VmRSS:")[2].split(None, 1)[0]) / 1024


def peak_mb() -> float:
    """The memory that this process had at most, since its peak was forgotten."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _mb(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return int(status.partition("VmHWM:")[2].split(None, 1)[0]) / 1024


def forget_peak() -> None:
    """Let the peak be what the process has now, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def allow_many_files() -> None:
    """Let this process have as many files and connections open as the system allows it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def disk_bytes(folder: Path) -> int:
    """What the files in a folder take on the disk, which gives out whole blocks."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _mb(maxrss: int) -> float:
    return maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


@dataclass(frozen=True, slots=True)
class Result:
    """The best of several runs, and of as many that crawled one page: the start-up."""

    pages: int
    cost: Cost
    start_up: Cost

    @property
    def pages_per_second(self) -> float | None:
        return ratio(self.pages, self.cost.wall_seconds - self.start_up.wall_seconds)

    @property
    def cpu_ms_a_page(self) -> float | None:
        return ratio(1000, self.pages_per_cpu_second)

    @property
    def pages_per_cpu_second(self) -> float | None:
        return ratio(self.pages, self.cost.cpu_seconds - self.start_up.cpu_seconds)

    @property
    def pages_per_cpu_second_with_start_up(self) -> float | None:
        return ratio(self.pages, self.cost.cpu_seconds)


def best(costs: Sequence[Cost]) -> Cost:
    """The least of each figure: what disturbs a run only ever adds to it, now here, now there."""
    return Cost(
        min(cost.wall_seconds for cost in costs),
        min(cost.cpu_seconds for cost in costs),
        min(cost.peak_rss_mb for cost in costs),
    )


def ratio(above: float | None, below: float | None) -> float | None:
    """None when it says nothing: a few pages may cost less than start-up varies."""
    return above / below if above is not None and below is not None and below > 0 else None
