"""Items of a site that changes: after a recrawl, those of a new crawl; and files of all runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fleet import Fleet
from tests.killing import Command
from tests.spiders.generations import page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CODE = """
from dataclasses import dataclass
from datetime import date

from crawlproject.items import Page
from crawlproject.spiders.site import SiteSpider


@dataclass
class Product:
    name: str
    price: float
    # The names of fields of pages: it is no page for that.
    url: str = ""
    status_code: int = 0


@dataclass(slots=True)
class PricedPage(Page):
    products: int | None = None


class Cheap:
    '''A filter that raises for what has no price.'''

    def __init__(self, feed_options):
        pass

    def accepts(self, item):
        return item.price < 5


class Spider(SiteSpider):
    name = "site"
    page_class = PricedPage

    async def start(self):
        yield {"started": True}
        async for output in super().start():
            yield output

    def parse_start_url(self, response):
        for name in response.css("title::text").re("[a-z]+[0-9]+"):
            yield Product(name, float(name[-1]), response.url, response.status)
        if response.css("title::text").re("near"):
            yield PricedPage(f"{response.url}?near", 200, title="near", products=0)


class Counting:
    def process_item(self, item):
        if isinstance(item, PricedPage) and item.response is not None:
            item.products = len(item.response.css("title::text").re("[a-z]+[0-9]+"))
        return item
"""
OPTIONS = (
    *("-s", "SPIDER_MODULES=acme", "-s", 'ITEM_PIPELINES={"acme.Counting": 50}'),
    *("-a", "sitemaps=never", "-a", "concurrency=4", "-s", "FRONTIER_COMMIT_PAGES=3"),
    *("-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01"),
)
PARTS = 40


def site_of(generation: int) -> dict[str, Any]:
    """The names of products are in titles. In the second generation some have changed, one page
    has none any more, one is not changed, one has moved, one is gone, one is out, one is new.
    """
    first = generation == 1
    listed = ["/a", "/b", "/same", "/moved", "/gone", "/out" if first else "/new"]
    parts = [f"/part/{number}" for number in range(PARTS)]
    pages = {
        "/": page(*listed, *parts, title="home"),
        "/a": page(title="a1 a2 near" if first else "a2 a3"),
        "/b": page(title="b1" if first else "nothing"),
        "/same": page(title="same1", etag='"1"'),
        "/moved": page(title="moved1") if first else {"redirect": "/elsewhere"},
        "/elsewhere": page(title="elsewhere1"),
        "/gone": page(title="gone1") if first else {"status": 404},
        "/out": page(title="out1"),
        "/new": page(title="new1 near"),
        **{part: page(title=f"part{generation} {part}") for part in parts},
    }
    return {"pages": pages, "random_delay": [0.02, 0.06]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "acme.py").write_text(CODE)
    return tmp_path


def document(path: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(path.read_bytes())
    written.pop("started_at")
    return written


def command(folder: Path, server: Site, *options: str) -> Command:
    return Command(folder, "-a", f"seed={server.url()}", *OPTIONS, *options)


def crawl(folder: Path, server: Site, *options: str) -> str:
    """Its log."""
    done = command(folder, server, *options).run()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def of_a_new_crawl(folder: Path, server: Site) -> dict[str, Any]:
    fresh = folder / "fresh"
    fresh.mkdir()
    (fresh / "acme.py").write_text(CODE)
    crawl(fresh, server, "-O", "out.json")
    return document(fresh / "out.json")


def names(found: dict[str, Any]) -> list[str]:
    return sorted(item["name"] for item in found["items"] if "name" in item)


def test_after_a_recrawl_the_items_are_those_of_a_new_crawl(
    site: SiteFactory, folder: Path
) -> None:
    server = site(site_of(1))
    crawl(folder, server, "-O", "out.json")
    first = document(folder / "out.json")
    parts = ["part1"] * PARTS
    assert names(first) == ["a1", "a2", "b1", "gone1", "moved1", "out1", *parts, "same1"]
    assert first["items"].count({"started": True}) == 1
    # The same again: nothing is there twice.
    crawl(folder, server, "-O", "out.json", "-a", "recrawl=all")
    assert document(folder / "out.json") == first

    server.set(site_of(2))
    crawl(folder, server, "-O", "out.json", "-a", "recrawl=all")
    second = document(folder / "out.json")
    parts = ["part2"] * PARTS
    assert names(second) == ["a2", "a3", "elsewhere1", "new1", *parts, "same1"]
    assert second == of_a_new_crawl(folder, server)
    assert any(entry["status"] == 304 for entry in server.log())
    near = [one["url"] for one in second["pages"] if one.get("title") == "near"]
    assert near == [server.url("/new?near")]


def test_a_recrawl_that_is_killed_brings_every_item_once(site: SiteFactory, folder: Path) -> None:
    server = site(site_of(1))
    crawl(folder, server, "-O", "out.json")
    server.set(site_of(2))
    again = command(folder, server, "-O", "out.json", "-a", "recrawl=all")
    for paths in (2, 5, 8):
        again.run_until_asked(server, paths, since=len(server.paths()))
    done = again.run()
    assert done.returncode == 0, done.stderr
    assert document(folder / "out.json") == of_a_new_crawl(folder, server)


def test_items_of_a_shared_crawl_are_replaced_whoever_is_killed(
    site: SiteFactory, folder: Path, redis_url: str
) -> None:
    server = site(site_of(1))
    options = ("-a", f"seed={server.url()}", *OPTIONS)
    with Fleet(folder, redis_url, *options) as fleet:
        fleet.start()
        assert fleet.finish() == [0], fleet.errors()
    server.set(site_of(2))
    with Fleet(folder, redis_url, *options, "-a", "recrawl=all") as fleet:
        # Who is alone is the committer.
        for _ in range(2):
            enough = len(server.paths()) + 5
            (worker,) = fleet.start()
            fleet.until(lambda enough=enough: len(server.paths()) >= enough)  # type: ignore[misc]
            worker.kill()
        fleet.start(2)
        assert fleet.finish() == [0, 0], fleet.errors()
        expected = of_a_new_crawl(folder, server)
        for worker in fleet.workers[-2:]:
            assert document(worker.output) == expected


def feeds(**more: dict[str, Any]) -> tuple[str, str]:
    files = {
        f"{name}.jsonl": {"format": "jsonl", "overwrite": True, **options}
        for name, options in more.items()
    }
    return ("-s", f"FEEDS={json.dumps(files)}")


def test_lines_of_earlier_runs_are_those_that_were_written_live(
    site: SiteFactory, folder: Path
) -> None:
    server = site(site_of(1))
    options = {
        "all": {},
        "chosen": {"fields": ["title", "name", "url"]},
        "priced": {"item_classes": ["acme.PricedPage"]},
        "products": {"item_classes": ["acme.Product"]},
    }
    crawl(folder, server, *feeds(**options))
    # Their order is that of their arrival, and then by URL.
    live = {name: sorted((folder / f"{name}.jsonl").read_bytes().splitlines()) for name in options}
    assert len(live["priced"]) == 8 + PARTS
    assert len(live["products"]) == 7 + PARTS
    assert len(live["all"]) == len(live["priced"]) + len(live["products"]) + 1
    first = json.loads(live["chosen"][0])
    assert list(first) in (["title", "url"], ["name", "url"])
    since = len(server.log())
    crawl(folder, server, *feeds(**options), "-a", "recrawl=never")
    assert server.log()[since:] == []
    for name, lines in live.items():
        assert sorted((folder / f"{name}.jsonl").read_bytes().splitlines()) == lines, name


def test_a_filter_that_raises_costs_the_items_for_which_it_does(
    site: SiteFactory, folder: Path
) -> None:
    server = site(site_of(1))
    options = {"cheap": {"item_filter": "acme.Cheap"}, "all": {}}
    for run in (("-O", "out.json"), ("-a", "recrawl=never")):
        # In the first run they come live, in the second from the crawl directory.
        log = crawl(folder, server, *feeds(**options), *run)
        said = [line for line in log.splitlines() if "The filter acme.Cheap" in line]
        assert len(said) == 1
        assert "of cheap.jsonl raised AttributeError: " in said[0]
        lines = (folder / "cheap.jsonl").read_text().splitlines()
        assert len(lines) == 7 + PARTS
        assert {"name", "price"} <= json.loads(lines[0]).keys()
        assert len((folder / "all.jsonl").read_text().splitlines()) == 16 + 2 * PARTS
