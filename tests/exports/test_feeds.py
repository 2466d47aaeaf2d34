"""Outputs from the crawl directory: the pages of all runs, through all of Scrapy's options."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.exports.feeds import Feeds
from crawlproject.exports.pages_csv import PagesCsvExporter
from crawlproject.items import Page
from crawlproject.settings import FEED_EXPORTERS
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE = {"generated": {"kind": "chain", "pages": 9}}


@dataclass
class Product:
    name: str
    price: float


class ShopSpider(SiteSpider):
    name = "shop"

    async def parse_with_rules(self, response: Response, *args: Any, **kwargs: Any) -> Any:
        async for item in super().parse_with_rules(response, *args, **kwargs):
            yield item
        yield Product(response.url.rpartition("/")[2], 2.5)


class Rated:
    """A pipeline that adds a field."""

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            item.extra["rating"] = item.depth
        return item


def feed(folder: Path, name: str, **options: Any) -> dict[str, dict[str, Any]]:
    return {str(folder / name): {"format": name.rpartition(".")[2], "overwrite": True, **options}}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@deferred_f_from_coro_f
async def test_lines_that_replace_a_file_begin_with_the_pages_of_earlier_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "FEEDS": {
            **feed(tmp_path, "all.jsonl"),
            **feed(tmp_path, "appended.jsonl", overwrite=False),
        },
    }
    await crawl_site(server.url(), settings, max_pages="4")
    await crawl_site(server.url(), settings)
    for name in ("all.jsonl", "appended.jsonl"):
        pages = lines(tmp_path / name)
        assert len(pages) == 9
        assert {page["depth"] for page in pages} == set(range(9))
        assert list(pages[0])[:4] == ["url", "status_code", "depth", "links"]


@deferred_f_from_coro_f
async def test_items_and_added_fields_of_earlier_runs_are_kept_too(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "ITEM_PIPELINES": {Rated: 100},
        "FEEDS": {**feed(tmp_path, "s.json"), **feed(tmp_path, "p.csv")},
    }
    await crawl_site(server.url(), settings, spider=ShopSpider, max_pages="4")
    await crawl_site(server.url(), settings, spider=ShopSpider)
    document = json.loads((tmp_path / "s.json").read_bytes())
    assert sorted(page["rating"] for page in document["pages"]) == list(range(9))
    assert {item["name"] for item in document["items"]} == {"", *"12345678"}
    header, *rows = (tmp_path / "p.csv").read_text().splitlines()
    assert header.endswith(",orphan,sitemap,name,price,rating")
    assert len(rows) == 18


@deferred_f_from_coro_f
async def test_filters_and_batches_hold_for_what_is_in_the_crawl_directory(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "FEEDS": {
            **feed(tmp_path, "products.json", item_classes=[Product]),
            **feed(tmp_path, "pages-%(batch_id)d.json", item_classes=[Page], batch_item_count=4),
        },
    }
    await crawl_site(server.url(), settings, spider=ShopSpider, max_pages="4")
    await crawl_site(server.url(), settings, spider=ShopSpider)
    products = json.loads((tmp_path / "products.json").read_bytes())
    assert (len(products["items"]), products["pages"]) == (9, [])
    urls = []
    for number in (1, 2, 3):
        batch = json.loads((tmp_path / f"pages-{number}.json").read_bytes())
        urls += [page["url"] for page in batch["pages"]]
    # All batches together are in order.
    assert urls == sorted(urls)
    assert len(urls) == 9


@deferred_f_from_coro_f
async def test_a_document_of_chosen_items_names_the_seeds_and_the_start_of_all_runs(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {}, "/other": {}}})
    settings = {
        "JOBDIR": str(tmp_path / "job"),
        "FEEDS": {
            **feed(tmp_path, "all.json"),
            **feed(tmp_path, "pages.json", item_classes=[Page]),
            **feed(tmp_path, "batch-%(batch_id)d.json", batch_item_count=1),
        },
    }
    await crawl_site(server.url(), settings)
    first = json.loads((tmp_path / "all.json").read_bytes())
    await crawl_site(server.url("/other"), settings)
    for name in ("all", "pages", "batch-1", "batch-2"):
        document = json.loads((tmp_path / f"{name}.json").read_bytes())
        assert document["started_at"] == first["started_at"], name
        assert document["seed"] == [server.url(), server.url("/other")], name


class LooseSpider(SiteSpider):
    """Yields an item before the first request."""

    name = "loose"

    async def start(self) -> AsyncIterator[Any]:
        yield {"started": True}
        async for output in super().start():
            yield output


@deferred_f_from_coro_f
async def test_what_belongs_to_no_page_is_of_the_last_run(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    settings = {"JOBDIR": str(tmp_path / "job"), "FEEDS": feed(tmp_path, "s.json")}
    await crawl_site(server.url(), settings, spider=LooseSpider, max_pages="4")
    await crawl_site(server.url(), settings, spider=LooseSpider)
    document = json.loads((tmp_path / "s.json").read_bytes())
    assert document["items"] == [{"started": True}]


class Breaking(PagesCsvExporter):
    def write_document(self) -> None:
        raise TypeError("no such item was expected")


@deferred_f_from_coro_f
async def test_an_exporter_that_breaks_costs_its_output_and_no_other(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {}}})
    files = {
        str(tmp_path / "a.broken"): {"format": "broken"},
        str(tmp_path / "b.json"): {"format": "json"},
    }
    exporters: dict[str, Any] = {**FEED_EXPORTERS, "broken": Breaking}
    crawled = await crawl_site(server.url(), {"FEEDS": files, "FEED_EXPORTERS": exporters})
    feeds = crawled.crawler.get_extension(Feeds)
    assert feeds is not None
    assert feeds.failures == {str(tmp_path / "a.broken"): "no such item was expected"}
    # Nothing half is left.
    assert names(tmp_path) == ["b.json"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
