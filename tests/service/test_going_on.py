"""Jobs outlive the service, however it ends."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawlproject.service.book import FILE, Book, Status
from tests.service.serving import Service
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CHAIN = {
    "pages": {f"/{n}" if n else "/": {"links": [f"/{n + 1}"] if n < 29 else []} for n in range(30)}
}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_jobs_go_on_when_the_service_is_back(
    site: SiteFactory, tmp_path: Path, number: signal.Signals
) -> None:
    server = site(CHAIN)
    with Service(tmp_path, scrapyd={"max_proc": "1"}) as service:
        running = service.order(server.url(), delay=0.03, depth="none")
        waiting = service.order(server.url("/29"), depth=0)
        wait_for(lambda: len(server.paths()) >= 8)
        service.stop(number)
        service.start()
        done = service.until_ended(running)
        assert (done["status"], done["runs"]) == ("finished", 2)
        assert len(done["sitemap"]["pages"]) == 30
        assert service.until_ended(waiting)["status"] == "finished"
    paths = [path for path in server.paths() if path != "/29"]
    # In peace, what was in flight is finished and kept. After a kill the job ends by itself, in
    # peace too.
    assert len(paths) == len(set(paths)) == 29
    assert "Traceback" not in service.log()


def test_what_was_to_be_stopped_does_not_go_on(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/slow"]}, "/slow": {"delay": 3}}})
    with Service(tmp_path) as service:
        job = service.order(server.url())
        wait_for(lambda: any(entry["path"] == "/slow" for entry in server.open()))
        service.post("/crawler/stop", {"job_id": job})
        service.stop(signal.SIGKILL)
        service.start()
        assert service.job(job)["status"] == "stopped"
        assert service.get("/crawler/stats").json["jobs"] == {"queued": 0, "running": 0}


def test_a_stop_is_asked_for_once_whoever_ends_the_service(
    site: SiteFactory, tmp_path: Path
) -> None:
    """Scrapy, asked twice, writes no output."""
    pages = {"/": {"links": ["/slow"]}, "/slow": {"delay": 3, "links": ["/next"]}, "/next": {}}
    server = site({"pages": pages})
    with Service(tmp_path) as service:
        job = service.order(server.url())
        wait_for(lambda: any(entry["path"] == "/slow" for entry in server.open()))
        service.form("/cancel.json", project="crawlproject", job=job)
        assert service.job(job)["status"] == "stopping"
        service.post("/crawler/stop", {"job_id": job})
        service.stop(signal.SIGTERM)
        service.start()
        done = service.until_ended(job)
        assert (done["status"], done["runs"]) == ("stopped", 1)
        assert len(done["sitemap"]["pages"]) == 2
        assert done["ended_at"] is not None
    assert server.paths() == ["/", "/slow"]


def write_book(folder: Path, *jobs: tuple[str, str, Status, str]) -> None:
    """A book, as an earlier service has left it: ids, projects, states, seeds."""
    (folder / "var" / "dbs").mkdir(parents=True)
    path = folder / "var" / "dbs" / FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        book = Book(database)
        for number, (name, project, status, seed) in enumerate(jobs):
            message = {"_job": name, "seed": seed, "depth": "0"}
            job = book.order(name, project, "site", message, priority=0.0, now=number)
            job.status, job.started_at, job.runs = status, float(number), 1
            job.ended_at = None if job.is_open else float(number)
            book.write(job)


def test_what_an_earlier_service_has_left_is_brought_to_its_end(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {}}})
    ours = "crawlproject"
    write_book(
        tmp_path,
        ("old", ours, Status.FINISHED, server.url()),
        ("newer", ours, Status.FINISHED, server.url()),
        # Killed between its two databases, or while the job ran.
        ("never queued", ours, Status.QUEUED, server.url()),
        ("stopping", ours, Status.STOPPING, server.url()),
        ("homeless", "gone", Status.QUEUED, server.url()),
    )
    removed = tmp_path / "var" / "jobs" / ".removed" / "x" / "bodies"
    removed.mkdir(parents=True)
    with Service(tmp_path, keep_jobs="4") as service:
        old = service.crawl_directory("old")
        old.mkdir(parents=True)
        wait_for(lambda: not removed.exists())
        done = service.until_ended("never%20queued")
        assert (done["status"], done["runs"]) == ("finished", 2)
        assert service.job("stopping")["status"] == "stopped"
        homeless = service.get("/crawl/homeless").json
        assert homeless["status"] == "stopped"
        assert homeless["problem"] == "there is no project 'gone' any more"
        resumed = service.post("/crawler/jobs/homeless/resume")
        assert (resumed.status, resumed.json) == (409, {"error": homeless["problem"]})
        # One more than are kept has ended.
        assert [service.get(f"/crawl/{job}").status for job in ("old", "newer")] == [404, 200]
        wait_for(lambda: not old.exists())
