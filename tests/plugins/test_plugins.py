"""Plugins from the package index, in this project and in another one that has the add-on.

docs/extending.md lists these and others that were tried. They are pinned in
requirements-plugins.txt.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import BROWSER, needs_browser
from tests.own_redis import OwnRedis, own_redis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site
    from tests.stock import StockProject

    SiteFactory = Callable[..., Site]
    Settings = dict[str, Any]

__all__ = ["own_redis"]

MODULES = ["crawlproject.spiders", "shop.spiders"]
SITE: dict[str, Any] = {
    "pages": {
        "/": {"title": "Home", "links": ["/a", "/b"]},
        "/a": {"title": "A", "links": ["/"]},
        "/b": {"title": "B"},
    }
}
SPIDER = """
from scrapy import Spider


class Shop(Spider):
    name = "shop"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
"""
# A team's spider beside ours, which asks for more than links.
OUR_SPIDER = """
from scrapy import Request

from crawlproject.spiders.site import SiteSpider


class Shop(SiteSpider):
    name = "shop"
"""


def items_in(file: Path) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(file.read_text())
    return items


def pages_in(file: Path) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = json.loads(file.read_text())["pages"]
    return pages


# --- spidermon: an extension that reads stats, and a pipeline that validates items

MONITORS = """
import json

from spidermon import Monitor, MonitorSuite
from spidermon.core.actions import Action
from spidermon.contrib.scrapy.monitors import FinishReasonMonitor, ItemCountMonitor


class RequestMonitor(Monitor):
    def test_requests_are_counted(self):
        self.assertGreaterEqual(self.data.stats["downloader/request_count"], 3)
        self.assertEqual(self.data.stats["spidermon/validation/items"], 3)


class Report(Action):
    def run_action(self):
        with open("passed.json", "w") as file:
            json.dump(self.data.stats, file, default=str)


class Closing(MonitorSuite):
    monitors = [FinishReasonMonitor, ItemCountMonitor, RequestMonitor]
    monitors_passed_actions = [Report]
"""
SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"url": {"type": "string"}, "title": {"enum": ["Home", "A"]}},
    "required": ["url", "title"],
}


def spidermon(project: StockProject) -> Settings:
    """Its settings, and its files in the project."""
    (project.folder / "shop").mkdir()
    (project.folder / "shop/monitors.py").write_text(MONITORS)
    (project.folder / "schema.json").write_text(json.dumps(SCHEMA))
    return {
        "SPIDERMON_ENABLED": True,
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "SPIDERMON_SPIDER_CLOSE_MONITORS": ("shop.monitors.Closing",),
        "SPIDERMON_MIN_ITEMS": 3,
        "SPIDERMON_VALIDATION_ADD_ERRORS_TO_ITEMS": True,
        "ITEM_PIPELINES": {"spidermon.contrib.scrapy.pipelines.ItemValidationPipeline": 800},
        "SPIDERMON_VALIDATION_SCHEMAS": [str(project.folder / "schema.json")],
    }


def check_monitors(project: StockProject) -> None:
    # It is only there if all monitors have passed.
    stats = json.loads((project.folder / "passed.json").read_text())
    assert stats["spidermon/validation/items/errors"] == 1
    assert any(name.endswith("/title") for name in stats if "/errors/" in name)


def test_spidermon_sees_stats_and_validates_items_of_another_project(
    site: SiteFactory, other_project: StockProject, settings: Settings
) -> None:
    server = site(SITE)
    schemas = "SPIDERMON_VALIDATION_SCHEMAS"
    other_project.write(SPIDER, **settings, **spidermon(other_project))
    # As its documentation has it: by the class of the items.
    with (other_project.folder / "shop/settings.py").open("a") as file:
        file.write(f"\n{schemas} = {{dict: {schemas}}}\n")
    other_project.crawl("-a", f"site={server.url()}")
    check_monitors(other_project)


def test_spidermon_sees_stats_and_validates_pages_here(
    site: SiteFactory, our_project: StockProject, settings: Settings
) -> None:
    server = site(SITE)
    schemas = "SPIDERMON_VALIDATION_SCHEMAS"
    our_project.write(OUR_SPIDER, SPIDER_MODULES=MODULES, **settings, **spidermon(our_project))
    with (our_project.folder / "shop/settings.py").open("a") as file:
        file.write(f"\nfrom crawlproject.items import Page\n{schemas} = {{Page: {schemas}}}\n")
    our_project.crawl("-a", f"seed={server.url()}", "-O", "pages.json", spider="site")
    check_monitors(our_project)
    # The errors are a field of the page, and so of the outputs.
    pages = pages_in(our_project.folder / "pages.json")
    assert {page["title"] for page in pages if "_validation" in page} == {"B"}


# --- scrapy-user-agents: a downloader middleware in place of Scrapy's

USER_AGENTS: Settings = {
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
        "scrapy_user_agents.middlewares.RandomUserAgentMiddleware": 400,
    },
    "RANDOM_UA_FILE": "agents.txt",
    "RANDOM_UA_TYPE": "random",
}
AGENT = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36"
)


@pytest.mark.parametrize("is_ours", [True, False], ids=["here", "elsewhere"])
def test_scrapy_user_agents_names_the_agent_of_every_request(
    site: SiteFactory,
    our_project: StockProject,
    other_project: StockProject,
    settings: Settings,
    is_ours: bool,
) -> None:
    server = site(SITE)
    project = our_project if is_ours else other_project
    (project.folder / "agents.txt").write_text(f"{AGENT}\n")
    if is_ours:
        project.write(OUR_SPIDER, SPIDER_MODULES=MODULES, **settings, **USER_AGENTS)
        project.crawl("-a", f"seed={server.url()}", spider="site")
    else:
        project.write(SPIDER, **settings, **USER_AGENTS)
        project.crawl("-a", f"site={server.url()}")
    assert sorted(server.paths()) == ["/", "/a", "/b"]
    # That of robots.txt, too.
    assert {entry["headers"]["user-agent"] for entry in server.log()} == {AGENT}


# --- scrapy-poet: page objects as arguments of callbacks

PAGE_OBJECT = """
import attrs
from web_poet import WebPage, field


@attrs.define
class Product:
    url: str
    name: str


class ProductPage(WebPage[Product]):
    @field
    def url(self):
        return str(self.response.url)

    @field
    def name(self):
        return self.css("title::text").get()
"""
POET_SPIDER = PAGE_OBJECT + SPIDER.replace(
    "def parse(self, response):", "async def parse(self, response, page: ProductPage):"
).replace(
    'yield {"url": response.url, "title": response.css("title::text").get()}',
    "yield await page.to_item()",
).replace(
    'yield from response.follow_all(css="a")',
    'for one in response.follow_all(css="a"):\n            yield one',
)
OUR_POET_SPIDER = (
    PAGE_OBJECT
    + OUR_SPIDER
    + """
    def parse_start_url(self, response):
        if response.url.endswith("/b"):
            yield Request(response.urljoin("/api"), self.parse_product)

    async def parse_product(self, response, page: ProductPage):
        yield await page.to_item()
"""
)


def test_scrapy_poet_makes_items_by_page_objects_in_another_project(
    site: SiteFactory, other_project: StockProject, settings: Settings
) -> None:
    server = site(SITE)
    other_project.preamble = 'ADDONS = {"crawlproject.Addon": 100, "scrapy_poet.Addon": 300}'
    other_project.write(POET_SPIDER, **settings)
    other_project.crawl("-a", f"site={server.url()}", "-O", "items.json")
    items = items_in(other_project.folder / "items.json")
    assert {item["name"] for item in items} == {"Home", "A", "B"}
    assert sorted(server.paths()) == ["/", "/a", "/b"]


def test_scrapy_poet_makes_items_by_page_objects_here(
    site: SiteFactory, our_project: StockProject, settings: Settings
) -> None:
    pages = {**SITE["pages"], "/api": {"title": "Nail"}}
    server = site({"pages": pages})
    our_project.preamble += '\nADDONS = {**ADDONS, "scrapy_poet.Addon": 300}'
    our_project.write(OUR_POET_SPIDER, **settings)
    our_project.crawl("-a", f"seed={server.url()}", "-O", "pages.jsonl")
    lines = (our_project.folder / "pages.jsonl").read_text().splitlines()
    items = list(map(json.loads, lines))
    assert [item for item in items if "name" in item] == [
        {"url": server.url("/api"), "name": "Nail"}
    ]
    assert sum("status_code" in item for item in items) == 3
    assert sorted(server.paths()) == ["/", "/a", "/api", "/b"]


# --- scrapy-playwright: a download handler of its own

PLAYWRIGHT: Settings = {
    "DOWNLOAD_HANDLERS": {
        "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
        "https": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
    },
    "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": BROWSER, "args": ["--no-sandbox"]},
}
SCRIPTED = "<body><script>document.body.innerHTML = '<h1>by a script</h1>'</script></body>"
PLAYWRIGHT_SITE: dict[str, Any] = {
    "pages": {"/": {"links": ["/b"]}, "/b": {}, "/scripted": {"body": SCRIPTED}}
}
ASKING = """
    def {callback}(self, response):
        if response.url.endswith("/b"):
            yield response.follow("/scripted", self.parse_scripted, meta={{"playwright": True}})
        {more}

    def parse_scripted(self, response):
        yield {{"heading": response.css("h1::text").get()}}
"""


@needs_browser
def test_scrapy_playwright_renders_what_another_project_asks_it_to(
    site: SiteFactory, other_project: StockProject, settings: Settings
) -> None:
    server = site(PLAYWRIGHT_SITE)
    head = SPIDER.partition("    def parse")[0]
    follow = 'yield from response.follow_all(css="a")'
    other_project.write(
        head + ASKING.format(callback="parse", more=follow), **settings, **PLAYWRIGHT
    )
    other_project.crawl("-a", f"site={server.url()}", "-O", "items.json")
    assert items_in(other_project.folder / "items.json") == [{"heading": "by a script"}]
    assert server.paths() == ["/", "/b", "/scripted"]


@needs_browser
def test_scrapy_playwright_renders_what_a_spider_here_asks_it_to(
    site: SiteFactory, our_project: StockProject, settings: Settings
) -> None:
    server = site(PLAYWRIGHT_SITE)
    spider = OUR_SPIDER + ASKING.format(callback="parse_start_url", more="")
    our_project.write(spider, **settings, **PLAYWRIGHT)
    our_project.crawl("-a", f"seed={server.url()}", "-O", "pages.jsonl")
    lines = (our_project.folder / "pages.jsonl").read_text().splitlines()
    assert {"heading": "by a script"} in map(json.loads, lines)
    assert server.paths() == ["/", "/b", "/scripted"]


# --- scrapy-deltafetch: a synchronous spider middleware that drops requests

DELTAFETCH: Settings = {
    "SPIDER_MIDDLEWARES": {"scrapy_deltafetch.DeltaFetch": 100},
    "DELTAFETCH_ENABLED": True,
}
RULES = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule

from crawlproject.spiders.site import SiteSpider


class Shop(SiteSpider):
    name = "shop"
    rules = (Rule(LinkExtractor(), callback="parse_item"),)

    def parse_item(self, response):
        yield {"url": response.url}
"""


@pytest.mark.parametrize("is_ours", [True, False], ids=["here", "elsewhere"])
def test_scrapy_deltafetch_drops_requests_for_pages_of_earlier_crawls(
    site: SiteFactory,
    our_project: StockProject,
    other_project: StockProject,
    settings: Settings,
    is_ours: bool,
) -> None:
    server = site(SITE)
    project, argument = (our_project, "seed") if is_ours else (other_project, "site")
    project.write(RULES if is_ours else SPIDER, **settings, **DELTAFETCH)
    project.crawl("-a", f"{argument}={server.url()}")
    assert sorted(server.paths()) == ["/", "/a", "/b"]
    log = project.crawl("-a", f"{argument}={server.url()}")
    # The start URL is no spider's output, and asked for again.
    assert sorted(server.paths()) == ["/", "/", "/a", "/b"]
    assert "'deltafetch/skipped': 2," in log


# --- scrapy-redis: a pipeline that stores items

PIPELINE = {"scrapy_redis.pipelines.RedisPipeline": 800}


@pytest.mark.parametrize("is_ours", [True, False], ids=["here", "elsewhere"])
def test_the_pipeline_of_scrapy_redis_stores_items(
    site: SiteFactory,
    own_redis: OwnRedis,
    our_project: StockProject,
    other_project: StockProject,
    settings: Settings,
    is_ours: bool,
) -> None:
    server = site(SITE)
    where = {"REDIS_URL": own_redis.url, "ITEM_PIPELINES": PIPELINE}
    if is_ours:
        our_project.write(OUR_SPIDER, SPIDER_MODULES=MODULES, **settings, **where)
        our_project.crawl("-a", f"seed={server.url()}", spider="site")
    else:
        other_project.write(SPIDER, **settings, **where)
        other_project.crawl("-a", f"site={server.url()}")
    name = "site" if is_ours else "shop"
    items = list(map(json.loads, own_redis.client.lrange(f"{name}:items", 0, -1)))
    assert {item["title"] for item in items} == {"Home", "A", "B"}
    assert len(items) == 3
