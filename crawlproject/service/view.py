"""What the API says of a job: what the book has of it, and its last snapshot."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawlproject.errors import BadArgument
from crawlproject.monitoring.snapshot import read_snapshot
from crawlproject.redaction import redacted
from crawlproject.service.book import Status
from crawlproject.service.layout import (
    OUTPUTS,
    SNAPSHOT,
    crawl_directory,
    log_file,
)
from crawlproject.spiders.seeds import read_seeds_file, split_seeds

if TYPE_CHECKING:
    from pathlib import Path

    from scrapyd.config import Config

    from crawlproject.monitoring.snapshot import Snapshot
    from crawlproject.service.book import Book, Job

    Account = dict[str, Any]

# Seconds for which a snapshot is not looked at again: it is written once a second.
_FRESH = 0.25
# Snapshots of jobs that are kept in memory.
_SNAPSHOTS = 1000
# Seeds that are named.
MOST_SEEDS = 20


class View:
    def __init__(self, config: Config, book: Book) -> None:
        self._config = config
        self.book = book
        # When each was looked at, what its file was then, and what was in it.
        self._snapshots: dict[int, tuple[float, int, Snapshot | None]] = {}
        self._known_seeds: dict[int, tuple[list[str], int]] = {}

    def folder(self, job: Job) -> Path:
        return crawl_directory(self._config, job.project, job.spider, job.id)

    def snapshot(self, job: Job) -> Snapshot | None:
        now = time.monotonic()
        looked_at, stamp, known = self._snapshots.get(job.number, (float("-inf"), 0, None))
        if job.is_open and now - looked_at < _FRESH:
            return known
        path = self.folder(job) / SNAPSHOT
        try:
            written = path.stat().st_mtime_ns
        except OSError:
            written = 0
        if written != stamp:
            known = read_snapshot(path) if written else None
        if len(self._snapshots) >= _SNAPSHOTS:
            self._snapshots.clear()
        self._snapshots[job.number] = now, written, known
        return known

    def account(self, job: Job) -> Account:
        seeds, seed_count = self._seeds(job)
        return {
            "id": job.id,
            "status": str(job.status),
            "project": job.project,
            "spider": job.spider,
            "seeds": seeds,
            "seed_count": seed_count,
            "arguments": redacted(
                {
                    name: value
                    for name, value in job.arguments.items()
                    if name not in ("seed", "seeds_file")
                }
            ),
            "queued_at": _iso(job.queued_at),
            "started_at": _iso(job.started_at),
            "ended_at": _iso(job.ended_at),
            "runs": job.runs,
            "exit_status": job.exit_status,
            "problem": job.problem,
            "outputs": self._outputs(job),
            "log": self._log(job),
        }

    def counts(self, job: Job) -> Account:
        return counts_of(job, self.snapshot(job), time.time())

    def whole(self, job: Job) -> Account:
        return {**self.account(job), **self.counts(job)}

    def output(self, job: Job, name: str) -> Path | None:
        """A file among the outputs of a job."""
        return next((path for path in self._files(job) if path.name == name), None)

    def _files(self, job: Job) -> list[Path]:
        folder = self.folder(job) / OUTPUTS
        if not folder.is_dir():
            return []
        # Those that begin with a dot are not complete.
        files = [path for path in folder.iterdir() if path.is_file()]
        return sorted(path for path in files if not path.name.startswith("."))

    def _outputs(self, job: Job) -> list[Account]:
        return [
            {
                "name": path.name,
                "bytes": path.stat().st_size,
                "href": f"/crawl/{job.id}/outputs/{path.name}",
            }
            for path in self._files(job)
        ]

    def _log(self, job: Job) -> str | None:
        path = log_file(self._config, job.project, job.spider, job.id)
        return f"/logs/{job.project}/{job.spider}/{job.id}.log" if path.exists() else None

    def has_seed_at(self, job: Job, host: str) -> bool:
        """Whether a job began at a host, as far as its first seeds tell."""
        return any(host in seed.lower() for seed in self._seeds(job)[0])

    def _seeds(self, job: Job) -> tuple[list[str], int]:
        """The first seeds, and how many there are. They may be many, and stay the same."""
        if job.number not in self._known_seeds:
            seeds = split_seeds(job.arguments.get("seed", ""))
            if not seeds and "seeds_file" in job.arguments:
                with suppress(OSError, BadArgument):
                    path = job.arguments["seeds_file"]
                    seeds = [seed for _, seed in read_seeds_file("seeds_file", path)]
            if len(self._known_seeds) >= _SNAPSHOTS:
                self._known_seeds.clear()
            self._known_seeds[job.number] = redacted(seeds[:MOST_SEEDS], "seed"), len(seeds)
        return self._known_seeds[job.number]


def counts_of(job: Job, snapshot: Snapshot | None, now: float) -> Account:
    """How far a job is. Pure."""
    started, ended = job.started_at, job.ended_at
    # One that waits has not begun this time.
    is_begun = started is not None and job.status is not Status.QUEUED
    elapsed = max(0.0, (ended or now) - (started or now)) if is_begun else None
    is_running = job.status in (Status.RUNNING, Status.STOPPING)
    urls = {} if snapshot is None else snapshot.urls
    # One of an earlier run says how far that was.
    is_current = snapshot is not None and started is not None and snapshot.at >= started
    rate = snapshot.pages_per_second if snapshot is not None and is_current and is_running else 0.0
    waiting = urls.get("queued", 0) + urls.get("leased", 0)
    return {
        "total": sum(urls.values()),
        "crawled": urls.get("done", 0),
        "in_progress": urls.get("leased", 0),
        "queued": urls.get("queued", 0),
        "failed": urls.get("failed", 0),
        "skipped": urls.get("skipped", 0),
        "pages": 0 if snapshot is None else snapshot.pages,
        "pages_per_second": round(rate, 2),
        "eta_seconds": _eta(job, snapshot, waiting, rate),
        "elapsed_seconds": None if elapsed is None else round(elapsed, 1),
        "phase": _phase(job, snapshot if is_current else None),
    }


def _eta(job: Job, snapshot: Snapshot | None, waiting: int, rate: float) -> float | None:
    """Seconds, about, if nothing more is found. None: nobody knows."""
    if snapshot is None or rate <= 0 or job.status is not Status.RUNNING:
        return None
    most = job.arguments.get("max_pages", "")
    if most.isascii() and most.isdigit():
        waiting = min(waiting, max(0, int(most) - snapshot.pages))
    return round(waiting / rate, 1)


def _phase(job: Job, snapshot: Snapshot | None) -> str:
    if not job.is_open:
        return "ended"
    if job.status is Status.QUEUED:
        return "queued"
    return "starting" if snapshot is None else snapshot.phase


def _iso(moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
