"""Rounds of visits: they go on after a kill, end at a limit, or never; by the server's log."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site
from tests.killing import Command, CrawlProcess
from tests.spiders.generations import page, urlset

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PAGES = 60


def mesh(**more: Any) -> dict[str, Any]:
    """A site whose pages take some time."""
    return {
        "generated": {"kind": "mesh", "pages": PAGES, "links": 4},
        "random_delay": [0.005, 0.02],
        **more,
    }


def asked(server: Site, since: int = 0) -> Counter[str]:
    return Counter(path for path in server.paths()[since:])


def test_a_round_goes_on_after_a_kill_and_nothing_is_visited_twice(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(mesh())
    output = tmp_path / "s.json"
    options = ("-a", f"seed={server.url()}", "-O", str(output), "-a", "concurrency=4")
    assert Command(tmp_path, *options).run().returncode == 0
    whole = json.loads(output.read_text())
    # Slow enough to be killed in the middle.
    server.set(mesh(random_delay=[0.05, 0.1]))
    since = len(server.paths())
    command = Command(tmp_path, *options, "-a", "recrawl=all", "-s", "FRONTIER_COMMIT_PAGES=5")
    for paths in (15, 30):
        command.run_until_asked(server, paths, since=since)
    assert command.run().returncode == 0
    visits = asked(server, since)
    assert len(visits) == PAGES
    # What was in flight, or not yet committed, is asked for once more.
    assert visits.total() <= PAGES + 2 * (4 + 5)
    assert json.loads(output.read_text()) == whole
    # The round is over: what comes next is another one.
    since = len(server.paths())
    assert command.run().returncode == 0
    assert len(asked(server, since)) == PAGES


@deferred_f_from_coro_f
async def test_a_limit_ends_a_round_and_the_next_one_chooses_anew(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(mesh())
    settings = {"JOBDIR": str(tmp_path / "crawl")}
    await crawl_site(server.url(), settings)
    with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as database, database:
        # Long ago, so that what is visited now is not the oldest soon, however much it matters.
        database.execute("UPDATE visits SET visited_at = visited_at - 10000")
    rounds = []
    for _ in range(3):
        since = len(server.paths())
        crawled = await crawl_site(
            server.url(),
            {**settings, "CLOSESPIDER_PAGECOUNT": 25},
            recrawl="all",
            concurrency="1",
        )
        assert crawled.stats["finish_reason"] == "closespider_pagecount"
        assert crawled.stats["recrawl/called"] == PAGES
        rounds.append({*asked(server, since)})
    # Who waits longest deserves it most: all are visited in turn.
    assert len(rounds[0] | rounds[1]) >= 50
    assert rounds[0] | rounds[1] | rounds[2] == {*asked(server)}


@deferred_f_from_coro_f
async def test_never_ends_a_round_that_was_killed(site: SiteFactory, tmp_path: Path) -> None:
    server = site(mesh())
    options = ("-a", f"seed={server.url()}", "-a", "concurrency=2")
    assert Command(tmp_path, *options).run().returncode == 0
    since = len(server.paths())
    Command(tmp_path, *options, "-a", "recrawl=all").run_until_asked(server, 10, since=since)
    since = len(server.paths())
    settings = {"JOBDIR": str(tmp_path / "job")}
    crawled = await crawl_site(server.url(), settings, recrawl="never", concurrency="2")
    assert asked(server, since) == Counter()
    assert crawled.frontier.counts().open == 0
    assert crawled.frontier.counts().pages == PAGES


@deferred_f_from_coro_f
async def test_a_date_in_a_sitemap_makes_a_page_due(site: SiteFactory, tmp_path: Path) -> None:
    def spec(lastmod: str) -> dict[str, Any]:
        named = [("/a", f"<lastmod>{lastmod}</lastmod>"), ("/b", "<lastmod>2020-01-01</lastmod>")]
        sitemap = {"body": urlset(*named), "content_type": "application/xml"}
        pages = {"/": page("/a", "/b"), "/a": page(), "/b": page(), "/sitemap.xml": sitemap}
        return {"pages": pages}

    server = site(spec("2020-01-01"))
    settings = {"JOBDIR": str(tmp_path / "crawl"), "SITEMAPS_MODE": "auto"}
    # Soon due again is the sitemap, which nobody gives a date.
    soon = {**settings, "RECRAWL_MIN_INTERVAL_SECONDS": 1e-3, "RECRAWL_CHANCE": 0.01}
    await crawl_site(server.url(), settings)
    database = tmp_path / "crawl" / "crawl.db"
    due_now(database, "sitemap")
    server.set(spec("2100-01-01"))
    since = len(server.paths())
    await crawl_site(server.url(), soon)
    assert asked(server, since) == Counter(["/sitemap.xml", "/a"])


def due_now(database: Path, of: str) -> None:
    """As if time had passed."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE visits SET next_at = 0 WHERE id IN (SELECT id FROM urls WHERE url LIKE ?)",
            (f"%{of}",),
        )


@pytest.mark.parametrize("engine", ["directory", "redis"])
def test_a_continuous_crawl_sleeps_until_something_is_due(
    site: SiteFactory, tmp_path: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    pages = {"/": page("/a", etag='"1"'), "/a": page(etag='"2"')}
    server = site({"pages": pages})
    options = [
        *("-a", f"seed={server.url()}", "-s", "RECRAWL_CONTINUOUS=True", "-a", "sitemaps=never"),
        *("-s", "RECRAWL_MIN_INTERVAL_SECONDS=0.1", "-s", "RECRAWL_MAX_INTERVAL_SECONDS=0.2"),
    ]
    if engine == "redis":
        options += ["-s", f"REDIS_URL={request.getfixturevalue('redis_url')}"]
    with CrawlProcess(tmp_path, *options, "-O", "s.json") as crawl:
        crawl.until(lambda: len(server.paths()) >= 6)
        server.set({"pages": {**pages, "/a": page("/new", etag='"3"'), "/new": page()}})
        crawl.until(lambda: server.paths().count("/new") >= 2)
        crawl.interrupt()
        assert crawl.finish() == 0, crawl.errors()
    entries = [entry for entry in server.log() if entry["path"] == "/"]
    assert [entry["status"] for entry in entries[:3]] == [200, 304, 304]
    assert {page["url"] for page in json.loads((tmp_path / "s.json").read_text())["pages"]} == {
        server.url(path) for path in ("/", "/a", "/new")
    }
