"""All jobs that run, as one: for ``/crawler/stats`` and ``/metrics``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlproject.service.book import Status

if TYPE_CHECKING:
    from crawlproject.monitoring.snapshot import Snapshot
    from crawlproject.service.view import View

RUNNING = (Status.RUNNING, Status.STOPPING)
_HOST_STATES = ("ready", "waiting", "held", "idle")


def snapshots(view: View) -> list[tuple[str, Snapshot]]:
    """The last snapshot of each job that runs, by its id."""
    shots = []
    for job in view.book.open.values():
        snapshot = view.snapshot(job) if job.status in RUNNING else None
        # One of an earlier run is not of now.
        if snapshot is not None and snapshot.at >= (job.started_at or 0.0):
            shots.append((job.id, snapshot))
    return shots


def jobs(view: View) -> dict[str, int]:
    return {
        "queued": view.book.count_open(Status.QUEUED),
        "running": view.book.count_open(*RUNNING),
    }


def totals(view: View) -> dict[str, Any]:
    shots = [snapshot for _, snapshot in snapshots(view)]
    urls: Counter[str] = Counter()
    for shot in shots:
        urls.update(shot.urls)
    hosts = sum(shot.hosts.total for shot in shots)
    delays = sum(shot.hosts.mean_delay * shot.hosts.total for shot in shots)
    return {
        "jobs": jobs(view),
        "pages": sum(shot.pages for shot in shots),
        "pages_per_second": round(sum(shot.pages_per_second for shot in shots), 2),
        "bytes": sum(shot.bytes for shot in shots),
        "urls": {state: urls[state] for state in ("queued", "leased", "done", "failed", "skipped")},
        "duplicates": sum(shot.duplicates for shot in shots),
        "links": sum(shot.links for shot in shots),
        "cache_hits": sum(shot.links_known for shot in shots),
        "politeness": {
            "hosts": {
                state: sum(getattr(shot.hosts, state) for shot in shots) for state in _HOST_STATES
            },
            "mean_delay_seconds": round(delays / hosts, 3) if hosts else 0.0,
            "longest_delay_seconds": max((shot.hosts.longest_delay for shot in shots), default=0.0),
            "overloads": sum(shot.overloads for shot in shots),
        },
    }
