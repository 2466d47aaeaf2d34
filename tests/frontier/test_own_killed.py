"""kill -9 while a spider works on the answer to a request of its own: nothing is lost."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.killing import Command, kill
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# With the fast path, and without.
pytestmark = pytest.mark.usefixtures("fastpath")

# A file says that the callback has come to its middle; another lets it go on.
SPIDERS = """
import asyncio
from pathlib import Path

from scrapy import Request, Spider

from crawlproject.spiders.site import SiteSpider


class Working:
    async def work(self, answer):
        url = answer.request.url
        yield {"made": "before"}
        yield Request(url + "/first", callback=self.more)
        for _ in range(2):
            yield Request(url + "/again", callback=self.more, dont_filter=True)
        Path("working").touch()
        while not Path("go-on").exists():
            await asyncio.sleep(0.01)
        yield {"made": "after"}
        yield Request(url + "/second", callback=self.more)

    def more(self, response):
        yield {"more": response.url.rpartition("/")[2]}


class WithCallback(Working, Spider):
    name = "callback"

    async def start(self):
        yield Request(self.seed + "list", callback=self.work)


class WithErrback(Working, Spider):
    name = "errback"

    async def start(self):
        yield Request(self.seed + "drop", callback=self.more, errback=self.work)


class OfSite(Working, SiteSpider):
    name = "pages"

    def parse_start_url(self, response, **kwargs):
        yield Request(response.url + "list", callback=self.work)


class Flaky(Spider):
    name = "flaky"

    async def start(self):
        yield Request(self.seed + "broken", callback=self.done)

    def done(self, response):
        yield {"status": response.status}
"""


def command(folder: Path, spider: str, *options: str) -> Command:
    (folder / "acme.py").write_text(SPIDERS)
    options += ("-s", "SPIDER_MODULES=acme", "-O", "items.jsonl", "-s", "RETRY_TIMES=2")
    options += ("-s", "ROBOTSTXT_OBEY=False", "-s", "DOWNLOAD_DELAY=0")
    return Command(folder, *options, spider=spider)


def written(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "items.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("spider", "path"), [("callback", "/list"), ("errback", "/drop"), ("pages", "/list")]
)
def test_what_a_callback_had_not_made_when_it_was_killed_is_made_by_the_next_run(
    site: SiteFactory, tmp_path: Path, spider: str, path: str
) -> None:
    server = site({"default": {}, "pages": {"/drop": {"drop": True}}})
    options = ("-s", "RETRY_ENABLED=False", "-s", "FRONTIER_COMMIT_PAGES=1")
    crawl = command(tmp_path, spider, "-a", f"seed={server.url()}", *options)
    process = crawl.start()
    # What it has asked for so far is fetched meanwhile.
    wait_for(lambda: (tmp_path / "working").exists() and f"{path}/first" in server.paths())
    wait_for(lambda: server.paths().count(f"{path}/again") == 2)
    kill(process)
    (tmp_path / "go-on").touch()
    done = crawl.run()
    assert done.returncode == 0, done.stderr
    items = written(tmp_path)
    for made in ({"made": "before"}, {"made": "after"}, {"more": "first"}, {"more": "second"}):
        assert items.count(made) == 1
    asked = Counter(server.paths())
    assert asked[path] == 2
    assert asked[f"{path}/second"] == 1
    # In flight when it was killed, or not.
    assert asked[f"{path}/first"] <= 2
    # What is not to be filtered is made twice after a kill only by an errback.
    assert items.count({"more": "again"}) == (4 if spider == "errback" else 2)
    # Nothing is left for a third run.
    before = len(server.log())
    assert crawl.run().returncode == 0
    assert len(server.log()) == before
    assert len(written(tmp_path)) == len(items)


def test_a_retry_is_counted_over_a_restart(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/broken": {"status": 500}}})
    options = ("-a", f"seed={server.url()}")
    patient = command(tmp_path, "flaky", *options, "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=3600")
    process = patient.start()

    def waiting() -> list[tuple[int, bool]]:
        file = patient.job / "crawl.db"
        if not file.exists():
            return []
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            try:
                rows = database.execute("SELECT attempts, due > ? FROM urls", (time.time() + 3000,))
                return [(attempts, bool(is_later)) for attempts, is_later in rows]
            except sqlite3.OperationalError:  # it has no tables yet
                return []

    wait_for(lambda: waiting() == [(1, True)])
    kill(process)
    assert server.paths() == ["/broken"]
    # An hour later.
    with closing(sqlite3.connect(patient.job / "crawl.db")) as database, database:
        database.execute("UPDATE urls SET due = 0")
    done = command(tmp_path, "flaky", *options, "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01").run()
    assert done.returncode == 0, done.stderr
    assert server.paths() == ["/broken"] * 3
    assert written(tmp_path) == [{"status": 500}]


def test_what_a_spider_starts_with_is_asked_for_once_in_all_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"default": {"links": ["/list"]}})
    crawl = command(tmp_path, "starting", "-a", f"seed={server.url()}")
    with (tmp_path / "acme.py").open("a") as file:
        file.write(
            "\n\nclass Starting(Spider):\n"
            "    name = 'starting'\n\n"
            "    async def start(self):\n"
            "        for path in ('list', 'list', 'other'):\n"
            "            yield Request(self.seed + path, dont_filter=True)\n\n"
            "    def parse(self, response):\n"
            "        yield {'got': response.url.rpartition('/')[2]}\n"
            "        yield from response.follow_all(css='a')\n"
        )
    for _ in range(2):
        done = crawl.run()
        assert done.returncode == 0, done.stderr
        # Twice because it was asked for twice, not because it is linked to.
        assert sorted(server.paths()) == ["/list", "/list", "/other"]
        assert sorted(item["got"] for item in written(tmp_path)) == ["list", "list", "other"]
