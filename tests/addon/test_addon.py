"""Another project's own spider, by Scrapy's own command: polite, and nothing is lost."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name
from scrapy.utils.test import get_crawler

from crawlproject.addon import GIVEN_SETTINGS, REPLACED_COMPONENTS, Addon
from crawlproject.monitoring.snapshot import Phase, read_snapshot
from tests.crawling import PROJECT
from tests.forking import Forked
from tests.killing import kill
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.1
HANDLER = "crawlproject.fetching.handler.HttpDownloadHandler"
SCRAPYS_HANDLER = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"

SETTINGS = """
BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ADDONS = {"crawlproject.Addon": 100}
LOG_LEVEL = "INFO"
"""
ITEMS = """
from datetime import date

from scrapy import Field, Item


def money(value):
    return f"$ {value}"


class Product(Item):
    name = Field()
    price = Field(serializer=money)
    seen = Field()
    note = Field()
"""
SPIDER = """
from datetime import date

from scrapy import Spider

from shop.items import Product


class Shop(Spider):
    name = "shop"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]
        self.allowed_domains = ["127.0.0.1"]

    def parse(self, response):
        yield Product(name=response.url.rpartition("/")[2], price=3, seen=date(2026, 1, 2))
        yield from response.follow_all(css="a")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that knows nothing of ours but the name of the add-on."""
    files = {
        "scrapy.cfg": "[settings]\ndefault = shop.settings\n",
        "shop/__init__.py": "",
        "shop/settings.py": SETTINGS,
        "shop/items.py": ITEMS,
        "shop/spiders/__init__.py": "",
        "shop/spiders/shop.py": SPIDER,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def start(project: Path, server: Site, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "crawl", "shop", "-a", f"site={server.url()}"]
    # The tests' own add no settings: ours must come by the add-on alone.
    environment = {"PYTHONPATH": str(PROJECT), "PATH": "/usr/bin:/bin"}
    return Forked(
        [*command, *options],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def crawl(project: Path, server: Site, *options: str) -> str:
    """Its log."""
    process = start(project, server, *options)
    try:
        _, errors = process.communicate(timeout=60)
    except BaseException:
        kill(process)
        raise
    assert process.returncode == 0, errors
    assert not {"ERROR:", "CRITICAL:"} & set(errors.split()), errors
    return errors


QUICK = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=False")
ROBOTS = "User-agent: *\nDisallow: /private\n"


def test_a_plain_spider_is_polite_by_the_add_on_alone(site: SiteFactory, project: Path) -> None:
    server = site(
        {
            "robots": ROBOTS,
            "pages": {
                "/": {"links": ["/a", "/b", "/a?utm_source=x", "/private/x", "/old", "/gone"]},
                "/a": {"links": ["/", "/b"], "delay": 0.05},
                "/b": {"links": ["/a#top"]},
                "/old": {"redirect": "/new"},
                "/new": {"links": ["http://127.0.0.2:{port}/offsite"]},
                "/gone": {"status": 404},
            },
        }
    )
    crawl(project, server, "-O", "items.json", "-s", f"DOWNLOAD_DELAY={DELAY}")
    # robots.txt first, each URL once, a redirect followed, nothing forbidden, nothing offsite.
    asked = [entry["path"] for entry in server.log()]
    assert asked[0] == "/robots.txt"
    assert sorted(asked[1:]) == ["/", "/a", "/b", "/gone", "/new", "/old"]
    # From the end of each to the start of the next.
    assert server.max_in_flight() == 1
    assert min(server.gaps()) >= DELAY
    # As Scrapy writes it: a list of items.
    items = json.loads((project / "items.json").read_text())
    assert sorted(item["name"] for item in items) == ["", "a", "b", "new"]
    assert {item["price"] for item in items} == {"$ 3"}


def test_what_a_project_expects_of_scrapy_is_as_it_was(site: SiteFactory, project: Path) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/a"], "headers": {"Set-Cookie": "basket=7; Path=/"}},
                "/a": {},
            }
        }
    )
    crawl(project, server, *QUICK, "-O", "items.csv")
    headers = server.log()[-1]["headers"]
    assert server.paths() == ["/", "/a"]
    assert headers["cookie"] == "basket=7"
    assert headers["referer"] == server.url()
    assert headers["user-agent"].startswith("Scrapy/")
    with (project / "items.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [["name", "price", "seen", "note"]] * 2


def test_the_settings_of_the_project_win(site: SiteFactory, project: Path) -> None:
    (project / "shop" / "signed.py").write_text(
        "class Signed:\n"
        "    def process_request(self, request):\n"
        "        request.headers['X-Signed'] = 'yes'\n"
    )
    with (project / "shop" / "settings.py").open("a") as file:
        file.write(
            "COOKIES_ENABLED = False\n"
            "ROBOTSTXT_OBEY = False\n"
            "REDIRECT_ENABLED = False\n"
            "DOWNLOAD_DELAY = 0\n"
            "AUTOTHROTTLE_ENABLED = False\n"
            "DOWNLOADER_MIDDLEWARES = {'shop.signed.Signed': 500}\n"
        )
    server = site(
        {
            "robots": ROBOTS,
            "pages": {
                "/": {"links": ["/private/x", "/old"], "headers": {"Set-Cookie": "basket=7"}},
                "/private/x": {},
                "/old": {"redirect": "/new"},
            },
        }
    )
    crawl(project, server)
    assert sorted(server.paths()) == ["/", "/old", "/private/x"]
    assert {entry["headers"].get("x-signed") for entry in server.log()} == {"yes"}
    assert {entry["headers"].get("cookie") for entry in server.log()} == {None}


def test_the_add_on_changes_the_settings_that_it_names_and_no_others() -> None:
    crawler = get_crawler(settings_dict={"ADDONS": {Addon: 100}})
    changed = {
        name
        for name in dir(default_settings)
        if name.isupper() and crawler.settings[name] != Settings()[name]
    }
    components = {"DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES"}
    # The fast path exchanges the stats collector, unless it is switched off.
    assert changed - {"STATS_CLASS"} <= GIVEN_SETTINGS | components | {
        "ADDONS",
        "DOWNLOAD_HANDLERS",
    }
    for name in components:
        before = Settings().get_component_priority_dict_with_base(name)
        after = crawler.settings.get_component_priority_dict_with_base(name)
        gone = {load_object(one) for one in before} - {load_object(one) for one in after}
        assert {global_object_name(one) for one in gone} <= REPLACED_COMPONENTS


def names(items: list[dict[str, Any]]) -> list[str]:
    return sorted(item["name"] for item in items)


@pytest.mark.parametrize("output", ["items.json", "items.jsonl"])
def test_killed_at_any_time_it_goes_on_and_its_items_are_complete(
    site: SiteFactory, project: Path, output: str
) -> None:
    pages: dict[str, Any] = {f"/{number}": {"links": ["/", "/old"]} for number in range(40)}
    # A start request leads to another page, and is no page itself: it is not to be filtered.
    pages |= {"/": {"redirect": "/home"}, "/home": {"links": list(pages)}}
    pages |= {"/old": {"redirect": "/new"}, "/new": {}}
    server = site({"pages": pages, "random_delay": [0.0, 0.02]})
    options = ("-O", output, "-s", "JOBDIR=job", *QUICK, "-s", "FRONTIER_COMMIT_SECONDS=0.01")
    kills = (3, 12, 25)
    for count in kills:
        process = start(project, server, *options)
        wait_for(lambda count=count: len(server.paths()) >= count)  # type: ignore[misc]
        kill(process)
    crawl(project, server, *options)
    text = (project / output).read_text()
    items = json.loads(text) if output == "items.json" else list(map(json.loads, text.splitlines()))
    assert names(items) == sorted(["home", "new", *map(str, range(40))])
    # In one form, whichever run has made them.
    assert {(item["price"], item["seen"]) for item in items} == {("$ 3", "2026-01-02")}
    # Only what was under way at a kill, or not yet committed, was asked for again.
    asked = Counter(server.paths())
    assert set(asked) == set(pages)
    assert sum(asked.values()) <= len(pages) + len(kills) * (16 + 100)
    assert max(asked.values()) <= 1 + len(kills)
    # A finished crawl asks nothing, and writes the same again.
    before = server.paths()
    crawl(project, server, *options)
    assert server.paths() == before
    again = (project / output).read_text()
    assert sorted(again.split("\n")) == sorted(text.split("\n")) or json.loads(again) == items


def test_killed_at_any_time_files_that_are_appended_to_have_every_item(
    site: SiteFactory, project: Path
) -> None:
    links = [f"/{number}" for number in range(40)]
    server = site({"pages": {"/": {"links": links}}, "default": {}})
    outputs = ("-o", "items.jsonl", "-o", "items.csv")
    options = (*outputs, "-s", "JOBDIR=job", *QUICK, "-s", "FRONTIER_COMMIT_SECONDS=0.01")
    for count in (10, 25):
        process = start(project, server, *options)
        wait_for(lambda count=count: len(server.paths()) >= count)  # type: ignore[misc]
        kill(process)
    crawl(project, server, *options)
    lines = map(json.loads, (project / "items.jsonl").read_text().splitlines())
    assert {item["name"] for item in lines} == {"", *map(str, range(40))}
    rows = {line.partition(",")[0] for line in (project / "items.csv").read_text().splitlines()}
    # Each run begins with the names of the columns, as with Scrapy.
    assert rows - {"name"} == {"", *map(str, range(40))}


def test_a_crawl_directory_that_can_not_be_used_is_one_line_and_costs_no_output(
    site: SiteFactory, project: Path
) -> None:
    server = site({"pages": {"/": {}}})
    (project / "items.json").write_text("of yesterday")
    (project / "job").mkdir()
    (project / "job" / "crawl.db").write_text("no database")
    process = start(project, server, "-O", "items.json", "-s", "JOBDIR=job")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    problems = [line for line in errors.splitlines() if "ERROR:" in line]
    assert len(problems) == 1
    assert "The crawl directory can't be used: " in problems[0]
    assert "crawl.db" in problems[0]
    assert "Traceback" not in errors
    assert server.log() == []
    assert (project / "items.json").read_text() == "of yesterday"


@pytest.mark.parametrize("add_on", [True, False])
def test_a_spider_that_needs_all_our_settings_is_one_line_and_costs_no_output(
    site: SiteFactory, project: Path, add_on: bool
) -> None:
    server = site({"pages": {"/": {}}})
    (project / "items.json").write_text("of yesterday")
    (project / "shop/spiders/shop.py").write_text(
        "from crawlproject.spiders.site import SiteSpider\n\n\n"
        "class Shop(SiteSpider):\n    name = 'shop'\n"
    )
    options = ("-a", f"seed={server.url()}", "-O", "items.json")
    off = () if add_on else ("-s", "ADDONS={}")
    process = start(project, server, *options, *off)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    (problem,) = [line for line in errors.splitlines() if "ERROR:" in line]
    assert problem.endswith(
        "Shop is a SiteSpider, which needs all settings of crawlproject: begin your settings with "
        "`from crawlproject.settings import *`, without crawlproject.Addon"
    )
    assert "Traceback" not in errors
    assert server.log() == []
    assert (project / "items.json").read_text() == "of yesterday"


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("POLITENESS_HOST=domains", "POLITENESS_HOST: 'domains' is not one of hostname, domain"),
        (
            'POLITENESS_HOSTS={"127.0.0.1": {"dealy": 2}}',
            "POLITENESS_HOSTS: 'dealy' for 127.0.0.1 is not one of delay, concurrency, rate",
        ),
        ("POLITENESS_RATE=fast", "POLITENESS_RATE: 'fast' is not a number of requests a second"),
        # No request would ever start.
        (
            "CONCURRENT_REQUESTS_PER_DOMAIN=0",
            "CONCURRENT_REQUESTS_PER_DOMAIN: '0' is not a whole number of 1 or more",
        ),
        (
            'DOWNLOAD_SLOTS={"127.0.0.1": {"concurrency": 0}}',
            "DOWNLOAD_SLOTS: concurrency for 127.0.0.1: '0' is not a whole number of 1 or more",
        ),
    ],
)
def test_a_wrong_value_of_our_settings_is_one_line_and_costs_no_output(
    site: SiteFactory, project: Path, setting: str, problem: str
) -> None:
    server = site({"pages": {"/": {}}})
    (project / "items.json").write_text("of yesterday")
    process = start(project, server, "-O", "items.json", "-s", setting)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    (line,) = [line for line in errors.splitlines() if "ERROR:" in line]
    assert problem in line
    assert "Traceback" not in errors
    assert server.log() == []
    assert (project / "items.json").read_text() == "of yesterday"


def test_settings_of_ours_are_written_as_in_this_project() -> None:
    ours = {"POLITENESS_RATE": "2", "DUPLICATES_ENABLED": "no", "SCOPE_MAX_PAGES": "0"}
    theirs = {"REDIS_URL": "", "DOWNLOAD_TIMEOUT": 0}
    crawler = get_crawler(settings_dict={"ADDONS": {Addon: 100}, **ours, **theirs})
    assert crawler.settings["DUPLICATES_ENABLED"] is False
    assert crawler.settings["POLITENESS_RATE"] == 2
    assert {name: crawler.settings[name] for name in theirs} == theirs


@pytest.mark.parametrize("handler", [None, SCRAPYS_HANDLER])
def test_what_has_no_effect_is_said(caplog: pytest.LogCaptureFixture, handler: str | None) -> None:
    settings = {
        "ADDONS": {Addon: 100},
        "DOWNLOAD_HANDLERS": {"https": handler} if handler else {},
        # These have an effect with Scrapy's handler.
        "DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver",
        "DOWNLOADER_CLIENTCONTEXTFACTORY": "scrapy.core.downloader.contextfactory.Own",
        "RETRY_PRIORITY_ADJUST": -5,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.MarshalFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": default_settings.SCHEDULER_MEMORY_QUEUE,
    }
    get_crawler(settings_dict=settings)
    said = {line.split()[0] for line in caplog.messages if "has no effect here" in line}
    of_handlers = {"DNS_RESOLVER", "DOWNLOADER_CLIENTCONTEXTFACTORY"}
    always = {"RETRY_PRIORITY_ADJUST", "SCHEDULER_DISK_QUEUE"}
    assert said == (always if handler else always | of_handlers)


def test_what_only_a_site_spider_reads_is_said(site: SiteFactory, project: Path) -> None:
    server = site({"pages": {"/": {}}})
    given = {"SCOPE_EXCLUDE": "/x", "FETCHING_HEADERS": "X-a: b", "SCOPE_MAX_PAGES": "9"}
    log = crawl(project, server, *(f"-s{name}={value}" for name, value in given.items()))
    said = [line.split()[4] for line in log.splitlines() if "it is for a SiteSpider" in line]
    assert sorted(said) == ["FETCHING_HEADERS", "SCOPE_EXCLUDE"]


def test_our_handler_is_used_without_a_twisted_reactor(site: SiteFactory, project: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    options = ("-s", "TWISTED_REACTOR_ENABLED=False", "-O", "items.json")
    log = crawl(project, server, *QUICK, *options)
    assert names(json.loads((project / "items.json").read_text())) == ["", "a"]
    # Scrapy's for this case says so of itself.
    assert "AiohttpDownloadHandler" not in log


@pytest.mark.parametrize("name", ["DOWNLOAD_HANDLERS", "DOWNLOAD_HANDLERS_BASE"])
def test_handlers_that_the_project_names_win(name: str) -> None:
    named = {"http": SCRAPYS_HANDLER}
    crawler = get_crawler(settings_dict={"ADDONS": {Addon: 100}, name: named})
    handlers = crawler.settings.getwithbase("DOWNLOAD_HANDLERS")
    assert (handlers["http"], handlers["https"]) == (SCRAPYS_HANDLER, HANDLER)


def test_the_name_of_the_add_on_loads_no_scrapy_before_it_is_used() -> None:
    code = (
        "import sys, crawlproject\n"
        "assert 'scrapy' not in sys.modules\n"
        "assert crawlproject.Addon.__name__ == 'Addon'\n"
        "assert 'scrapy' in sys.modules\n"
        "assert not hasattr(crawlproject, 'Adon')\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True)


TEXTS = """
from scrapy import Spider


class Texts(Spider):
    name = "shop"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response):
        yield {"url": response.url, "text": response.css("p::text").get()}
        yield from response.follow_all(css="a")
"""


def test_items_that_have_a_text_are_compared_over_restarts(
    site: SiteFactory, project: Path
) -> None:
    (project / "shop/spiders/shop.py").write_text(TEXTS)
    words = [f"word{number}" for number in range(300)]

    def page(first: str, *links: str) -> dict[str, str]:
        anchors = "".join(f"<a href='{link}'>{link}</a>" for link in links)
        return {"body": f"<p>{' '.join([first, *words])}</p>{anchors}"}

    server = site({"pages": {"/": page("one", "/near"), "/near": page("two")}})
    options = ("-s", "JOBDIR=job", "-O", "items.json")
    crawl(project, server, *options, "-s", "CLOSESPIDER_PAGECOUNT=1")
    crawl(project, server, *options)
    items = json.loads((project / "items.json").read_bytes())
    marks = {item["url"]: item.get("near_duplicate_of") for item in items}
    assert marks == {server.url(): None, server.url("/near"): server.url()}


def test_who_wants_snapshots_gets_them(site: SiteFactory, project: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a", "/missing"]}, "/a": {}}})
    crawl(project, server, "-s", "MONITORING_SNAPSHOT_FILE=snapshot.json")
    snapshot = read_snapshot(project / "snapshot.json")
    assert snapshot is not None
    assert (snapshot.phase, snapshot.reason) == (Phase.ENDED, "finished")
    # Its items are no pages: its URLs are counted.
    assert (snapshot.pages, snapshot.urls["done"]) == (3, 3)
    assert snapshot.requests == len(server.log())
