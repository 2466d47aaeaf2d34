"""Pipelines of every kind that Scrapy documents, and crawls that end early and are resumed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawling import scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CODE = """
import asyncio

import scrapy
from scrapy.exceptions import DropItem
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater


def noted(item, kind):
    if hasattr(item, "extra"):
        item.extra["kind"] = kind
    else:
        item["kind"] = kind
    return item


class Synchronous:
    def process_item(self, item):
        return noted(item, "synchronous")


class WithSpider:
    def process_item(self, item, spider):
        return noted(item, spider.name)


class Asynchronous:
    async def process_item(self, item):
        await asyncio.sleep(0)
        return noted(item, "asynchronous")


class Deferring:
    def process_item(self, item):
        from twisted.internet import reactor

        return deferLater(reactor, 0, noted, item, "deferred")


class Dropping:
    async def process_item(self, item):
        await asyncio.sleep(0)
        url = item.url if hasattr(item, "url") else item["url"]
        if url.endswith("/b"):
            raise DropItem("no b")
        return item


class Failing:
    def process_item(self, item):
        raise RuntimeError("on purpose")


class Plain(scrapy.Spider):
    name = "plain"

    def __init__(self, seed, **arguments):
        super().__init__(**arguments)
        self.start_urls = [seed]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")


class Failed(Plain):
    name = "failed"

    def parse(self, response):
        yield from super().parse(response)
        raise RuntimeError("on purpose")
"""
LINKS = ["/a", "/b", "/c", "/d", "/e", "/f"]
SITE = {"pages": {"/": {"links": LINKS}}, "default": {"links": ["/g"]}}


@pytest.fixture
def crawl(site: SiteFactory, tmp_path: Path) -> Callable[..., tuple[list[dict[str, Any]], str]]:
    (tmp_path / "acme.py").write_text(CODE)
    server = site(SITE)

    def run(spider: str, *settings: str) -> tuple[list[dict[str, Any]], str]:
        given = ["SPIDER_MODULES=crawlproject.spiders,acme", "SITEMAPS_MODE=never", *settings]
        given += ["DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=no", "LOG_LEVEL=INFO"]
        words = ["crawl", spider, "-a", f"seed={server.url()}", "-O", "items.jsonl"]
        words += [word for pair in given for word in ("-s", pair)]
        done = scrapy(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / "items.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines], done.stderr

    return run


@pytest.mark.parametrize("spider", ["site", "plain"])
@pytest.mark.parametrize(
    ("pipeline", "kind"),
    [
        ("Synchronous", "synchronous"),
        ("WithSpider", None),
        ("Asynchronous", "asynchronous"),
        ("Deferring", "deferred"),
    ],
)
def test_every_item_passes_a_pipeline_of_each_kind(
    crawl: Callable[..., Any], spider: str, pipeline: str, kind: str | None
) -> None:
    items, _ = crawl(spider, f'ITEM_PIPELINES={{"acme.{pipeline}": 300}}')
    assert len(items) == 8
    assert {item["kind"] for item in items} == {kind or spider}


@pytest.mark.parametrize("spider", ["site", "plain"])
def test_what_a_pipeline_drops_is_left_out_and_nothing_else(
    crawl: Callable[..., Any], spider: str
) -> None:
    items, log = crawl(spider, 'ITEM_PIPELINES={"acme.Dropping": 300}')
    assert len(items) == 7
    assert "'item_dropped_count': 1" in log


@pytest.mark.parametrize("spider", ["site", "plain"])
def test_a_pipeline_that_fails_costs_the_item_and_not_the_crawl(
    crawl: Callable[..., Any], spider: str
) -> None:
    items, log = crawl(spider, 'ITEM_PIPELINES={"acme.Failing": 300}')
    assert items == []
    assert "'downloader/response_status_count/200': 8" in log


@pytest.mark.parametrize(
    ("spider", "end", "reason"),
    [
        ("site", "CLOSESPIDER_PAGECOUNT=2", "closespider_pagecount"),
        ("site", "CLOSESPIDER_ITEMCOUNT=2", "closespider_itemcount"),
        ("plain", "CLOSESPIDER_PAGECOUNT=2", "closespider_pagecount"),
        ("plain", "CLOSESPIDER_ITEMCOUNT=2", "closespider_itemcount"),
        ("failed", "CLOSESPIDER_ERRORCOUNT=1", "closespider_errorcount"),
    ],
)
def test_a_crawl_that_a_limit_has_ended_is_resumed_without_loss(
    crawl: Callable[..., Any], spider: str, end: str, reason: str
) -> None:
    slow = ("JOBDIR=job", "CONCURRENT_REQUESTS=1")
    first, log = crawl(spider, *slow, end)
    assert f"'finish_reason': '{reason}'" in log
    assert len(first) < 8
    items, log = crawl(spider, *slow)
    assert "'finish_reason': 'finished'" in log
    assert len({item["url"] for item in items}) == len(items) == 8
