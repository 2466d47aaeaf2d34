from __future__ import annotations

import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from crawlproject.exports.pages_csv import PagesCsvExporter
from crawlproject.exports.sitemap_json import SitemapJsonExporter
from crawlproject.exports.sitemap_xml import SitemapXmlExporter
from crawlproject.frontier.base import Candidate
from crawlproject.frontier.hosts import HostLimits
from crawlproject.items import Page
from crawlproject.records import PAGE, record_of
from tests.frontiers import memory_frontier

if TYPE_CHECKING:
    from pathlib import Path

    from crawlproject.exports.sorted_pages import SortedPagesExporter

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


def test_pages_of_a_crawl_directory_have_the_last_word_on_depth_and_referrer() -> None:
    frontier = memory_frontier(limits=lambda host: HostLimits(0, 9))
    frontier.admit([Candidate("https://a.example/1"), Candidate("https://a.example/2")])
    first, second = frontier.take(0), frontier.take(0)
    assert first is not None
    assert second is not None
    second.found = [Candidate("https://a.example/3")]
    frontier.finish(second)
    third = frontier.take(0)
    assert third is not None
    third.found = [Candidate("https://a.example/x")]
    frontier.finish(third)
    far = frontier.take(0)
    assert far is not None
    page = Page(far.url, 200, far.depth, ["https://a.example/1"], content_type="text/html")
    far.records = [(PAGE, record_of(page)), ("dict", {"price": 3})]
    far.found = [Candidate("https://a.example/1")]
    frontier.finish(far)
    first.found = [Candidate("https://a.example/x")]
    frontier.finish(first)
    file = io.BytesIO()
    exporter = SitemapJsonExporter(file)
    exporter.read_from(frontier.read())
    exporter.finish_exporting()
    document = json.loads(file.getvalue())
    (written,) = document["pages"]
    assert (far.depth, written["depth"], written["referrer"]) == (2, 1, "https://a.example/1")
    assert written["links"] == ["https://a.example/1"]
    assert document["items"] == [{"price": 3}]


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


def test_an_exporter_says_when_the_crawl_began() -> None:
    crawler = get_crawler(SeededSpider)
    crawler.stats.set_value("start_time", datetime(2025, 6, 1, 12, tzinfo=UTC))
    file = io.BytesIO()
    exporter: SitemapJsonExporter = build_from_crawler(SitemapJsonExporter, crawler, file)
    exporter.finish_exporting()
    assert json.loads(file.getvalue())["started_at"] == "2025-06-01T12:00:00Z"


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
