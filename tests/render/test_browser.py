"""The browser's process: it ends with the crawl, however that ends, and may die before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlproject import crawl_pages
from crawlproject.errors import BadArgument
from tests.browser import descendants, is_alive, needs_browser
from tests.crawling import command_environment, scrapy
from tests.exports.test_pages_warc import read
from tests.killing import CrawlProcess
from tests.render.test_rendering import SHELL, SHOP, page
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

pytestmark = needs_browser

# The first page asks for something that does not come the first time.
WAITING: dict[str, Any] = {
    "pages": {
        **SHOP["pages"],
        "/api/": {**page("Home", "/tulips"), "times": {"1": {"hang": True}}},
    }
}


def asks_for(server: Site, path: str) -> Callable[[], bool]:
    return lambda: any(entry["path"] == path for entry in server.open())


def without_warning(errors: str) -> str:
    """What a crawl has said, but for the line that root is told, and nobody else."""
    lines = errors.splitlines(keepends=True)
    told = [line for line in lines if "WARNING: The browser runs without its sandbox" in line]
    assert len(told) == (os.geteuid() == 0)
    return "".join(line for line in lines if line not in told)


def is_browser(pid: int) -> bool:
    """Not one of the processes that it has for pages."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    return b"--headless" in command and b"--type=" not in command


def test_a_killed_crawl_leaves_no_browser_behind_and_goes_on(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(WAITING)
    options = ("-a", f"seed={server.url()}", "-a", "render=auto", "-O", "pages.json")
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until(asks_for(server, "/api/"))
        # The crawl alone: whatever it has started is to notice by itself.
        started = descendants(crawl.pid)
        assert any(map(is_browser, started))
        os.kill(crawl.pid, signal.SIGKILL)
        wait_for(lambda: not any(map(is_alive, started)))
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0, crawl.errors()
    pages = json.loads((tmp_path / "pages.json").read_text())["pages"]
    assert {page["url"].removeprefix(server.url("")): page["title"] for page in pages} == {
        "/": "Home",
        "/tulips": "Tulips",
        "/tulips/red": "Red tulips",
    }
    assert all(page["rendered"] for page in pages)


def test_after_a_kill_the_archive_has_all_rendered_pages(site: SiteFactory, tmp_path: Path) -> None:
    server = site(WAITING)
    options = ("-a", f"seed={server.url()}", "-a", "render=auto", "-O", "pages.warc.gz")
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until(asks_for(server, "/api/"))
        crawl.kill()
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0, crawl.errors()
    entries = read(tmp_path / "pages.warc.gz")
    answers = [entry for entry in entries if entry.kind in {"response", "revisit"}]
    paths = ("/", "/tulips", "/tulips/red")
    assert sorted(str(entry.url) for entry in answers) == [server.url(path) for path in paths]
    assert all(b"<title>Shop</title>" not in entry.body for entry in answers)
    told = [entry.body for entry in entries if entry.kind == "metadata"]
    assert len(told) == len(paths)
    assert all(b"rendered: true" in body for body in told)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_browser_too(site: SiteFactory, tmp_path: Path, times: int) -> None:
    server = site(WAITING)
    options = ["-a", f"seed={server.url()}", "-a", "render=auto", "-L", "INFO"]
    with CrawlProcess(tmp_path, *options, "-s", "RENDER_TIMEOUT_SECONDS=4") as crawl:
        crawl.until(asks_for(server, "/api/"))
        started = descendants(crawl.pid)
        os.killpg(crawl.pid, signal.SIGINT)
        if times == 2:
            # Two at the same moment would be one.
            crawl.until_said("Received SIGINT")
            os.killpg(crawl.pid, signal.SIGINT)
        assert crawl.finish() == (0 if times == 1 else 130)
        wait_for(lambda: not any(map(is_alive, started)))
        assert "Traceback" not in crawl.errors()


def test_a_page_is_tried_again_when_the_browser_dies(site: SiteFactory, tmp_path: Path) -> None:
    server = site(WAITING)
    options = ("-a", f"seed={server.url()}", "-a", "render=auto", "-O", "pages.json")
    with CrawlProcess(tmp_path, *options) as crawl:
        crawl.until(asks_for(server, "/api/"))
        for pid in filter(is_browser, descendants(crawl.pid)):
            os.kill(pid, signal.SIGKILL)
        assert crawl.finish() == 0
        assert without_warning(crawl.errors()) == ""
    pages = json.loads((tmp_path / "pages.json").read_text())["pages"]
    assert [page["rendered"] for page in pages] == [True, True, True]
    assert server.paths().count("/") == 1


def test_a_browser_that_does_not_start_ends_the_crawl_and_loses_nothing(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SHOP)
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n")
    broken.chmod(0o755)
    crawl = ("crawl", "site", "-a", f"seed={server.url()}", "-a", "render=auto")
    options = ("-s", "JOBDIR=job", "-O", "pages.json")
    result = scrapy(*crawl, *options, "-s", f"RENDER_BROWSER_PATH={broken}", cwd=tmp_path)
    assert result.returncode == 1
    assert "The browser can't be started: " in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("scrapy crawl: error: the browser can't be")
    assert scrapy(*crawl, *options, cwd=tmp_path).returncode == 0
    pages = json.loads((tmp_path / "pages.json").read_text())["pages"]
    assert sum(page.get("rendered", False) for page in pages) == 3


_FROM_PYTHON = """
import sys
from crawlproject import crawl_pages
for page in crawl_pages(sys.argv[1], max_depth=1, render="auto"):
    print(page.url, page.title, page.rendered)
"""


def test_pages_are_rendered_for_a_script_too(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {**SHOP["pages"], "/api/": page("Home", "/tulips")}})
    process = subprocess.Popen(
        [sys.executable, "-c", _FROM_PYTHON, server.url()],
        cwd=tmp_path,
        env=command_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert sorted(output.splitlines()) == [
        f"{server.url()} Home True",
        f"{server.url('/tulips')} Tulips True",
    ]


def test_a_function_of_the_callers_has_no_browser() -> None:
    with pytest.raises(BadArgument, match=r"render: .*CallerHandler"):
        crawl_pages("http://a.example/", http_get=lambda url: SHELL, render="auto")
