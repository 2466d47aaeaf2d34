"""The snapshot file of real crawls, against a known site and its server's log."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.monitoring import snapshot_file
from crawlproject.monitoring.counting import Counting
from crawlproject.monitoring.snapshot import Phase, Snapshot, read_snapshot
from crawlproject.monitoring.snapshot_file import SnapshotFile
from crawlproject.monitoring.vitals import Vitals
from crawlproject.private_files import create_new
from tests.crawling import crawl_site, project_settings
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Lease
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

TWIN = "<title>Twin</title><p>the same words on two pages"
GARDEN: dict[str, Any] = {
    "robots": "User-agent: *\nDisallow: /private/\n",
    "pages": {
        "/": {
            "links": [
                *("/a", "/twin", "/missing", "/flaky", "/private/x", "/hang", "/moved"),
                "https://elsewhere.example/",
            ]
        },
        "/a": {"title": "A", "links": ["/deep", "/"]},
        "/deep": {"body": TWIN},
        "/twin": {"body": TWIN},
        "/missing": {"status": 404},
        "/flaky": {"times": {"1": {"status": 500}}},
        "/hang": {"hang": True},
        "/moved": {"redirect": "/target"},
        "/target": {"status": 999},
    },
}


def taken(path: Path) -> Snapshot:
    snapshot = read_snapshot(path)
    assert snapshot is not None
    return snapshot


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def watched(path: Path, **settings: Any) -> dict[str, Any]:
    return {
        "MONITORING_SNAPSHOT_FILE": str(path),
        "MONITORING_SNAPSHOT_SECONDS": 0.02,
        **settings,
    }


def started(server: Site, settings: dict[str, Any]) -> tuple[Crawler, Awaitable[None]]:
    """A crawl that goes on, and its end."""
    runner = AsyncCrawlerRunner(project_settings(settings))
    crawler = runner.create_crawler("site")
    return crawler, runner.crawl(crawler, seed=server.url())


async def seen(path: Path, condition: Callable[[Snapshot], bool]) -> None:
    """Wait for a snapshot in the file, while the crawl goes on."""

    def is_there() -> bool:
        snapshot = read_snapshot(path)
        return snapshot is not None and condition(snapshot)

    await asyncio.to_thread(wait_for, is_there)


@deferred_f_from_coro_f
async def test_the_last_snapshot_says_what_came_of_everything(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, path = site(GARDEN), tmp_path / "snapshot.json"
    crawled = await crawl_site(server.url(), watched(path, DOWNLOAD_TIMEOUT=2, RETRY_TIMES=1))
    log, shot = server.log(), taken(path)
    assert (shot.phase, shot.reason, shot.problem) == (Phase.ENDED, "finished", None)
    assert shot.ended_at is not None
    assert shot.started_at < shot.ended_at <= shot.at
    assert (shot.pages, shot.pages_before) == (9, 0)
    assert shot.outcomes == {"fine": 5, "broken": 3, "blocked": 0, "denied": 1, "refused": 0}
    # As the server has it: robots.txt and retries among them.
    assert shot.requests == len(log)
    statuses = Counter(str(entry["status"]) for entry in log if entry["status"])
    assert shot.responses == statuses
    assert statuses["200"] == 6
    assert statuses["999"] == 1
    assert (shot.timeouts, shot.retries) == (2, 2)
    assert (shot.robots_denied, shot.overloads) == (1, 0)
    assert shot.depths == {"0": 1, "1": 7, "2": 1}
    assert shot.urls == {"queued": 0, "leased": 0, "done": 6, "failed": 3, "skipped": 2}
    assert shot.skipped == {"offsite": 1, "robots": 1}
    assert shot.errors == {"timeout": 1, "robots": 1}
    assert shot.duplicates == 1
    assert shot.links == sum(len(page.links) for page in crawled.pages.values())
    assert 0 < shot.links_known < shot.links
    assert shot.bytes == crawled.stats["downloader/response_bytes"]
    times = [page.fetch_ms for page in crawled.pages.values() if page.fetch_ms is not None]
    assert sum(shot.fetch_seconds.counts) == len(times)
    assert shot.fetch_seconds.sum == pytest.approx(sum(times) / 1000)
    assert (shot.hosts.total, shot.hosts.idle, shot.hosts.held) == (1, 1, 0)
    assert shot.memory_bytes > 2**20
    assert shot.cpu_seconds > 0
    assert shot.oldest_page_at is not None
    assert shot.newest_page_at is not None
    assert shot.started_at < shot.oldest_page_at < shot.newest_page_at < shot.ended_at
    assert shot.history[0] == (0.0, 0)
    assert shot.history[-1][1] == 9
    assert {page.url for page in shot.latest_pages} == set(crawled.pages)
    assert [page.title for page in shot.latest_pages if page.url == server.url("/a")] == ["A"]
    assert {error.url: error.status_code for error in shot.latest_errors} == {
        server.url("/missing"): 404,
        server.url("/hang"): None,
        server.url("/target"): 999,
    }
    assert {error.referrer for error in shot.latest_errors} == {server.url("/")}
    assert names(tmp_path) == ["snapshot.json"]


@deferred_f_from_coro_f
async def test_while_the_crawl_runs_the_file_is_replaced(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a", "/hang"]}, "/a": {}, "/hang": {"hang": True}}})
    path = tmp_path / "snapshot.json"
    _, end = started(server, watched(path, DOWNLOAD_TIMEOUT=30, RETRY_TIMES=0))
    await seen(path, lambda shot: shot.pages == 2)
    shot = taken(path)
    assert (shot.phase, shot.ended_at, shot.reason) == (Phase.RUNNING, None, None)
    assert shot.urls["leased"] == 1
    assert shot.hosts.ready == 1
    await seen(path, lambda later: later.at > shot.at)
    server.stop()
    await end
    assert taken(path).outcomes == {"fine": 2, "broken": 1, "blocked": 0, "denied": 0, "refused": 0}


@deferred_f_from_coro_f
async def test_a_host_that_is_left_alone_is_held(site: SiteFactory, tmp_path: Path) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "500"}}
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": busy}})
    path = tmp_path / "snapshot.json"
    crawler, end = started(server, watched(path))
    await seen(path, lambda shot: shot.hosts.held == 1)
    # Long enough to say how often a host is asked in a second.
    await seen(path, lambda shot: shot.hosts.busiest_per_second > 0)
    await crawler.stop_async()
    await end
    shot = taken(path)
    assert (shot.overloads, shot.retries, shot.urls["queued"]) == (1, 1, 1)
    assert shot.responses["429"] == 1
    assert shot.hosts.busiest_per_second <= len(server.log())


class Witness:
    """What is in the file when the outputs are about to be written."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.phase: Phase | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Witness:
        witness = cls(crawler)
        crawler.signals.connect(witness.spider_closed, signals.spider_closed)
        return witness

    def spider_closed(self) -> None:
        file = self._crawler.get_extension(SnapshotFile)
        assert file is not None
        self.phase = taken(file._path).phase


@deferred_f_from_coro_f
async def test_it_says_when_the_crawl_stops_and_when_outputs_are_written(
    site: SiteFactory, tmp_path: Path
) -> None:
    server, path = site({"pages": {"/": {"hang": True}}}), tmp_path / "snapshot.json"
    settings = watched(
        path,
        EXTENSIONS={Witness: 1000},
        FEEDS={str(tmp_path / "s.json"): {"format": "json"}},
        DOWNLOAD_TIMEOUT=30,
        RETRY_TIMES=0,
    )
    crawler, end = started(server, settings)
    await asyncio.to_thread(wait_for, lambda: any(one["path"] == "/" for one in server.open()))
    stopping = asyncio.ensure_future(crawler.stop_async())
    await seen(path, lambda shot: shot.phase is Phase.STOPPING)
    server.stop()
    await stopping
    await end
    witness = crawler.get_extension(Witness)
    assert witness is not None
    assert witness.phase is Phase.WRITING
    assert (taken(path).phase, taken(path).reason) == (Phase.ENDED, "shutdown")
    # What was under way has come.
    assert taken(path).pages == 1


@deferred_f_from_coro_f
async def test_a_crawl_that_goes_on_has_the_pages_of_all_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"generated": {"kind": "chain", "pages": 5}})
    path = tmp_path / "snapshot.json"
    settings = watched(path, JOBDIR=str(tmp_path / "crawl"))
    await crawl_site(server.url(), settings, max_pages="2")
    first = taken(path)
    await crawl_site(server.url(), settings)
    second = taken(path)
    assert (first.pages, first.pages_before) == (2, 0)
    assert (second.pages, second.pages_before) == (5, 2)
    assert second.outcomes["fine"] == 3
    assert second.urls["done"] == 5
    assert second.history[-1][1] == 3
    assert first.ended_at is not None
    assert second.oldest_page_at is not None
    assert second.oldest_page_at < first.ended_at < second.started_at


@deferred_f_from_coro_f
async def test_a_worker_of_a_shared_crawl_tells_what_it_has_done(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server, path = site({"generated": {"kind": "tree", "fan": 2, "depth": 2}}), tmp_path / "s.json"
    await crawl_site(server.url(), watched(path, REDIS_URL=redis_url))
    shot = taken(path)
    assert (shot.pages, shot.urls["done"], shot.requests) == (7, 7, len(server.log()))
    assert (shot.hosts.total, shot.hosts.idle) == (1, 1)


class Picky:
    """A gatekeeper with words of its own."""

    asks_the_host = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Picky:
        return cls()

    def verdict(self, lease: Lease) -> str | None:
        return 'no "PDF"\n\ud800: our own rule' if lease.url.endswith(".pdf") else None


class Wordy:
    """A scope rule with as many."""

    def reason(self, url: str) -> str | None:
        return f"word {url[-2:]}" if "word" in url else None


@deferred_f_from_coro_f
async def test_what_sites_and_teams_write_does_no_harm(site: SiteFactory, tmp_path: Path) -> None:
    title = "<title>\x1b[31m &#xD800; &#0; \u202e" + "x" * 300 + "</title>"
    words = [f"/word{number}" for number in range(10, 80)]
    server = site({"pages": {"/": {"body": title + "".join(f"<a href={w}>" for w in words)}}})
    path = tmp_path / "snapshot.json"
    settings = watched(path, FRONTIER_GATEKEEPER=Picky, SCOPE_RULES=[Wordy])
    await crawl_site(f"{server.url()} {server.url('/a.pdf')}", settings)
    shot = taken(path)
    assert shot.outcomes == {"fine": 1, "broken": 0, "blocked": 0, "denied": 0, "refused": 1}
    assert shot.errors == {'no "PDF"\n\ufffd': 1}
    assert len(shot.skipped) == 50
    assert shot.skipped["other"] == 21
    (titled,) = (page for page in shot.latest_pages if page.title)
    assert len(titled.title or "") <= 200
    assert json.loads(path.read_bytes())["latest_errors"][0]["error"].startswith('no "PDF"')


def nowhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return folder / "gone" / "snapshot.json"


def taken_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder / "snapshot.json").mkdir()
    return folder / "snapshot.json"


def full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """There is no room for the first one."""
    files: list[Path] = []

    def create(path: Path, **options: Any) -> IO[bytes]:
        files.append(path)
        return create_new(path, **options) if len(files) > 1 else Path("/dev/full").open("wb")

    monkeypatch.setattr(snapshot_file, "create_new", create)
    return folder / "snapshot.json"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (nowhere, "No such file or directory"),
        (taken_place, "Is a directory"),
        (full_disk, "No space left on device"),
    ],
)
@deferred_f_from_coro_f
async def test_a_file_that_cannot_be_written_costs_a_line_and_not_the_crawl(
    site: SiteFactory,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    place: Callable[[Path, pytest.MonkeyPatch], Path],
    problem: str,
) -> None:
    server, path = site({"generated": {"kind": "wide", "pages": 5}}), place(tmp_path, monkeypatch)
    crawled = await crawl_site(server.url(), watched(path))
    assert len(crawled.pages) == 6
    assert crawled.stats["finish_reason"] == "finished"
    lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [line.getMessage() for line in lines] == [f"Can't write the snapshot {path}: {problem}"]
    assert list(path.parent.glob(".*.partial")) == []


@deferred_f_from_coro_f
async def test_a_disk_that_has_room_again_gets_a_snapshot(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = full_disk(tmp_path, monkeypatch)
    await crawl_site(site({"pages": {"/": {}}}).url(), watched(path))
    assert taken(path).pages == 1


@pytest.mark.parametrize("component", [Vitals, SnapshotFile])
def test_unless_somebody_wants_them_there_are_no_snapshots(
    component: type, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(NotConfigured, match=r"^$"):
        build_from_crawler(component, get_crawler(settings_dict=dict(project_settings())))
    assert caplog.records == []


@deferred_f_from_coro_f
async def test_nobody_keeps_a_journal_then(site: SiteFactory) -> None:
    crawled = await crawl_site(site({"pages": {"/": {}}}).url())
    counting = crawled.crawler.get_extension(Counting)
    assert counting is not None
    assert counting.journal is None
