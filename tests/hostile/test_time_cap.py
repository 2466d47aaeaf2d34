"""A page whose reading never ends costs one page, and the crawl can be stopped meanwhile."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawling import scrapy
from tests.fleet import Fleet
from tests.killing import kill, start_crawl
from tests.waiting import PATIENCE, wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# What a team adds, with a pattern that takes 2**60 steps. A file tells that it has begun; another
# one, that the team has corrected it.
SLOW = """
import re
from pathlib import Path

from scrapy.robotstxt import ProtegoRobotParser

from crawlproject.spiders.site import SiteSpider


def read(text):
    if "slow" in text and not Path("corrected").exists():
        Path("reading").touch()
        try:
            re.search("(a+)+$", "a" * 60 + "!")
        except Exception:
            pass


class SlowSpider(SiteSpider):
    name = "slow"

    async def find_links(self, response):
        read(response.text)
        return await super().find_links(response)


class SlowRule:
    def reason(self, url):
        read(url)


class SlowRobots(ProtegoRobotParser):
    def __init__(self, robotstxt_body, spider):
        read(robotstxt_body.decode())
        super().__init__(robotstxt_body, spider)
"""
TOO_LONG = "unreadable: took longer than PAGES_MAX_SECONDS=0.2"
CAPPED = ("-s", "PAGES_MAX_SECONDS=0.2")
# Longer than the test waits: what ends the page is not the cap.
PATIENT = ("-s", "PAGES_MAX_SECONDS=3600")
PAGES = {
    "/": {"links": ["/endless", "/fine"]},
    "/endless": {"text": "slow", "links": ["/behind"]},
    "/fine": {"text": "fine"},
    "/behind": {"text": "behind"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "acme.py").write_text(SLOW)
    return tmp_path


def options_of(server: Site, *options: str) -> list[str]:
    return [
        *("-a", f"seed={server.url()}", "-O", "out.jsonl", "-s", "JOBDIR=job"),
        *("-s", "SPIDER_MODULES=acme,crawlproject.spiders", "-L", "INFO", *options),
    ]


def crawl(
    server: Site, folder: Path, *options: str, spider: str = "slow"
) -> subprocess.CompletedProcess[str]:
    ended = scrapy("crawl", spider, *options_of(server, *options), cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended


def errors(server: Site, folder: Path) -> dict[str, Any]:
    """By path, what was wrong with each page."""
    lines = (folder / "out.jsonl").read_text().splitlines()
    pages = [json.loads(line) for line in lines]
    return {page["url"].removeprefix(server.url("")): page.get("error") for page in pages}


def test_a_page_that_never_ends_is_unreadable_and_the_others_are_fine(
    site: SiteFactory, folder: Path
) -> None:
    server = site({"pages": PAGES})
    ended = crawl(server, folder, *CAPPED)
    assert errors(server, folder) == {"/": None, "/endless": TOO_LONG, "/fine": None}
    assert "'pages/unreadable/too_slow': 1" in ended.stderr
    assert f"Reading {server.url('/endless')} took longer than PAGES_MAX_SECONDS" in ended.stderr


def test_ctrl_c_while_a_page_is_read_puts_it_back(site: SiteFactory, folder: Path) -> None:
    server = site({"pages": PAGES})
    process = start_crawl(folder, options_of(server, *PATIENT), spider="slow")
    try:
        wait_for((folder / "reading").exists)
        os.kill(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=2 * PATIENCE)
    except BaseException:
        kill(process)
        raise
    assert process.returncode == 0, stderr
    assert "Stopped by a signal" in stderr
    assert "/endless" not in errors(server, folder)
    # Nothing is lost: the same command fetches it once more.
    (folder / "corrected").touch()
    crawl(server, folder, *PATIENT)
    assert errors(server, folder) == dict.fromkeys(PAGES)
    assert server.paths().count("/endless") == 2


def test_the_time_of_the_crawl_counts_while_a_page_is_read(site: SiteFactory, folder: Path) -> None:
    server = site({"pages": PAGES})
    ended = crawl(server, folder, *PATIENT, "-a", "timeout=4")
    assert "'finish_reason': 'closespider_timeout'" in ended.stderr
    assert "/endless" not in errors(server, folder)
    (folder / "corrected").touch()
    crawl(server, folder, *PATIENT)
    assert errors(server, folder) == dict.fromkeys(PAGES)


def test_a_sitemap_that_never_ends_is_left_out(site: SiteFactory, folder: Path) -> None:
    named = "".join(f"<url><loc>/{name}</loc></url>" for name in ("a", "slow", "b"))
    sitemap = {"body": f"<urlset>{named}</urlset>", "content_type": "text/xml"}
    server = site({"pages": {"/": {"links": ["/fine"]}, "/fine": {}, "/sitemap.xml": sitemap}})
    rule = ("-s", "SCOPE_RULES=acme.SlowRule")
    ended = crawl(server, folder, *CAPPED, *rule, "-a", "sitemaps=always", spider="site")
    assert errors(server, folder) == {"/": None, "/fine": None}
    assert "'sitemaps/failed': 1" in ended.stderr
    assert f"Reading {server.url('/sitemap.xml')} took longer" in ended.stderr


def test_a_robots_txt_that_never_ends_allows_nothing(site: SiteFactory, folder: Path) -> None:
    server = site({"pages": PAGES, "robots": {"body": "User-agent: *\nDisallow: /slow\n"}})
    parser = ("-s", "ROBOTSTXT_PARSER=acme.SlowRobots")
    ended = scrapy("crawl", "site", *options_of(server, *CAPPED, *parser), cwd=folder)
    because = "robots: robots.txt can't be read: took longer than PAGES_MAX_SECONDS=0.2"
    assert errors(server, folder) == {"/": because}
    assert server.paths() == []
    assert "Traceback" not in ended.stderr


# What a site must not be able to make of a user's own pattern.
HARMLESS, WANTED, EXCLUDED = "/" + "a" * 60 + "!", "/b", "/c/" + "a" * 60
LINKED = {
    "/": {"links": [HARMLESS, WANTED, EXCLUDED]},
    **{path: {"text": path} for path in (HARMLESS, WANTED, EXCLUDED)},
}


def test_a_pattern_of_the_user_hangs_no_crawl_and_no_resumed_one(
    site: SiteFactory, folder: Path
) -> None:
    server = site({"pages": LINKED})
    crawl(server, folder, "-a", "exclude=(a+)+$", spider="site")
    assert set(errors(server, folder)) == {"/", HARMLESS, WANTED}
    # All that was skipped is judged again.
    crawl(server, folder, "-a", "exclude=(a|aa)+!$", spider="site")
    assert set(errors(server, folder)) == set(LINKED)
    crawl(server, folder, "-a", "include=^[^?]*(/[^?]*)*(a|aa)+$", spider="site")


def test_a_pattern_of_the_user_hangs_no_shared_crawl(
    site: SiteFactory, tmp_path: Path, redis_url: str
) -> None:
    server = site({"pages": LINKED})
    # With a budget, links are judged once more when their page's turn has come, in another thread.
    options = ("-a", f"seed={server.url()}", "-a", "exclude=(a+)+$", "-a", "max_pages=10")
    with Fleet(tmp_path, redis_url, *options) as fleet:
        fleet.start(2)
        assert fleet.finish() == [0, 0], fleet.errors()
        (output,) = fleet.outputs()
    pages = {page["url"] for page in json.loads(output)["pages"]}
    assert pages == {server.url(path) for path in ("/", HARMLESS, WANTED)}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            ("-a", r"exclude=((a+)+)\1$"),
            r"exclude: '((a+)+)\\1$' may take exponential time: it repeats what repeats, and "
            "can't be matched by RE2",
        ),
        (("-s", "PAGES_MAX_SECONDS=-1"), "PAGES_MAX_SECONDS: '-1' is not a number of seconds"),
        (("-s", "PAGES_MAX_SECONDS=nan"), "PAGES_MAX_SECONDS: 'nan' is not a number of seconds"),
    ],
)
def test_what_can_not_be_bounded_is_refused_in_one_line(
    tmp_path: Path, option: tuple[str, str], said: str
) -> None:
    refused = scrapy("crawl", "site", "-a", "seed=http://127.0.0.1:9/", *option, cwd=tmp_path)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
