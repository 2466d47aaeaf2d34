"""Where the fast path is used, and where it is not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.core.scraper import Scraper
from scrapy.pipelines import ItemPipelineManager
from scrapy.signalmanager import SignalManager
from scrapy.statscollectors import DummyStatsCollector, MemoryStatsCollector
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.fastpath.downloader import FastStatsCollector
from crawlproject.fastpath.signals import FastSignalManager
from tests.crawling import crawl_site
from tests.crawling import scrapy as run_scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from scrapy.crawler import Crawler

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SITE = {"pages": {"/": {"links": ["/a"]}, "/a": {"links": []}}}


async def crawled_with(site: SiteFactory, **settings: Any) -> Crawler:
    crawled = await crawl_site(site(SITE).url(), settings)
    assert len(crawled.pages) == 2
    return crawled.crawler


def is_scrapys_own(crawler: Crawler) -> bool:
    """Whether no method of Scrapy's is replaced."""
    scraper, downloader = crawler.engine.scraper, crawler.engine.downloader
    return (
        type(crawler.signals) is SignalManager
        and type(crawler.stats) is MemoryStatsCollector
        and "_process_request" not in vars(downloader.middleware)
        and "download_request_async" not in vars(downloader.handlers)
        and "_start_scheduled_request" not in vars(crawler.engine)
        and type(scraper) is Scraper
        and type(scraper.itemproc) is ItemPipelineManager
        and not any(callable(value) for value in vars(scraper).values())
        and not any(callable(value) for value in vars(scraper.itemproc).values())
    )


@deferred_f_from_coro_f
async def test_it_is_on_by_default(site: SiteFactory) -> None:
    crawler = await crawled_with(site)
    downloader = crawler.engine.downloader
    assert type(crawler.signals) is FastSignalManager
    assert type(crawler.stats) is FastStatsCollector
    assert {"_process_request", "_process_response"} <= vars(downloader.middleware).keys()
    assert "download_request_async" in vars(downloader.handlers)
    assert "_start_scheduled_request" in vars(crawler.engine)
    assert "_scrape" in vars(crawler.engine.scraper)
    assert "process_item_async" in vars(crawler.engine.scraper.itemproc)


@deferred_f_from_coro_f
async def test_it_can_be_switched_off(site: SiteFactory, caplog: pytest.LogCaptureFixture) -> None:
    assert is_scrapys_own(await crawled_with(site, FASTPATH_ENABLED=False))
    assert "fast path" not in caplog.text


@deferred_f_from_coro_f
async def test_it_is_off_with_an_untested_version_of_scrapy(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(scrapy, "__version__", "2.99.1")
    assert is_scrapys_own(await crawled_with(site))
    (record,) = [one for one in caplog.records if one.name == "crawlproject.fastpath"]
    assert record.levelno == logging.WARNING
    assert "2.99.1" in record.getMessage()


@deferred_f_from_coro_f
async def test_several_items_at_once_are_scrapys(site: SiteFactory) -> None:
    crawler = await crawled_with(site, CONCURRENT_ITEMS=2)
    assert not any(callable(value) for value in vars(crawler.engine.scraper).values())


@deferred_f_from_coro_f
async def test_a_stats_collector_that_is_named_stays(site: SiteFactory) -> None:
    crawler = await crawled_with(site, STATS_CLASS=DummyStatsCollector)
    assert type(crawler.stats) is DummyStatsCollector


def test_another_value_is_a_bad_argument(tmp_path: Path) -> None:
    arguments = ("-a", "seed=http://127.0.0.1:9/", "-s", "FASTPATH_ENABLED=perhaps")
    done = run_scrapy("crawl", "site", *arguments, cwd=tmp_path)
    assert done.returncode != 0
    assert "FASTPATH_ENABLED" in done.stderr
    assert "Traceback" not in done.stderr


@deferred_f_from_coro_f
async def test_the_fixture_switches_crawls_in_this_process(
    site: SiteFactory, fastpath: bool
) -> None:
    assert is_scrapys_own(await crawled_with(site)) is not fastpath


def test_the_fixture_switches_commands(site: SiteFactory, tmp_path: Path, fastpath: bool) -> None:
    seed = site(SITE).url()
    done = run_scrapy("crawl", "site", "-a", f"seed={seed}", "-L", "INFO", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("The fast path is on" in done.stderr) is fastpath
