"""Jobs outlive the service, however it ends."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawlproject.service.book import Book
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
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


def test_what_was_to_be_removed_is_removed_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "var" / "jobs" / ".removed" / "x" / "bodies"
    left.mkdir(parents=True)
    # Nor does a job wait for a project that is gone.
    (tmp_path / "var" / "dbs").mkdir()
    with closing(sqlite3.connect(tmp_path / "var/dbs/book.sqlite", isolation_level=None)) as file:
        Book(file).order("homeless", "gone", "site", {"_job": "homeless"}, priority=0.0, now=1.0)
    with Service(tmp_path) as service:
        wait_for(lambda: not left.exists())
        homeless = service.get("/crawl/homeless").json
        assert homeless["status"] == "stopped"
        assert homeless["problem"] == "there is no project 'gone' any more"
        resumed = service.post("/crawler/jobs/homeless/resume")
        assert (resumed.status, resumed.json) == (409, {"error": homeless["problem"]})


def test_an_order_that_never_reached_the_queue_is_run(site: SiteFactory, tmp_path: Path) -> None:
    """As if the service had been killed between its two databases."""
    server = site({"pages": {"/": {}}})
    with Service(tmp_path) as service:
        job = service.order(server.url(), depth=0)
        service.until_ended(job)
        service.stop()
        with sqlite3.connect(tmp_path / "var/dbs/book.sqlite") as book:
            book.execute("UPDATE jobs SET status = 'queued', ended_at = NULL")
        book.close()
        service.start()
        done = service.until_ended(job)
        assert (done["status"], done["runs"]) == ("finished", 2)


def test_old_jobs_are_removed_with_what_they_have(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    with Service(tmp_path, keep_jobs="2") as service:
        jobs = []
        for _ in range(3):
            jobs.append(service.order(server.url(), depth=0))
            wait_for(
                lambda: service.get("/crawler/stats").json["jobs"] == {"queued": 0, "running": 0}
            )
        assert [service.get(f"/crawl/{job}").status for job in jobs] == [404, 200, 200]
        wait_for(lambda: not service.crawl_directory(jobs[0]).exists())
