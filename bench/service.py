"""``bench service``: what it costs crawls that the service is asked about them all the time.

Jobs of the service crawl the site of ``bench crawl``, as fast as the machine can: all processors
are busy, so that what the service takes is missing elsewhere. In turns, nobody asks, and hundreds
of requests a second ask for the status of jobs and for the stats. How fast the jobs were is read
from their snapshots, and told as a ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from bench.comparing import parser_of, run, say, served_site
from bench.measure import PROJECT, CrawlFailed, environment
from bench.options import count, seconds
from bench.server import free_port, running

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

_WANTED = 0.9
_PATIENCE = 60.0


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("service", __doc__, pages=30_000)
    parser.add_argument("--jobs", type=count, default=4, help="that crawl at once (%(default)s)")
    parser.add_argument("--rate", type=count, default=200, help="requests a second (%(default)s)")
    parser.add_argument("--seconds", type=seconds, default=6.0, help="of each turn (%(default)s)")
    parser.add_argument(
        "--delay", type=seconds, default=0.0, help="of each job's requests (%(default)s)"
    )
    return run(parser, arguments, _compare)


class Report:
    def __init__(self, quiet: list[float], asked: list[float], loads: list[dict[str, Any]]) -> None:
        self.quiet = quiet
        self.asked = asked
        self.loads = loads

    @property
    def ratio(self) -> float:
        return median(self.asked) / median(self.quiet)

    @property
    def differences(self) -> list[str]:
        """What must not be."""
        return [str(load["first_error"]) for load in self.loads if load["errors"]]

    def as_json(self) -> str:
        return json.dumps({**vars(self), "ratio": self.ratio}, indent=2)

    def show(self) -> None:
        table = Table(title="Crawls of a service", title_justify="left", show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        is_met = "met" if self.ratio >= _WANTED else "not met"
        for what, figure in (
            ("pages/s while nobody asks", f"{median(self.quiet):,.0f}"),
            ("pages/s while it is asked", f"{median(self.asked):,.0f}"),
            (f"ratio (≥ {_WANTED}: {is_met})", f"{self.ratio:.3f}"),
            ("requests", f"{sum(load['sent'] for load in self.loads):,}"),
            ("… that failed (0)", f"{sum(load['errors'] for load in self.loads):,}"),
            ("ms an answer, half of them", f"{median(x['median_ms'] for x in self.loads):.1f}"),
            ("… 99 % of them", f"{median(x['p99_ms'] for x in self.loads):.1f}"),
        ):
            table.add_row(what, figure)
        Console(highlight=False, soft_wrap=True).print(table)
        for difference in self.differences:
            print(f"bench service: error: {difference}", file=sys.stderr)


def _compare(options: argparse.Namespace) -> Report:
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        with (
            served_site(options, folder) as (_, served),
            _service(folder, options.jobs) as url,
        ):
            order = {"url": served.url, "store_bodies": False, "delay": options.delay}
            jobs = [_ask(url, "/crawl", order)["id"] for _ in range(options.jobs)]
            _wait(lambda: all(_pages(url, jobs)))
            quiet, asked, loads = [], [], []
            for turn in range(options.repeat):
                say(f"turn {turn + 1} of {options.repeat}: nobody asks")
                quiet.append(_rate(url, jobs, options.seconds))
                say(f"turn {turn + 1} of {options.repeat}: {options.rate} requests a second")
                with _load(url, options.rate, options.seconds, jobs) as load:
                    asked.append(_rate(url, jobs, options.seconds))
                    loads.append(json.loads(load.communicate()[0]))
            _ask(url, "/crawler/stop", {"kill": True})
    return Report(quiet, asked, loads)


@contextmanager
def _service(folder: Path, jobs: int) -> Iterator[str]:
    config = ConfigParser()
    config.read(PROJECT / "scrapyd.conf")
    port = free_port()
    config["scrapyd"].update({"http_port": str(port), "max_proc": str(jobs)})
    config["crawlproject"]["allow_internal"] = "yes"
    with (folder / "scrapyd.conf").open("w", encoding="utf-8") as file:
        config.write(file)
    url = f"http://127.0.0.1:{port}"
    with (
        (folder / "service.log").open("w", encoding="utf-8") as log,
        running(
            [sys.executable, "-m", "crawlproject.service"],
            cwd=folder,
            env=environment(PYTHONPATH=str(PROJECT)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        _wait(lambda: process.poll() is not None or _is_there(url))
        if process.poll() is not None:
            raise CrawlFailed((folder / "service.log").read_text(encoding="utf-8")[-1000:])
        yield url


@contextmanager
def _load(url: str, rate: int, duration: float, jobs: list[str]) -> Iterator[subprocess.Popen[str]]:
    paths = [path for job in jobs for path in (f"/crawler/jobs/{job}/status", "/crawler/stats")]
    port = url.rpartition(":")[2]
    command = [sys.executable, "-m", "bench.service_load", port, str(rate), str(duration), *paths]
    place = environment(PYTHONPATH=str(PROJECT))
    with running(command, stdout=subprocess.PIPE, text=True, env=place) as process:
        yield process


def _rate(url: str, jobs: list[str], duration: float) -> float:
    """Pages a second of all jobs together, by what they say themselves."""
    before = _snapshots(url, jobs)
    # The time over which it is measured.
    time.sleep(duration)
    after = _snapshots(url, jobs)
    if any(snapshot["phase"] != "running" for snapshot in after):
        raise CrawlFailed("a job has ended before the benchmark: give it more --pages")
    rates: list[float] = [
        (last["pages"] - first["pages"]) / (last["at"] - first["at"])
        for first, last in zip(before, after, strict=True)
    ]
    return sum(rates)


def _snapshots(url: str, jobs: list[str]) -> list[dict[str, Any]]:
    return [_ask(url, f"/crawler/jobs/{job}/live")["snapshot"] for job in jobs]


def _pages(url: str, jobs: list[str]) -> list[int]:
    return [_ask(url, f"/crawler/jobs/{job}/status")["pages"] for job in jobs]


def _ask(url: str, path: str, body: dict[str, Any] | None = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310  (a service of ours)
        url + path, content, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310
        return json.load(answer)


def _is_there(url: str) -> bool:
    try:
        return bool(_ask(url, "/daemonstatus.json"))
    except OSError:
        return False


def _wait(condition: Any) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise CrawlFailed("the service does not answer")
        # It is another process, and nothing tells when it is ready.
        time.sleep(0.1)
