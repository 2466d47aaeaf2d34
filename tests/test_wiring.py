"""Whatever a team sets for its own components, ours stay: politeness and outputs depend on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from crawlproject.cluster.overseer import Overseer
from crawlproject.frontier.configuration import Refusal
from crawlproject.frontier.idle import NothingToFetch
from crawlproject.spiders.site import SiteSpider
from crawlproject.wiring import Wiring
from tests.crawling import crawl_site, project_settings, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from scrapy import Request

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.07
SITE = {
    "robots": "User-agent: *\nDisallow: /no\n",
    "pages": {"/": {"links": ["/a", "/no"]}, "/a": {"links": []}, "/no": {"links": []}},
}


class Signed:
    def process_request(self, request: Request) -> None:
        request.headers["X-Signed"] = "yes"


class TeamSpider(SiteSpider):
    name = "team"
    custom_settings: dict[str, Any] = {  # noqa: RUF012
        "DOWNLOADER_MIDDLEWARES": {Signed: 500},
        "SPIDER_MIDDLEWARES": {},
        "EXTENSIONS": {},
        "FEED_EXPORTERS": {"mine": "scrapy.exporters.PickleItemExporter"},
    }


@deferred_f_from_coro_f
async def test_a_spider_with_components_of_its_own_is_as_polite_and_loses_nothing(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site(SITE)
    output = tmp_path / "pages.json"
    feeds = {"FEEDS": {str(output): {"format": "json"}}}
    await crawl_site(server.url(), feeds, spider=TeamSpider, delay=str(DELAY))
    assert server.paths() == ["/", "/a"]
    assert min(server.gaps()) >= DELAY
    pages = json.loads(output.read_text())["pages"]
    assert [(page["url"], page.get("error")) for page in pages] == [
        (server.url(), None),
        (server.url("/a"), None),
        (server.url("/no"), "robots"),
    ]


def test_what_is_named_with_none_is_off() -> None:
    path = "crawlproject.politeness.throttle.GateThrottle"
    settings = project_settings({"EXTENSIONS": json.dumps({path: None})})
    Wiring().update_settings(settings)
    extensions = settings.get_component_priority_dict_with_base("EXTENSIONS")
    orders = {load_object(name).__name__: order for name, order in extensions.items()}
    # Scrapy leaves out what is None.
    assert orders["Overload"] == 110
    assert not {"GateThrottle", "AutoThrottle"} & orders.keys()


def test_a_scheduler_that_is_not_derived_from_ours_is_replaced_by_one_that_says_so() -> None:
    settings = project_settings({"SCHEDULER": "scrapy.core.scheduler.Scheduler"})
    Wiring().update_settings(settings)
    assert issubclass(settings["SCHEDULER"], Refusal)
    for name in ("crawlproject.commands.shell.ShellScheduler", NothingToFetch, Overseer):
        settings = project_settings({"SCHEDULER": name})
        Wiring().update_settings(settings)
        assert settings["SCHEDULER"] == name


class PlainSpider(Spider):
    name = "plain"


@deferred_f_from_coro_f
async def test_a_plain_spider_with_scrapys_scheduler_or_downloader_fetches_nothing(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site(SITE)
    parts = {
        "SCHEDULER": "scrapy.core.scheduler.Scheduler",
        "DOWNLOADER": "scrapy.core.downloader.Downloader",
    }
    for name, path in parts.items():
        runner = AsyncCrawlerRunner(project_settings({name: path}))
        await runner.crawl(PlainSpider, start_urls=[server.url()])
        assert f"{name}: '{path}' is no subclass of" in caplog.text
    assert "Traceback" not in caplog.text
    assert server.log() == []


def test_a_crawl_without_it_is_refused(tmp_path: Path) -> None:
    nothing = ("-s", "ADDONS={}", "-s", "DOWNLOADER_MIDDLEWARES={}")
    done = scrapy("crawl", "site", "-a", "seed=http://127.0.0.1:9/", *nothing, cwd=tmp_path)
    assert done.returncode != 0
    assert "DOWNLOADER_MIDDLEWARES: crawlproject.frontier.leases.LeaseGuard is" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_only_a_shared_crawl_reads_is_said(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {}}})
    given = ("FRONTIER_WAIT_FOR_SEEDS=yes", "REDIS_START_URLS_KEY=queue", "FRONTIER_CRAWL_ID=x")
    options = [option for pair in given for option in ("-s", pair)]
    done = scrapy("crawl", "site", "-a", f"seed={server.url()}", *options, cwd=tmp_path)
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if "has no effect without a Redis" in line]
    assert {line.split()[4] for line in lines} == {pair.partition("=")[0] for pair in given}


def test_settings_of_scrapys_that_have_no_effect_are_said_in_scripts_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Commands refuse them."""
    settings = {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver"}
    get_crawler(Spider, {**project_settings(), **settings})
    (said,) = [line for line in caplog.messages if "has no effect here" in line]
    assert said.startswith("TWISTED_DNS_RESOLVER has no effect here: ")
