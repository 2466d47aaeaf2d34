"""Real crawls without a network: a spider may yield pages from the start."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from scrapy import Spider
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.exports.sitemap_json import SitemapJsonExporter
from crawlproject.frontier import use_frontier
from crawlproject.frontier.base import Candidate
from crawlproject.items import Page
from tests.frontiers import memory_frontier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from scrapy.crawler import Crawler

    from crawlproject.frontier.base import Frontier

SITE = "https://example.com"
SETTINGS: dict[str, Any] = {
    "EXTENSIONS": {
        "crawlproject.monitoring.counting.Counting": 0,
        "crawlproject.monitoring.summary.Summary": 300,
        "scrapy.extensions.corestats.CoreStats": None,
    },
    "MONITORING_SUMMARY": True,
    "LOG_ENABLED": True,
    "SCOPE_MODE": "host",
    "DEPTH_LIMIT": 16,
    "FEED_EXPORTERS": {
        "json": "crawlproject.exports.sitemap_json.SitemapJsonExporter",
        "jsonl": "crawlproject.exports.pages_jsonl.PagesJsonLinesExporter",
        "xml": "crawlproject.exports.sitemap_xml.SitemapXmlExporter",
    },
}


class PagesSpider(Spider):
    name = "pages"
    seeds: ClassVar[list[str]] = [f"{SITE}/"]

    async def start(self) -> AsyncIterator[Any]:
        yield Page(f"{SITE}/", 200, bytes=10, fetch_ms=5)
        yield Page(f"{SITE}/gone", 404, 1, error="unexpected status 404", referrer="overtaken")
        yield Page(f"{SITE}/lost", None, 1, error="dns", referrer=f"{SITE}/lost-and-found")
        yield {"not": "a page"}


class DropsTheLost:
    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.url.endswith("/lost"):
            raise DropItem("lost")
        return item


class FailsOnItems:
    def process_item(self, item: Any) -> Any:
        return item if isinstance(item, Page) else item["no such field"]


class FailingStorage:
    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        self._uri = uri

    def open(self, spider: Spider) -> Any:
        return TemporaryFile()

    def store(self, file: Any) -> None:
        file.close()
        raise OSError("no space left")


def frontier_with(skipped: dict[str, str]) -> Frontier:
    """Two pages are known, one of them by a better way than the page itself says."""
    frontier = memory_frontier()
    frontier.admit([Candidate(f"{SITE}/")])
    lease = frontier.take(0.0)
    assert lease is not None
    lease.found = [Candidate(f"{SITE}/gone"), Candidate(f"{SITE}/later")]
    lease.found += [Candidate(url, reason) for url, reason in skipped.items()]
    frontier.landed(lease, 0.0)
    frontier.finish(lease)
    gone = frontier.take(0.0)
    assert gone is not None
    gone.failed = True
    frontier.finish(gone)
    return frontier


async def crawl(frontier: Frontier | None = None, **settings: Any) -> Crawler:
    crawler = get_crawler(PagesSpider, {**SETTINGS, **settings})
    if frontier is not None:
        use_frontier(crawler, frontier)
    await crawler.crawl_async()
    return crawler


@deferred_f_from_coro_f
async def test_the_summary_is_printed_to_standard_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    feeds = {"out/site.json": {"format": "json"}, "sitemap.xml": {"format": "xml"}}
    await crawl(frontier_with({"https://b/": "offsite"}), FEEDS=feeds)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"Crawled 3 pages of {SITE}/ in " in printed.err
    assert ": 1 fine, 2 broken.\n" in printed.err
    assert "  1  on other hosts  -a scope=domain, or allow=HOST\n" in printed.err
    assert "  out/site.json (3 pages, 1 other item)\n" in printed.err
    assert "  sitemap.xml (0 of 3 pages)\n" in printed.err


@pytest.mark.parametrize("lost", [False, True])
@deferred_f_from_coro_f
async def test_pages_and_other_items_of_a_file_are_told_apart(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, lost: bool
) -> None:
    feeds = {
        tmp_path / "a.jsonl": {"format": "jsonl"},
        tmp_path / "b.pickle": {"format": "pickle"},
        tmp_path / "c.jsonl": {"format": "jsonl", "item_classes": [dict]},
    }
    pipelines = {DropsTheLost: 1} if lost else {}
    await crawl(FEEDS=feeds, ITEM_PIPELINES=pipelines)
    printed = capsys.readouterr().err
    pages = 2 if lost else 3
    assert f"a.jsonl ({pages} pages, 1 other item)\n" in printed
    # Scrapy's own formats don't know what a page is.
    assert f"b.pickle ({pages + 1} items)\n" in printed
    assert "c.jsonl (1 other item)\n" in printed


@deferred_f_from_coro_f
async def test_the_referrer_is_the_frontiers_where_it_knows_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await crawl(frontier_with({}))
    printed = capsys.readouterr().err
    assert f"  404  {SITE}/gone\n       linked from {SITE}/\n" in printed
    assert f"    -  {SITE}/lost\n       dns; linked from {SITE}/lost-and-found\n" in printed


@deferred_f_from_coro_f
async def test_untried_urls_are_told_with_the_limit_they_are_owed_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await crawl(frontier_with({}), SCOPE_MAX_PAGES=3)
    assert "3 pages reached (max_pages); 1 URL was not tried.\n" in capsys.readouterr().err


@pytest.mark.parametrize("off", ["MONITORING_SUMMARY", "LOG_ENABLED"])
@deferred_f_from_coro_f
async def test_the_stats_say_what_became_of_the_urls_even_when_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], off: str
) -> None:
    frontier = frontier_with(
        {"https://b/": "offsite", "https://c/": "offsite", "https://d/": "url too long"}
    )
    crawler = await crawl(frontier, **{off: False})
    stats = crawler.stats.get_stats()
    assert stats["frontier/queued"] == 1
    assert stats["frontier/done"] == 1
    assert stats["frontier/failed"] == 1
    assert stats["scope/skipped/offsite"] == 2
    assert stats["scope/skipped/url_too_long"] == 1
    assert "Crawled" not in capsys.readouterr().err


@deferred_f_from_coro_f
async def test_a_crawl_without_a_frontier_has_a_summary_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawler = await crawl()
    assert "Crawled 3 pages" in capsys.readouterr().err
    assert "frontier/done" not in crawler.stats.get_stats()


@deferred_f_from_coro_f
async def test_what_a_pipeline_dropped_is_no_page_but_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await crawl(ITEM_PIPELINES={DropsTheLost: 1})
    printed = capsys.readouterr().err
    assert "Crawled 2 pages" in printed
    assert "1 item more dropped by a pipeline.\n" in printed


@deferred_f_from_coro_f
async def test_what_was_lost_because_a_pipeline_has_raised_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawler = await crawl(ITEM_PIPELINES={FailsOnItems: 1})
    assert "1 item lost: a pipeline raised an exception, see the log.\n" in capsys.readouterr().err
    assert crawler.stats.get_value("item_error_count") == 1


@deferred_f_from_coro_f
async def test_a_feed_on_standard_output_is_not_listed_and_not_mixed_with_the_summary(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    await crawl(FEEDS={"stdout:": {"format": "json"}})
    printed = capfdbinary.readouterr()
    assert b"Crawled" not in printed.out
    assert b'"not"' in printed.out
    assert b"Crawled 3 pages" in printed.err
    assert b"Files" not in printed.err


@deferred_f_from_coro_f
async def test_a_feed_whose_storage_failed_is_not_called_complete(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    feeds = {f"broken://{tmp_path}/a.json": {"format": "json"}}
    await crawl(FEEDS=feeds, FEED_STORAGES={"broken": FailingStorage}, LOG_LEVEL="CRITICAL")
    printed = capsys.readouterr().err
    assert "a.json (not complete: see the log)\n" in printed


class FailingExporter(SitemapJsonExporter):
    def finish_exporting(self) -> None:
        self.file.close()
        raise OSError("no space left")


@deferred_f_from_coro_f
async def test_a_feed_that_was_not_written_to_its_end_is_not_called_complete(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    feeds = {tmp_path / "a.json": {"format": "json"}, tmp_path / "b.xml": {"format": "xml"}}
    exporters = {**SETTINGS["FEED_EXPORTERS"], "json": FailingExporter}
    await crawl(FEEDS=feeds, FEED_EXPORTERS=exporters)
    printed = capsys.readouterr().err
    assert "a.json (not complete: see the log)\n" in printed
    assert "b.xml (0 of 3 pages)\n" in printed
