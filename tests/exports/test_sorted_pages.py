from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy import Spider
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.exports.pages_csv import PagesCsvExporter
from crawlproject.exports.sitemap_json import SitemapJsonExporter
from crawlproject.exports.sitemap_xml import SitemapXmlExporter
from crawlproject.frontier import use_frontier
from crawlproject.frontier.base import Facts
from crawlproject.items import Page

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.exports.sorted_pages import SortedPagesExporter
    from crawlproject.frontier.base import Frontier

SORTED: list[type[SortedPagesExporter]] = [
    SitemapJsonExporter,
    PagesCsvExporter,
    SitemapXmlExporter,
]


def exported(cls: type[SortedPagesExporter], items: list[Any], **options: Any) -> bytes:
    file = io.BytesIO()
    exporter = cls(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return file.getvalue()


def html_page(path: str, **fields: Any) -> Page:
    fields = {"status_code": 200, "content_type": "text/html", **fields}
    return Page(f"https://a.example/{path}", **fields)


@pytest.mark.parametrize("cls", SORTED)
def test_output_does_not_depend_on_the_order_of_arrival(cls: type[SortedPagesExporter]) -> None:
    items: list[Any] = [html_page(path, links=["b", "a"]) for path in ("é", "b", "a/b", "", "B")]
    items += [{"price": 3}, {"price": 1}, {"name": "x"}]
    assert exported(cls, items) == exported(cls, items[::-1])


@pytest.mark.parametrize("cls", SORTED)
def test_a_later_page_of_the_same_url_replaces_the_earlier(cls: type[SortedPagesExporter]) -> None:
    first, second = html_page("x", title="first"), html_page("x", title="second")
    assert exported(cls, [first, second]) == exported(cls, [second])
    gone = html_page("x", status_code=404)
    assert exported(cls, [first, gone]) == exported(cls, [gone])


@pytest.mark.parametrize("cls", SORTED)
def test_what_a_local_file_held_is_replaced_also_when_appending(
    cls: type[SortedPagesExporter], tmp_path: Path
) -> None:
    path = tmp_path / "feed"
    path.write_bytes(b"x" * 10_000)
    with path.open("ab") as file:
        exporter = cls(file)
        exporter.start_exporting()
        exporter.export_item(html_page("x"))
        assert path.stat().st_size == 10_000, "the earlier document stays until the end"
        exporter.finish_exporting()
    assert path.read_bytes() == exported(cls, [html_page("x")])


@pytest.mark.parametrize("cls", SORTED)
def test_a_crawl_without_pages_gives_a_document(cls: type[SortedPagesExporter]) -> None:
    assert exported(cls, [])


def test_final_facts_replace_those_of_the_arrival() -> None:
    final = {"https://a.example/x": Facts(1, "https://a.example/", ("https://a.example/old",))}
    pages = [
        html_page("x", depth=7, referrer="https://a.example/long/way"),
        html_page("y", depth=2, redirected_from=["https://a.example/z"]),
    ]
    document = json.loads(exported(SitemapJsonExporter, pages, facts=final.get))
    x, y = document["pages"]
    assert (x["depth"], x["referrer"]) == (1, "https://a.example/")
    assert x["redirected_from"] == ["https://a.example/old"]
    assert (y["depth"], y["redirected_from"]) == (2, ["https://a.example/z"])


class SeededSpider(Spider):
    name = "seeded"
    seeds = ("https://a.example/", "https://b.example/")


def test_an_exporter_is_built_from_a_crawler_whose_scheduler_is_not_ours() -> None:
    crawler = get_crawler(SeededSpider)
    crawler.spider = SeededSpider.from_crawler(crawler)
    file = io.BytesIO()
    exporter: SitemapJsonExporter = build_from_crawler(
        SitemapJsonExporter, crawler, file, fields_to_export=None, encoding=None, indent=None
    )
    exporter.start_exporting()
    exporter.export_item(html_page("x", depth=4))
    exporter.finish_exporting()
    document = json.loads(file.getvalue())
    assert document["seed"] == ["https://a.example/", "https://b.example/"]
    assert document["started_at"] is None
    assert document["pages"][0]["depth"] == 4


class FrontierOfOneFact:
    def facts(self, url: str) -> Facts | None:
        return Facts(1, None, ()) if url == "https://a.example/x" else None


def test_an_exporter_asks_the_frontier_of_its_crawler() -> None:
    crawler = get_crawler(SeededSpider)
    use_frontier(crawler, cast("Frontier", FrontierOfOneFact()))
    crawler.stats.set_value("start_time", datetime(2025, 6, 1, 12, tzinfo=UTC))
    file = io.BytesIO()
    exporter: SitemapJsonExporter = build_from_crawler(SitemapJsonExporter, crawler, file)
    exporter.start_exporting()
    exporter.export_item(html_page("x", depth=4))
    exporter.export_item(html_page("y", depth=4))
    exporter.finish_exporting()
    document = json.loads(file.getvalue())
    assert document["started_at"] == "2025-06-01T12:00:00Z"
    assert [page["depth"] for page in document["pages"]] == [1, 4]


def test_unknown_options_are_refused_at_the_start() -> None:
    with pytest.raises(TypeError, match="colour"):
        SitemapJsonExporter(io.BytesIO(), colour="red")


GROWTH_SCRIPT = """
import resource, sys
from crawlproject.exports.sitemap_json import SitemapJsonExporter
from crawlproject.items import Page

def peak_kib():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak

with open(sys.argv[1], "wb") as file:
    exporter = SitemapJsonExporter(file)
    before = peak_kib()
    for number in range(100_000):
        url = f"https://a.example/{number * 7919 % 100_000}"
        exporter.export_item(Page(url, 200, title=f"{number}" + "x" * 1_000))
    exporter.finish_exporting()
print(peak_kib() - before)
"""


def test_memory_stays_flat_with_a_hundred_thousand_pages(tmp_path: Path) -> None:
    path = tmp_path / "sitemap.json"
    result = subprocess.run(
        [sys.executable, "-c", GROWTH_SCRIPT, str(path)], capture_output=True, check=True
    )
    assert path.stat().st_size > 100_000 * 1_000
    # SQLite's cache, and again as much to sort: a sixth of what was written.
    assert int(result.stdout) < 24 * 1024
    with path.open("rb") as file:
        assert sum(line.startswith(b'{"url"') for line in file) == 100_000
