"""A stock project that sets SCHEDULER, and nothing else of ours, crawls as it should."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.killing import kill
from tests.stock import SCHEDULER, StockProject, ended
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.1
QUICK = {"DOWNLOAD_DELAY": 0, "FRONTIER_RETRY_BACKOFF_SECONDS": 0.01}

CRAWL_SPIDER = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Shop(CrawlSpider):
    name = "shop"
    allowed_domains = ["127.0.0.1"]
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse_start_url(self, response):
        return self.parse_page(response)

    def parse_page(self, response):
        yield {"path": "/" + response.url.split("/", 3)[3], "text": response.meta.get("link_text")}
"""
PLAIN_SPIDER = """
from scrapy import Spider


class Shop(Spider):
    name = "shop"
    allowed_domains = ["127.0.0.1"]

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response):
        yield {"path": "/" + response.url.split("/", 3)[3]}
        yield from response.follow_all(css="a")
"""
SITE = {
    "robots": "User-agent: *\nDisallow: /private\n",
    "pages": {
        "/": {"links": ["/a", "/b", "/a?utm_source=x", "/private/x", "/old", "/gone", "/shaky"]},
        "/a": {"links": ["/", "/b"], "delay": 0.05},
        "/b": {"links": ["/a#top"]},
        "/old": {"redirect": "/new"},
        "/new": {"links": ["http://127.0.0.2:{port}/offsite"]},
        "/gone": {"status": 404},
        "/shaky": {"times": {"1": {"status": 500}}},
    },
}


@pytest.fixture
def project(tmp_path: Path) -> StockProject:
    return StockProject(tmp_path)


def paths_of(file: Path) -> list[str]:
    return sorted(item["path"] for item in json.loads(file.read_text()))


@pytest.mark.parametrize("spider", [PLAIN_SPIDER, CRAWL_SPIDER], ids=["plain", "crawl"])
def test_it_is_polite_and_asks_for_each_page_once(
    site: SiteFactory, project: StockProject, tmp_path: Path, spider: str
) -> None:
    server = site(SITE)
    project.write(spider, SCHEDULER=SCHEDULER, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=DELAY)
    log = project.crawl("-a", f"site={server.url()}", "-O", "items.json")
    asked = [entry["path"] for entry in server.log()]
    # robots.txt first, and once: Scrapy's own middleware has nothing left to ask.
    assert asked[0] == "/robots.txt"
    assert Counter(asked[1:]) == {
        **dict.fromkeys(["/", "/a", "/b", "/old", "/new", "/gone"], 1),
        "/shaky": 2,
    }
    # From the end of each to the start of the next.
    assert server.max_in_flight() == 1
    assert min(server.gaps()) >= DELAY
    assert paths_of(tmp_path / "items.json") == ["/", "/a", "/b", "/new", "/shaky"]
    # Counted by Scrapy and by ours under one name, but once.
    assert f"'downloader/request_count': {len(asked)}," in log
    assert "'robotstxt/forbidden': 1," in log
    assert "can't be kept" not in log


def test_redirects_of_a_robots_txt_have_their_turns_too(
    site: SiteFactory, project: StockProject
) -> None:
    server = site(
        {
            "robots": {"redirect": "/rules.txt"},
            "pages": {
                "/rules.txt": {"body": "User-agent: *\nDisallow: /a", "content_type": "text/plain"},
                "/": {"links": ["/a", "/b"]},
                "/b": {},
            },
        }
    )
    project.write(CRAWL_SPIDER, SCHEDULER=SCHEDULER, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=DELAY)
    project.crawl("-a", f"site={server.url()}")
    assert [entry["path"] for entry in server.log()] == ["/robots.txt", "/rules.txt", "/", "/b"]
    assert min(server.gaps()) >= DELAY


def test_a_host_that_has_too_much_to_do_is_left_alone(
    site: SiteFactory, project: StockProject
) -> None:
    busy = {"status": 503, "headers": {"Retry-After": "1"}}
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {"times": {"1": busy}}}})
    project.write(CRAWL_SPIDER, SCHEDULER=SCHEDULER, **QUICK)
    project.crawl("-a", f"site={server.url()}")
    assert server.paths() == ["/", "/a", "/a"]
    assert server.gaps()[-1] >= 1


def test_scrapys_word_for_a_request_that_robots_txt_does_not_concern_is_understood(
    site: SiteFactory, project: StockProject
) -> None:
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /\nAllow: /$\n",
            "pages": {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}},
        }
    )
    spider = PLAIN_SPIDER.replace(
        'follow_all(css="a")',
        'follow_all(css="a[href=\'/b\']", meta={"dont_obey_robotstxt": True})',
    )
    project.write(spider, SCHEDULER=SCHEDULER, ROBOTSTXT_OBEY=True, **QUICK)
    project.crawl("-a", f"site={server.url()}")
    assert server.paths() == ["/", "/b"]


def test_killed_at_any_time_a_crawl_spider_goes_on_and_every_page_gets_to_its_callback(
    site: SiteFactory, project: StockProject, tmp_path: Path
) -> None:
    pages: dict[str, Any] = {f"/{number}": {"links": ["/", "/old"]} for number in range(40)}
    pages |= {"/": {"redirect": "/home"}, "/home": {"links": list(pages)}}
    pages |= {"/old": {"redirect": "/new"}, "/new": {}}
    server = site({"pages": pages, "random_delay": [0.0, 0.02]})
    # What a callback has seen outlives a kill by a pipeline that writes at once.
    (tmp_path / "kept.py").write_text(
        "class Kept:\n"
        "    def process_item(self, item):\n"
        "        with open('kept.txt', 'a') as file:\n"
        "            file.write(item['path'] + '\\n')\n"
        "        return item\n"
    )
    project.write(
        CRAWL_SPIDER,
        SCHEDULER=SCHEDULER,
        ITEM_PIPELINES={"kept.Kept": 1},
        # As somebody has it who comes from scrapy-redis. There is no Redis here, nor needed.
        DUPEFILTER_CLASS="scrapy_redis.dupefilter.RFPDupeFilter",
        FRONTIER_COMMIT_SECONDS=0.01,
        **QUICK,
    )
    options = ("-a", f"site={server.url()}", "-s", "JOBDIR=job")
    kills = (3, 12, 25)
    for count in kills:
        process = project.start(*options)
        wait_for(lambda count=count: len(server.paths()) >= count)  # type: ignore[misc]
        kill(process)
    project.crawl(*options)
    asked = Counter(server.paths())
    assert set(asked) == set(pages)
    assert max(asked.values()) <= 1 + len(kills)
    seen = set((tmp_path / "kept.txt").read_text().split())
    assert seen == set(pages) - {"/", "/old"}
    # A finished crawl asks nothing.
    before = server.paths()
    project.crawl(*options)
    assert server.paths() == before


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"DOWNLOADER_MIDDLEWARES": {"crawlproject.frontier.leases.LeaseGuard": None}},
            "DOWNLOADER_MIDDLEWARES: crawlproject.frontier.leases.LeaseGuard is None, ",
        ),
        (
            {"SPIDER_MIDDLEWARES": {"crawlproject.frontier.leases.LeaseMiddleware": None}},
            "SPIDER_MIDDLEWARES: crawlproject.frontier.leases.LeaseMiddleware is None, ",
        ),
        (
            {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
            "TWISTED_REACTOR: 'twisted.internet.selectreactor.SelectReactor' is not asyncio's",
        ),
    ],
)
def test_what_can_not_work_is_one_line_and_asks_for_nothing(
    site: SiteFactory, project: StockProject, settings: dict[str, Any], problem: str
) -> None:
    server = site({"pages": {"/": {}}})
    project.write(PLAIN_SPIDER, SCHEDULER=SCHEDULER, **settings)
    log = ended(project.start("-a", f"site={server.url()}"))
    problems = [line for line in log.splitlines() if "ERROR:" in line]
    assert len(problems) == 1
    assert problem in problems[0]
    assert "Traceback" not in log
    assert server.log() == []


class First:
    def process_request(self, request: Request) -> None:
        pass


class Watching(Spider):
    name = "watching"

    def parse(self, response: Response) -> None:
        pass


async def parts_of(settings: dict[str, Any], seed: str) -> dict[str, Any]:
    """The names of what is at work in a crawl, and its stats."""
    runner = AsyncCrawlerRunner(
        Settings({"SCHEDULER": SCHEDULER, "TELNETCONSOLE_ENABLED": False, **settings})
    )
    crawler: Crawler = runner.create_crawler(Watching)
    parts: dict[str, Any] = {}

    def names(components: Any) -> list[str]:
        return [type(component).__name__ for component in components]

    def opened() -> None:
        engine: Any = crawler.engine
        parts["downloader"] = names(engine.downloader.middleware.middlewares)
        parts["spider"] = names(engine.scraper.spidermw.middlewares)
        parts["listeners"] = names(engine.scheduler._listeners)
        parts["settings"] = crawler.settings

    crawler.signals.connect(opened, signals.spider_opened)
    await runner.crawl(crawler, start_urls=[seed])
    return parts


@deferred_f_from_coro_f
async def test_what_is_put_in_has_the_place_of_its_number(site: SiteFactory) -> None:
    server = site({"pages": {"/": {}}})
    settings = {"DOWNLOADER_MIDDLEWARES": {First: 5}, "ROBOTSTXT_OBEY": True}
    parts = await parts_of(settings, server.url())
    assert parts["downloader"][:3] == ["First", "LeaseGuard", "OffsiteMiddleware"]
    assert "RobotsTxtMiddleware" not in parts["downloader"]
    assert parts["spider"][0] == "LeaseMiddleware"
    assert parts["listeners"] == ["Overload"]
    # Frozen as before, with our defaults where there was nothing.
    assert parts["settings"].frozen
    assert parts["settings"]["POLITENESS_HOST"] == "hostname"
    assert parts["settings"].getfloat("DOWNLOAD_DELAY") == 0


@deferred_f_from_coro_f
async def test_autothrottle_moves_the_gate_unless_that_is_off(site: SiteFactory) -> None:
    server = site({"pages": {"/": {}}})
    settings: dict[str, Any] = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01}
    parts = await parts_of(settings, server.url())
    assert parts["listeners"] == ["GateThrottle", "Overload"]
    off = {"EXTENSIONS": {"crawlproject.politeness.throttle.GateThrottle": None}}
    parts = await parts_of({**settings, **off}, server.url())
    assert parts["listeners"] == ["Overload"]


@deferred_f_from_coro_f
async def test_a_gatekeeper_that_asks_no_host_leaves_robots_txt_to_scrapy(
    site: SiteFactory,
) -> None:
    server = site({"pages": {"/": {}}})
    settings = {"ROBOTSTXT_OBEY": True, "FRONTIER_GATEKEEPER": Anybody}
    parts = await parts_of(settings, server.url())
    assert "RobotsTxtMiddleware" in parts["downloader"]


class Anybody:
    asks_the_host = False

    def verdict(self, lease: object) -> None:
        return None
