"""A disk that is full ends a crawl with one line; what was committed is all there."""

from __future__ import annotations

import json
import re
import resource
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from crawlproject.frontier.base import Candidate
from crawlproject.frontier.database import connect
from crawlproject.frontier.hosts import HostLimits
from crawlproject.frontier.sqlite import SqliteFrontier
from tests.killing import Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def opened(folder: Path) -> SqliteFrontier:
    return SqliteFrontier(
        connect(folder), host_of=lambda url: "host", limits=lambda host: HostLimits(0, 9)
    )


def test_after_a_full_disk_nothing_is_given_out_and_what_was_committed_is_there(
    tmp_path: Path,
) -> None:
    frontier = opened(tmp_path)
    database = frontier.read().database
    frontier.admit([Candidate("first")])
    frontier.commit()
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages + 4}")
    lease = frontier.take(0)
    assert lease is not None
    lease.found = [Candidate(f"link {number} " + "x" * 500) for number in range(1_000)]
    frontier.landed(lease, 0)
    frontier.finish(lease)
    assert frontier.failure is not None
    assert "full" in frontier.failure
    assert frontier.exhausted()
    assert frontier.take(0) is None
    frontier.finish(lease)
    frontier.close()
    again = opened(tmp_path)
    assert (again.counts().queued, again.counts().done) == (1, 0)
    lease = again.take(0)
    assert lease is not None
    assert lease.url == "first"


def small_files() -> None:
    """No file may grow beyond 300 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_a_crawl_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages = 400
    server = site({"generated": {"kind": "mesh", "pages": pages, "links": 40}})
    output = tmp_path / "sitemap.json"
    output.write_text("of yesterday")
    options = ("-a", f"seed={server.url()}", "-O", str(output), "-s", "FRONTIER_COMMIT_PAGES=10")
    done = Command(tmp_path, *options, before=small_files).run()
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "error: the crawl directory can't be used: disk I/O error" in done.stderr
    assert output.read_text() == "of yesterday"
    # What was kept, and not what was fetched.
    with closing(sqlite3.connect(tmp_path / "job" / "crawl.db")) as database:
        (kept,) = database.execute("SELECT count(*) FROM pages").fetchone()
    assert 0 < kept < pages
    assert re.search(rf"Crawled {kept} pages? of ", done.stderr)
    done = Command(tmp_path, *options).run()
    assert done.returncode == 0, done.stderr
    assert len(json.loads(output.read_bytes())["pages"]) == pages
