"""A subclass of Page with fields of a team's own, from the spider to the outputs."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from tests.killing import Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CODE = '''
from dataclasses import dataclass, field
from datetime import date

from crawlproject.items import Page
from crawlproject.spiders.site import SiteSpider


@dataclass(slots=True)
class Product(Page):
    price: float | None = None
    tags: list[str] = field(default_factory=list)
    seen_on: date | None = None


class Shop(SiteSpider):
    name = "shop"
    page_class = Product


class Prices:
    def process_item(self, item):
        assert isinstance(item, Product)
        if item.response is not None and item.error is None:
            price = item.response.css(".price::text").get()
            item.price = float(price) if price else None
            item.tags = ["cheap"] if item.price and item.price < 5 else []
            item.seen_on = date(2026, 11, 18)
            item.extra["currency"] = "EUR"
        return item


@dataclass
class Note(Page):
    """Made of a page by a pipeline; without slots."""

    note: str = ""


class Noting:
    def process_item(self, item):
        values = {name: getattr(item, name) for name in Page.__dataclass_fields__}
        return Note(**values, note="noted")


class Plain(SiteSpider):
    name = "plain"
'''
BODY = "<p class=price>{}</p><a href=/b>b</a><a href=/gone>gone</a>"
SITE = {"pages": {"/": {"body": BODY.format(4.5)}, "/b": {"body": BODY.format(20)}}}


def run(folder: Path, server: Site, spider: str, pipeline: str, kills: bool = False) -> None:
    (folder / "acme.py").write_text(CODE)
    options = ["-s", "SPIDER_MODULES=acme", "-a", f"seed={server.url()}"]
    options += ["-s", f'ITEM_PIPELINES={{"acme.{pipeline}": 50}}', "-s", "FRONTIER_COMMIT_PAGES=1"]
    for name in ("json", "jsonl", "csv"):
        options += ["-O", f"out.{name}"]
    crawl = Command(folder, *options, spider=spider)
    if kills:
        crawl.run_until_asked(server, 2)
    done = crawl.run()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kills", [False, True])
def test_fields_of_a_subclass_are_in_every_output(
    site: SiteFactory, tmp_path: Path, kills: bool
) -> None:
    server = site(SITE)
    run(tmp_path, server, "shop", "Prices", kills=kills)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    pages = {record["url"]: record for record in lines}
    assert len(lines) == len(pages) == 3
    first = pages[server.url()]
    assert (first["price"], first["tags"], first["seen_on"]) == (4.5, ["cheap"], "2026-11-18")
    assert first["currency"] == "EUR"
    assert first["links"] == [server.url("/b"), server.url("/gone")]
    assert pages[server.url("/gone")]["error"] == "unexpected status 404"
    sitemap = json.loads((tmp_path / "out.json").read_text())
    by_url = {page["url"]: page for page in sitemap["pages"]}
    assert by_url[server.url("/b")]["price"] == 20
    assert by_url[server.url()]["tags"] == ["cheap"]
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = {row["url"]: row for row in csv.DictReader(file)}
    assert rows[server.url()]["price"] == "4.5"


def test_a_pipeline_may_make_another_page_of_it(site: SiteFactory, tmp_path: Path) -> None:
    server = site(SITE)
    run(tmp_path, server, "plain", "Noting")
    sitemap = json.loads((tmp_path / "out.json").read_text())
    assert [page["note"] for page in sitemap["pages"]] == ["noted"] * 3
    # It is compared like any other page.
    assert all(page["content_hash"] for page in sitemap["pages"] if not page.get("error"))
