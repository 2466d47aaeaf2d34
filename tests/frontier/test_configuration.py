"""Another project with the add-on crawls as it should, or is refused with one line."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.killing import kill
from tests.stock import ADDONS, SCHEDULER, StockProject, ended
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.1
QUICK = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "FRONTIER_RETRY_BACKOFF_SECONDS": 0.01}

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
    project.write(spider, ADDONS=ADDONS, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=DELAY)
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
    assert "can't be written down" not in log


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
    project.write(CRAWL_SPIDER, ADDONS=ADDONS, ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=DELAY)
    project.crawl("-a", f"site={server.url()}")
    assert [entry["path"] for entry in server.log()] == ["/robots.txt", "/rules.txt", "/", "/b"]
    assert min(server.gaps()) >= DELAY


def test_a_host_that_has_too_much_to_do_is_left_alone(
    site: SiteFactory, project: StockProject
) -> None:
    busy = {"status": 503, "headers": {"Retry-After": "1"}}
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {"times": {"1": busy}}}})
    project.write(CRAWL_SPIDER, ADDONS=ADDONS, **QUICK)
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
    project.write(spider, ADDONS=ADDONS, ROBOTSTXT_OBEY=True, **QUICK)
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
        ADDONS=ADDONS,
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


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        # Without the add-on.
        {"ADDONS": {}, "SCHEDULER": SCHEDULER},
        "SCHEDULER: crawlproject.frontier.scheduler.FrontierScheduler does not work alone: it "
        "needs the settings and middlewares of its add-on. Replace the line by "
        'ADDONS = {"crawlproject.Addon": 100}',
    ),
    (
        {"SCHEDULER": "shop.spiders.shop.OwnScheduler"},
        f"SCHEDULER: 'shop.spiders.shop.OwnScheduler' is no subclass of {SCHEDULER}, on which ",
    ),
    (
        {"DOWNLOADER": "scrapy.core.downloader.Downloader"},
        "DOWNLOADER: 'scrapy.core.downloader.Downloader' is no subclass of crawlproject.politeness",
    ),
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
    ({"POLITENESS_ROBOTS_ATTEMPTS": 3}, "POLITENESS_ROBOTS_ATTEMPTS: there is no such setting"),
    (
        {"SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.LifoQueue"},
        "SCHEDULER_QUEUE_CLASS: 'scrapy_redis.queue.LifoQueue' is not used: the frontier orders",
    ),
    (
        {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"},
        "DUPEFILTER_CLASS: scrapy.dupefilters.BaseDupeFilter can't switch the filter off, as the",
    ),
]
OWN_SCHEDULER = """

from scrapy.core.scheduler import Scheduler


class OwnScheduler(Scheduler):
    pass
"""


@pytest.mark.parametrize(("settings", "problem"), REFUSED)
def test_a_configuration_that_can_not_work_is_refused_with_one_line_and_sends_nothing(
    site: SiteFactory, project: StockProject, settings: dict[str, Any], problem: str
) -> None:
    server = site({"pages": {"/": {}}})
    project.write(PLAIN_SPIDER + OWN_SCHEDULER, **{"ADDONS": ADDONS, **settings})
    log = ended(project.start("-a", f"site={server.url()}"), exit_code=1)
    problems = [line for line in log.splitlines() if "ERROR:" in line]
    assert len(problems) == 1
    assert problem in problems[0]
    assert "Traceback" not in log
    assert server.log() == []


@pytest.mark.parametrize(
    "scheduler", [SCHEDULER, "scrapy.core.scheduler.Scheduler", "shop.spiders.shop.OwnFrontier"]
)
def test_the_add_on_takes_the_place_of_usual_schedulers_and_keeps_subclasses_of_ours(
    site: SiteFactory, project: StockProject, scheduler: str
) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    own = f"\n\nfrom {SCHEDULER.rpartition('.')[0]} import FrontierScheduler\n\n\n"
    own += "class OwnFrontier(FrontierScheduler):\n    pass\n"
    project.write(PLAIN_SPIDER + own, ADDONS=ADDONS, SCHEDULER=scheduler, **QUICK)
    log = project.crawl("-a", f"site={server.url()}")
    assert server.paths() == ["/", "/a"]
    is_replaced = scheduler.startswith("scrapy.")
    assert (f"{SCHEDULER} takes the place of {scheduler}" in log) is is_replaced
