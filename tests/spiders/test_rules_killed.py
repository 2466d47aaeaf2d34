"""Rules of a spider's own over several runs: kill -9, another scope, another order of answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.killing import Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SPIDER = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule

from crawlproject.spiders.site import SiteSpider


class Shop(SiteSpider):
    name = "shop"
    rules = (
        Rule(LinkExtractor(allow="/list"), process_request="ranked"),
        Rule(LinkExtractor(allow="/item"), callback="parse_item", cb_kwargs={"kind": "item"}),
    )

    def ranked(self, request, response):
        return request.replace(priority=len(request.url))

    def parse_item(self, response, kind):
        yield {"item": response.url.rpartition("/")[2], "kind": kind, "rule": response.meta["rule"]}
"""
PAGES: dict[str, Any] = {"/": {"links": ["/list/1"]}}
PAGES |= {
    f"/list/{number}": {
        "links": [*(f"/item/{number}{letter}" for letter in "abcd"), f"/list/{number + 1}"]
    }
    for number in range(1, 6)
}
SITE = {"pages": PAGES, "default": {"body": "an item"}}


def command(folder: Path, server: Site, *options: str, output: str = "out.jsonl") -> Command:
    (folder / "acme.py").write_text(SPIDER)
    options += ("-s", "SPIDER_MODULES=acme", "-a", f"seed={server.url()}", "-O", output)
    return Command(folder, *options, "-s", "FRONTIER_COMMIT_PAGES=1", spider="shop")


def written(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The pages, and the items, without what differs by time."""
    pages, items = [], []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if "item" in record:
            items.append(record)
        else:
            names = ("url", "depth", "links", "referrer", "error")
            pages.append({name: record.get(name) for name in names})
    return sorted(pages, key=str), sorted(items, key=str)


@pytest.mark.parametrize("paths", [2, 5, 9, 14])
def test_links_of_rules_survive_a_kill(site: SiteFactory, tmp_path: Path, paths: int) -> None:
    server = site(SITE)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    done = command(whole, server).run()
    assert done.returncode == 0, done.stderr
    expected = written(whole / "out.jsonl")
    assert len(expected[0]) == 27
    assert len(expected[1]) == 20
    crawl = command(killed, server)
    crawl.run_until_asked(server, paths, since=len(server.paths()))
    done = crawl.run()
    assert done.returncode == 0, done.stderr
    assert written(killed / "out.jsonl") == expected


def test_another_scope_judges_queued_links_of_rules_again(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    first = command(tmp_path, server, "-a", "depth=2")
    assert first.run().returncode == 0
    assert len(server.paths()) == 7
    # What was too deep is let in now, with its callback, and some of it is excluded.
    second = command(tmp_path, server, "-a", "depth=3", "-a", "exclude=/item/2[ab]")
    done = second.run()
    assert done.returncode == 0, done.stderr
    pages, items = written(tmp_path / "out.jsonl")
    assert {item["item"] for item in items} == {"1a", "1b", "1c", "1d", "2c", "2d"}
    assert len(pages) == 10


def test_pages_of_rules_are_visited_again(site: SiteFactory, tmp_path: Path) -> None:
    pages = {
        "/": {"links": ["/list/1"], "etag": '"home"'},
        "/list/1": {"links": ["/item/1", "/item/2"]},
        "/item/1": {"body": "one", "etag": '"one"'},
        "/item/2": {"body": "two"},
    }
    server = site({"pages": pages})
    crawl = command(tmp_path, server, "-a", "recrawl=all", "-O", "out.json")
    assert crawl.run().returncode == 0
    changed = {"/list/1": {"links": ["/item/1", "/item/3"]}, "/item/3": {"body": "three"}}
    server.set({"pages": pages | changed})
    before = len(server.log())
    done = crawl.run()
    assert done.returncode == 0, done.stderr
    later = {entry["path"]: entry["status"] for entry in server.log()[before:]}
    # By conditions, as pages of the default rule are.
    assert (later["/"], later["/item/1"], later["/item/3"]) == (304, 304, 200)
    sitemap = json.loads((tmp_path / "out.json").read_text())
    # No page links to /item/2 any more.
    assert [page["url"] for page in sitemap["pages"]] == [
        server.url(path) for path in ("/", "/item/1", "/item/3", "/list/1")
    ]
    _, items = written(tmp_path / "out.jsonl")
    assert "3" in {item["item"] for item in items}


def test_each_visit_to_a_page_of_rules_has_all_its_retries(
    site: SiteFactory, tmp_path: Path
) -> None:
    away: dict[str, Any] = {"status": 503}
    times = {"1": away, "2": away, "4": away, "5": away}
    item = {"body": "1", "times": times}
    server = site({"pages": {"/": {"links": ["/item/1"]}, "/item/1": item}})
    options = ("-a", "recrawl=all", "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01")
    crawl = command(tmp_path, server, *options, "-s", "RETRY_TIMES=2", output="out.json")
    for _ in range(2):
        done = crawl.run()
        assert done.returncode == 0, done.stderr
        sitemap = json.loads((tmp_path / "out.json").read_text())
        assert [page["status_code"] for page in sitemap["pages"]] == [200, 200]
        assert [item["item"] for item in sitemap["items"]] == ["1"]
    assert [path for path in server.paths() if path != "/"] == ["/item/1"] * 6
