"""Which pages of a site are duplicates of which, by the outputs of real crawls."""

from __future__ import annotations

import json
import logging
import sqlite3
from contextlib import closing
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.database import DATABASE
from crawlproject.items import Page
from crawlproject.pages.signatures import BACKENDS
from crawlproject.settings import ITEM_PIPELINES as PIPELINES
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site
from tests.killing import CrawlProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

WORDS = [first + second for first in "bdfgklmnprst" for second in ("ar", "el", "in", "om", "ut")]
MENU = "".join(f"<li><a href='/menu/{number}'>Section {number}</a></li>" for number in range(30))


def prose(seed: int, words: int = 400) -> list[str]:
    random = Random(seed)
    return [
        "".join(random.choices(WORDS, k=2)) + ("." if place % 12 == 11 else "")
        for place in range(words)
    ]


def edited(words: list[str], count: int) -> list[str]:
    """So many words replaced, evenly over the text."""
    changed = list(words)
    for number in range(count):
        changed[number * len(words) // count + 3] = f"edited{number}"
    return changed


def page(words: list[str], *links: str, menu: str = MENU) -> dict[str, Any]:
    anchors = " ".join(f"<p><a href='{link}'>{link}</a></p>" for link in links)
    body = f"<html><body><ul>{menu}</ul><p>{' '.join(words)}</p>{anchors}<div>© All</div></body>"
    return {"body": body}


A, B = prose(1), prose(2)
SPEC: dict[str, Any] = {
    "pages": {
        "/": page(prose(0), "/z/deep", "/b", "/a-copy", "/c", "/short-1", "/short-2", "/404"),
        # The same body under two URLs, one of which is deeper, and answers first.
        "/a-copy": {**page(A, "/z/a"), "delay": 0.1},
        "/z/deep": page(prose(3), "/z/a", "/z/b-near"),
        "/z/a": page(A, "/z/a"),
        # Almost the same text, with another menu around it.
        "/b": page(B),
        "/z/b-near": page(edited(B, 3), menu="<li><a href='/b'>Back</a></li>"),
        # The same menu around another text.
        "/c": page(prose(4)),
        # Too short to be compared, and not the same.
        "/short-1": page(["Coming", "soon", "one"]),
        "/short-2": page(["Coming", "soon", "two"]),
        "/404": {"status": 404, "body": "<p>Not found</p>"},
    },
    "default": {"status": 404, "body": "<p>Not found</p>"},
}
MARKS = {
    "/z/a": ("duplicate_of", "/a-copy"),
    "/z/b-near": ("near_duplicate_of", "/b"),
}


def marks(output: Path, server: Site) -> dict[str, tuple[str, str]]:
    base = server.url("")
    return {
        one["url"].removeprefix(base): (kind, one[kind].removeprefix(base))
        for one in json.loads(output.read_bytes())["pages"]
        for kind in ("duplicate_of", "near_duplicate_of")
        if kind in one
    }


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("concurrency", ["1", "16"])
@deferred_f_from_coro_f
async def test_duplicates_are_marked_by_the_first_page_breadth_first(
    site: SiteFactory, tmp_path: Path, concurrency: str, backend: str
) -> None:
    server = site(SPEC)
    output = tmp_path / "s.json"
    settings = {"DUPLICATES_BACKEND": backend, "FEEDS": {str(output): {"format": "json"}}}
    crawled = await crawl_site(server.url(), settings, concurrency=concurrency)
    assert marks(output, server) == MARKS
    # Who keeps the pages keeps no text twice.
    assert all(one.own_text is None for one in crawled.pages.values())
    by_path = {
        one["url"].removeprefix(server.url("")): one
        for one in json.loads(output.read_bytes())["pages"]
    }
    assert by_path["/z/a"]["content_hash"] == by_path["/a-copy"]["content_hash"]
    assert 0.9 <= by_path["/z/b-near"]["similarity"] < 1
    assert (crawled.stats["duplicates/exact"], crawled.stats["duplicates/near"]) == (1, 1)
    # Every link once, also those of the copy.
    assert len(server.paths()) == len(set(server.paths()))


@deferred_f_from_coro_f
async def test_drop_leaves_duplicates_out_of_documents(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SPEC)
    json_file, csv_file = tmp_path / "s.json", tmp_path / "p.csv"
    settings = {
        "DUPLICATES_ACTION": "drop",
        "FEEDS": {str(json_file): {"format": "json"}, str(csv_file): {"format": "csv"}},
    }
    crawled = await crawl_site(server.url(), settings)
    urls = {one["url"] for one in json.loads(json_file.read_bytes())["pages"]}
    assert {server.url(path) for path in MARKS} == crawled.pages.keys() - urls
    assert len(csv_file.read_text().splitlines()) == len(urls) + 1


@deferred_f_from_coro_f
async def test_a_sitemap_for_search_engines_has_the_first_of_equal_pages(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SPEC)
    output = tmp_path / "s.xml"
    await crawl_site(server.url(), {"FEEDS": {str(output): {"format": "xml"}}})
    assert f"<loc>{server.url('/a-copy')}</loc>" in output.read_text()
    assert f"<loc>{server.url('/z/a')}</loc>" not in output.read_text()
    # What is only near may be worth finding.
    assert f"<loc>{server.url('/z/b-near')}</loc>" in output.read_text()


@pytest.mark.parametrize("backend", BACKENDS)
@deferred_f_from_coro_f
async def test_pages_that_differ_in_2_percent_of_their_words_are_near_duplicates(
    site: SiteFactory, tmp_path: Path, backend: str
) -> None:
    """With the default threshold; those that differ in 5 % are not."""
    server = site(
        {
            "pages": {
                "/": page(A, "/near", "/far"),
                "/near": page(edited(A, 8)),
                "/far": page(edited(A, 20)),
            }
        }
    )
    output = tmp_path / "s.json"
    settings = {"DUPLICATES_BACKEND": backend, "FEEDS": {str(output): {"format": "json"}}}
    await crawl_site(server.url(), settings)
    assert marks(output, server) == {"/near": ("near_duplicate_of", "/")}


@deferred_f_from_coro_f
async def test_another_threshold_finds_others(site: SiteFactory, tmp_path: Path) -> None:
    server = site(
        {
            "pages": {
                "/": page(A, "/near", "/far"),
                "/near": page(edited(A, 4)),
                "/far": page(edited(A, 30)),
            }
        }
    )
    for threshold, found in (("0.95", set()), ("0.9", {"/near"}), ("0.5", {"/near", "/far"})):
        output = tmp_path / f"{threshold}.json"
        settings = {"DUPLICATES_THRESHOLD": threshold, "FEEDS": {str(output): {"format": "json"}}}
        await crawl_site(server.url(), settings)
        assert marks(output, server).keys() == found


@deferred_f_from_coro_f
async def test_switched_off_nothing_is_compared(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(SPEC)
    output = tmp_path / "s.json"
    settings = {"DUPLICATES_ENABLED": False, "FEEDS": {str(output): {"format": "json"}}}
    crawled = await crawl_site(server.url(), settings)
    assert marks(output, server) == {}
    assert all(found.content_hash is None for found in crawled.pages.values())
    assert "duplicates/near" not in crawled.stats
    # Nobody is warned of what they asked for.
    assert "Disabled" not in caplog.text


@deferred_f_from_coro_f
async def test_a_crawl_directory_goes_on_with_the_signatures_it_has(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(SPEC)
    output = tmp_path / "s.json"
    settings = {"JOBDIR": str(tmp_path / "job"), "FEEDS": {str(output): {"format": "json"}}}
    await crawl_site(server.url(), settings, max_pages="4")
    with caplog.at_level(logging.WARNING):
        await crawl_site(server.url(), {**settings, "DUPLICATES_PERMUTATIONS": 64})
    assert "continues with the settings it was started with" in caplog.text
    assert "DUPLICATES_PERMUTATIONS=128" in caplog.text
    assert marks(output, server) == MARKS


@pytest.mark.parametrize(("begun", "resumed"), [BACKENDS, BACKENDS[::-1]])
def test_a_crawl_is_not_resumed_with_another_backend(
    site: SiteFactory, tmp_path: Path, begun: str, resumed: str
) -> None:
    server = site(SPEC)
    options = ("-a", f"seed={server.url()}", "-s", "JOBDIR=job", "-O", "s.json")
    with CrawlProcess(
        tmp_path, *options, "-a", "max_pages=4", "-s", f"DUPLICATES_BACKEND={begun}"
    ) as crawl:
        assert crawl.finish() == 0
    requests = len(server.paths())
    with CrawlProcess(tmp_path, *options, "-s", f"DUPLICATES_BACKEND={resumed}") as crawl:
        assert crawl.finish() != 0
    assert (
        f"DUPLICATES_BACKEND: {resumed!r} can't continue this crawl, whose signatures were made by "
        f"{begun!r}: resume with DUPLICATES_BACKEND={begun}, or start a new crawl"
    ) in crawl.errors()
    assert "Traceback" not in crawl.errors()
    assert len(server.paths()) == requests
    # The other one resumes it.
    with CrawlProcess(tmp_path, *options, "-s", f"DUPLICATES_BACKEND={begun}") as crawl:
        assert crawl.finish() == 0
    assert marks(tmp_path / "s.json", server) == MARKS


@deferred_f_from_coro_f
async def test_a_worker_with_another_backend_does_not_join_a_shared_crawl(
    site: SiteFactory, redis_url: str
) -> None:
    server = site(SPEC)
    settings = {"REDIS_URL": redis_url, "FRONTIER_CRAWL_ID": "shared"}
    await crawl_site(server.url(), settings, max_pages="4")
    requests = len(server.paths())
    other = {**settings, "DUPLICATES_BACKEND": "datasketch"}
    crawled = await crawl_site(server.url(), other)
    assert "signatures were made by 'builtin'" in (crawled.frontier.failure or "")
    assert len(server.paths()) == requests


class TwoPagesSpider(SiteSpider):
    """Makes another page of each, behind the page itself."""

    name = "two_pages"

    def parse_start_url(self, response: Any, **_: Any) -> Any:
        yield Page(f"{response.url}#part", 200)


@deferred_f_from_coro_f
async def test_another_page_of_a_callback_takes_nothing_from_the_page(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": page(A, "/copy"), "/copy": page(A, "/copy")}})
    output = tmp_path / "s.json"
    settings = {"STORE_BODIES": True, "FEEDS": {str(output): {"format": "json"}}}
    crawled = await crawl_site(server.url(), settings, spider=TwoPagesSpider)
    assert len(crawled.pages) >= 3
    assert marks(output, server) == {"/copy": ("duplicate_of", "/")}
    assert all(answer.stored is not None for answer in crawled.frontier.read().answers())


class Spoiling:
    """A pipeline before ours that makes something else of a page's text."""

    def process_item(self, item: Any) -> Any:
        if item.url.endswith("/b"):
            item.own_text = {item.own_text}
        return item


@deferred_f_from_coro_f
async def test_a_text_that_can_not_be_compared_costs_its_page_the_comparison(
    site: SiteFactory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(SPEC)
    output = tmp_path / "s.json"
    pipelines: dict[Any, int | None] = {**PIPELINES, Spoiling: 50}
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "ITEM_PIPELINES": pipelines,
        "FEEDS": {str(output): {"format": "json"}},
    }
    with caplog.at_level(logging.WARNING):
        crawled = await crawl_site(server.url(), settings)
    assert f"{server.url('/b')} can't be compared with other pages" in caplog.text
    assert crawled.frontier.failure is None
    assert marks(output, server) == {"/z/a": MARKS["/z/a"]}
    assert len(json.loads(output.read_bytes())["pages"]) == len(crawled.pages)


@deferred_f_from_coro_f
async def test_a_crawl_directory_of_a_stranger_is_not_gone_on_with(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SPEC)
    settings = {"JOBDIR": str(tmp_path / "job")}
    await crawl_site(server.url(), settings, max_pages="2")
    with closing(sqlite3.connect(tmp_path / "job" / DATABASE)) as database:
        database.execute("UPDATE notes SET value = '{' WHERE name = 'signatures'")
        database.commit()
    crawled = await crawl_site(server.url(), settings)
    assert "the note 'signatures' is not one of ours" in (crawled.frontier.failure or "")


def test_a_kill_changes_no_cluster(site: SiteFactory, tmp_path: Path) -> None:
    server = site({**SPEC, "random_delay": [0, 0.05]})
    options = ("-a", f"seed={server.url()}", "-O", "s.json")
    for requests in (3, 12):
        with CrawlProcess(tmp_path, *options) as crawl:
            crawl.until(partial(_has_seen, server, requests))
            crawl.kill()
    with CrawlProcess(tmp_path, *options) as crawl:
        assert crawl.finish() == 0
    assert marks(tmp_path / "s.json", server) == MARKS


def _has_seen(server: Site, requests: int) -> bool:
    return len(server.paths()) >= requests


def test_pipelines_have_the_answer_and_the_text_and_nobody_else() -> None:
    found = Page("https://a/", 200, text="The text", own_text="text")
    assert "The text" not in repr(found)
    assert found == Page("https://a/", 200)
