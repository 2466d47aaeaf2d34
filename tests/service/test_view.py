"""How far a job is, as the API tells it."""

from __future__ import annotations

from typing import Any

import pytest

from crawlproject.monitoring.snapshot import Phase, Snapshot
from crawlproject.service.book import Job, Status
from crawlproject.service.view import counts_of

URLS = {"queued": 30, "leased": 10, "done": 50, "failed": 5, "skipped": 5}


def job(status: Status, **more: Any) -> Job:
    message = {"seed": "https://example.com", **more.pop("arguments", {})}
    return Job(1, "j", "p", "site", message, 0.0, status, 90.0, **more)


def shot(at: float, **more: Any) -> Snapshot:
    return Snapshot(at=at, started_at=100.0, urls=URLS, pages=60, pages_per_second=4.0, **more)


def test_a_job_that_runs_is_told_by_its_snapshot() -> None:
    counts = counts_of(job(Status.RUNNING, started_at=100.0), shot(110.0), 112.0)
    assert counts == {
        "total": 100,
        "crawled": 50,
        "in_progress": 10,
        "queued": 30,
        "failed": 5,
        "skipped": 5,
        "pages": 60,
        "pages_per_second": 4.0,
        "eta_seconds": 10.0,
        "elapsed_seconds": 12.0,
        "phase": "running",
    }


@pytest.mark.parametrize(
    ("one", "snapshot", "eta", "rate", "phase"),
    [
        (job(Status.QUEUED), None, None, 0.0, "queued"),
        (job(Status.RUNNING, started_at=100.0), None, None, 0.0, "starting"),
        # The snapshot is of a run before this one.
        (job(Status.RUNNING, started_at=200.0), shot(110.0), None, 0.0, "starting"),
        (job(Status.QUEUED, started_at=100.0), shot(110.0), None, 0.0, "queued"),
        (
            job(Status.STOPPING, started_at=100.0),
            shot(110.0, phase=Phase.STOPPING),
            None,
            4.0,
            "stopping",
        ),
        (job(Status.FINISHED, started_at=100.0, ended_at=120.0), shot(120.0), None, 0.0, "ended"),
        # With a budget, no more is fetched than that.
        (
            job(Status.RUNNING, started_at=100.0, arguments={"max_pages": "80"}),
            shot(110.0),
            5.0,
            4.0,
            "running",
        ),
        (
            job(Status.RUNNING, started_at=100.0, arguments={"max_pages": "many"}),
            shot(110.0),
            10.0,
            4.0,
            "running",
        ),
    ],
)
def test_what_is_not_known_is_not_told(
    one: Job, snapshot: Snapshot | None, eta: float | None, rate: float, phase: str
) -> None:
    counts = counts_of(one, snapshot, 130.0)
    assert (counts["eta_seconds"], counts["pages_per_second"]) == (eta, rate)
    assert counts["phase"] == phase
