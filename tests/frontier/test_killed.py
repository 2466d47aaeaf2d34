"""kill -9 at any moment: nothing is lost, judged by the server's log and the output."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
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

PAGES = 320
SITE: dict[str, Any] = {
    "generated": {"kind": "mesh", "pages": PAGES, "links": 6},
    "random_delay": [0.005, 0.03],
    "robots": "User-agent: *\nDisallow: /mesh/7$\n",
}
IN_FLIGHT = 8
BATCH = 10
OPTIONS = ("-a", f"concurrency={IN_FLIGHT}", "-s", f"FRONTIER_COMMIT_PAGES={BATCH}")


def document(path: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(path.read_bytes())
    written.pop("started_at")
    return written


def reference(server: Site, folder: Path, *options: str) -> dict[str, Any]:
    """What a crawl says that nobody disturbs."""
    folder.mkdir()
    path = folder / "sitemap.json"
    done = Command(folder, "-a", f"seed={server.url()}", "-O", str(path), *options).run()
    assert done.returncode == 0, done.stderr
    return document(path)


@pytest.mark.parametrize(
    "options", [OPTIONS, (*OPTIONS, "-a", "max_pages=250")], ids=["all", "250"]
)
def test_whatever_is_killed_goes_on_and_the_answer_is_the_same(
    site: SiteFactory, tmp_path: Path, options: tuple[str, ...], fastpath: bool
) -> None:
    server = site(SITE)
    expected = reference(server, tmp_path / "reference", *options)
    before = len(server.paths())
    output, lines = tmp_path / "sitemap.json", tmp_path / "pages.jsonl"
    seed = f"seed={server.url()}"
    command = Command(tmp_path, "-a", seed, "-O", str(output), "-O", str(lines), *options)
    luck = random.Random(7)
    # From before the first request to shortly before the last.
    moments = range(0, 240, 30)
    for paths in moments:
        command.run_until_asked(server, paths, since=before, later=luck.uniform(0, 0.1))
    done = command.run()
    assert done.returncode == 0, done.stderr
    assert document(output) == expected
    written = [json.loads(line)["url"] for line in lines.read_text().splitlines()]
    assert sorted(written) == [page["url"] for page in expected["pages"]]
    asked = Counter(server.paths()[before:])
    refetched = asked.total() - len(asked)
    # Scrapy's own code yields to the event loop between a response and its callback, so more
    # responses than requests in flight may be waiting for theirs.
    if fastpath:
        assert refetched <= len(moments) * (IN_FLIGHT + BATCH)
    fetched = {page["url"] for page in expected["pages"] if "error" not in page}
    assert {server.url(path) for path in asked} == fetched


def test_a_crawl_killed_while_it_ends_is_complete_after_the_next_start(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    output = tmp_path / "sitemap.json"
    command = Command(tmp_path, "-a", f"seed={server.url()}", "-O", str(output), *OPTIONS)
    for moment in (0.0, 0.05):
        process = command.start()
        # Nothing is asked any more: outputs are being written, or are about to be.
        wait_for(lambda: len(set(server.paths())) == PAGES - 1 and not server.open())
        # In the middle of it, perhaps.
        time.sleep(moment)
        kill(process)
    done = command.run()
    assert done.returncode == 0, done.stderr
    assert len(document(output)["pages"]) == PAGES


def test_ctrl_c_leaves_a_crawl_directory_that_goes_on(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    output = tmp_path / "sitemap.json"
    command = Command(tmp_path, "-a", f"seed={server.url()}", "-O", str(output), *OPTIONS)
    process = command.start()
    wait_for(lambda: len(server.log()) > 40)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    first = document(output)["pages"]
    assert 30 < len(first) < PAGES
    assert sorted(path.name for path in command.job.iterdir()) == ["crawl.db", "crawl.lock"]
    done = command.run()
    assert done.returncode == 0, done.stderr
    assert f"Going on with the crawl in {command.job}: " in done.stderr
    assert len(document(output)["pages"]) == PAGES
    # Whatever was in flight was finished, so no page was asked for twice.
    assert max(Counter(server.paths()).values()) == 1


@pytest.mark.parametrize(
    "limit",
    [
        ("-a", "timeout=1", "-a", "rate=40"),
        ("-s", "CLOSESPIDER_PAGECOUNT=40"),
        ("-s", "CLOSESPIDER_ITEMCOUNT=40"),
    ],
    ids=["timeout", "pages", "items"],
)
def test_limits_leave_a_crawl_directory_that_goes_on(
    site: SiteFactory, tmp_path: Path, limit: tuple[str, ...]
) -> None:
    server = site(SITE)
    output = tmp_path / "sitemap.json"
    options = ("-a", f"seed={server.url()}", "-O", str(output), *OPTIONS)
    assert Command(tmp_path, *options, *limit).run().returncode == 0
    assert 0 < len(document(output)["pages"]) < PAGES
    assert Command(tmp_path, *options).run().returncode == 0
    assert len(document(output)["pages"]) == PAGES


def test_max_pages_can_be_raised_from_run_to_run(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    output = tmp_path / "sitemap.json"
    options = ("-a", f"seed={server.url()}", "-O", str(output), *OPTIONS)
    for pages in (1, 40, 100):
        assert Command(tmp_path, *options, "-a", f"max_pages={pages}").run().returncode == 0
        assert len(document(output)["pages"]) == pages
    expected = reference(server, tmp_path / "reference", *OPTIONS, "-a", "max_pages=100")
    assert document(output) == expected
    assert Command(tmp_path, *options).run().returncode == 0
    assert len(document(output)["pages"]) == PAGES


def test_a_finished_crawl_asks_nothing_and_writes_its_outputs_again(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    output, table = tmp_path / "sitemap.json", tmp_path / "pages.csv"
    options = ("-a", f"seed={server.url()}", *OPTIONS)
    assert Command(tmp_path, *options, "-O", str(output)).run().returncode == 0
    asked = len(server.log())
    first = output.read_bytes()
    output.unlink()
    done = Command(tmp_path, *options, "-O", str(output), "-O", str(table)).run()
    assert done.returncode == 0, done.stderr
    assert len(server.log()) == asked
    assert output.read_bytes() == first
    assert len(table.read_text().splitlines()) == PAGES + 1
