"""What settings name is checked before a crawl is set up: classes, functions, folders, formats."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider

from crawlproject.commands.checks import check_set_up, check_set_up_of
from crawlproject.commands.components import check_components, check_password
from crawlproject.errors import BadArgument
from tests.crawling import project_settings, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

NO_MODULE = "can't load 'no.x': No module named 'no'"
CACHED = {"HTTPCACHE_ENABLED": True}
REFERRED = {"REFERER_ENABLED": True}
FILES = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}}

# No folder can be made in it, not even by root.
NOWHERE = "/proc/nowhere"


class Mine:
    """A component of any kind."""


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"FEED_URI_PARAMS": "no.x"}, f"FEED_URI_PARAMS: {NO_MODULE}"),
        ({"DOWNLOAD_HANDLERS": {"http": "no.x"}}, f"DOWNLOAD_HANDLERS: {NO_MODULE}"),
        ({"DOWNLOAD_HANDLERS_BASE": {"ftp": "no.x"}}, f"DOWNLOAD_HANDLERS_BASE: {NO_MODULE}"),
        ({"FEED_STORAGES": {"a": "no.x"}, "FEEDS": {"a.jl": {}}}, f"FEED_STORAGES: {NO_MODULE}"),
        ({"FEED_EXPORTERS": {"a": "no.x"}, "FEEDS": {"a.jl": {}}}, f"FEED_EXPORTERS: {NO_MODULE}"),
        ({"EXTENSIONS": {"no.x": 1}}, f"EXTENSIONS: {NO_MODULE}"),
        ({"EXTENSIONS": {"no.x": None}}, f"EXTENSIONS: {NO_MODULE}"),
        ({"EXTENSIONS_BASE": {"no.x": 1}}, f"EXTENSIONS_BASE: {NO_MODULE}"),
        ({"SPIDER_CONTRACTS": {"no.x": 1}}, f"SPIDER_CONTRACTS: {NO_MODULE}"),
        ({"ITEM_PIPELINES": {"os.path": 1}}, "ITEM_PIPELINES: 'os.path' is not a class"),
        ({"ITEM_PIPELINES": {Mine: "x"}}, "ITEM_PIPELINES: the order of "),
        ({"DUPEFILTER_CLASS": "scrapy.Item"}, "DUPEFILTER_CLASS: 'scrapy.Item' has no method requ"),
        ({"STATS_CLASS": "os.path"}, "STATS_CLASS: 'os.path' is not a class"),
        ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, "SCHEDULER: 'scrapy.core.scheduler."),
        ({"DOWNLOADER": "scrapy.core.downloader.Downloader"}, "DOWNLOADER: 'scrapy.core.downl"),
        ({"RETRY_EXCEPTIONS": ["os.path"]}, "RETRY_EXCEPTIONS: 'os.path' is not an exception"),
        ({**CACHED, "HTTPCACHE_POLICY": "no.x"}, f"HTTPCACHE_POLICY: {NO_MODULE}"),
        ({**CACHED, "HTTPCACHE_STORAGE": "scrapy.Item"}, "HTTPCACHE_STORAGE: 'scrapy.Item' has no"),
        ({**CACHED, "HTTPCACHE_DBM_MODULE": "no"}, "HTTPCACHE_DBM_MODULE: can't load 'no': No mo"),
        ({**CACHED, "HTTPCACHE_DIR": NOWHERE}, f"HTTPCACHE_DIR: can't write '{NOWHERE}': "),
        ({**REFERRED, "REFERRER_POLICY": "no"}, "REFERRER_POLICY: 'no' is not a policy such as "),
        ({**REFERRED, "REFERRER_POLICY": "no.x"}, "REFERRER_POLICY: 'no.x' is not a policy such "),
        ({**REFERRED, "REFERRER_POLICY": "os.path"}, "REFERRER_POLICY: 'os.path' is not a poli"),
        ({**REFERRED, "REFERRER_POLICIES": {"a": "no.x"}}, f"REFERRER_POLICIES: {NO_MODULE}"),
        ({**REFERRED, "REFERRER_POLICIES": {"a": None}}, "REFERRER_POLICIES: there is no policy"),
        ({**FILES, "FILES_STORE": "xx://x"}, "FILES_STORE: 'xx://x' is not a folder, or a URI of"),
        ({**FILES, "FILES_STORE": NOWHERE}, f"FILES_STORE: can't write '{NOWHERE}': "),
        ({**FILES, "FILES_STORE": f"file://{NOWHERE}"}, f"FILES_STORE: can't write '{NOWHERE}': "),
        ({**FILES, "FILES_STORE": "gs://b/x"}, "FILES_STORE: 'gs://b/x' needs the package google"),
        ({"DOWNLOAD_TLS_MIN_VERSION": "TLS9"}, "DOWNLOAD_TLS_MIN_VERSION: 'TLS9' is not one of"),
        (
            {"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.3", "DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"},
            "DOWNLOAD_TLS_MIN_VERSION: TLSv1.3 is more than DOWNLOAD_TLS_MAX_VERSION=TLSv1.2",
        ),
        ({"DOWNLOADER_CLIENT_TLS_CIPHERS": "no"}, "DOWNLOADER_CLIENT_TLS_CIPHERS: OpenSSL knows"),
        ({"DOWNLOAD_BIND_ADDRESS": "192.0.2.1"}, "DOWNLOAD_BIND_ADDRESS: '192.0.2.1' is not an "),
        (
            {"TELNETCONSOLE_ENABLED": True, "TELNETCONSOLE_HOST": "192.0.2.1"},
            "TELNETCONSOLE_HOST: '192.0.2.1' is not an address of this machine",
        ),
        (
            {"REMOTE_CONTROL_ENABLED": True, "REMOTE_CONTROL_JOBS_DIR": NOWHERE},
            "REMOTE_CONTROL_JOBS_DIR: can't write",
        ),
    ],
)
def test_what_can_not_be_used_is_named(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadArgument) as caught:
        check_components(project_settings(settings))
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"HTTPCACHE_POLICY": "no.x", "REFERRER_POLICY": "no", "FILES_STORE": NOWHERE},
        {"TELNETCONSOLE_HOST": "192.0.2.1", "REMOTE_CONTROL_JOBS_DIR": NOWHERE},
        {"FEED_EXPORTERS": {"a": "no.x"}},
        {**REFERRED, "REFERRER_POLICY": "same-origin", "REFERRER_POLICIES": {"origin": None}},
        {"DOWNLOAD_HANDLERS": {"ftp": None}, "EXTENSIONS": {Mine: None}},
        {"DOWNLOAD_BIND_ADDRESS": ("127.0.0.1", 0)},
        {"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.2", "DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"},
    ],
)
def test_what_can_be_used_or_is_off_is_no_error(settings: dict[str, Any]) -> None:
    check_components(project_settings(settings))


def test_a_check_leaves_no_folder_behind(tmp_path: Path) -> None:
    folder = tmp_path / "files/of/pages"
    check_components(project_settings({**FILES, "FILES_STORE": str(folder)}))
    assert list(tmp_path.iterdir()) == []
    folder.mkdir(parents=True)
    check_components(project_settings({**FILES, "FILES_STORE": str(folder)}))
    assert folder.is_dir()


def test_what_is_off_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache_of_mine.py").write_text("class Storage:\n    retrieve_response = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    storage = {"HTTPCACHE_STORAGE": "cache_of_mine.Storage"}
    check_components(project_settings(storage))
    assert "cache_of_mine" not in sys.modules
    check_components(project_settings({**CACHED, **storage}))
    assert "cache_of_mine" in sys.modules


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"ADDONS": {"no.x": 1}}, f"ADDONS: {NO_MODULE}"),
        ({"ADDONS": {Mine: "x"}}, "ADDONS: the order of "),
        ({"LOG_LEVEL": "NO"}, "LOG_LEVEL: 'NO' is not DEBUG"),
        ({"LOG_FORMAT": "%(nope)s"}, r"LOG_FORMAT: '%(nope)s' is not a format such as "),
        ({"LOG_FORMAT": "%(levelname)d"}, "LOG_FORMAT: '%(levelname)d' is not a format"),
        ({"LOG_FORMAT": "plain"}, "LOG_FORMAT: 'plain' is not a format such as "),
        ({"SPIDER_LOADER_CLASS": "scrapy.Item"}, "SPIDER_LOADER_CLASS: 'scrapy.Item' has no met"),
        ({"TWISTED_REACTOR": "scrapy.Item"}, "TWISTED_REACTOR: 'scrapy.Item' has no method"),
        ({"ASYNCIO_EVENT_LOOP": "scrapy.Item"}, "ASYNCIO_EVENT_LOOP: 'scrapy.Item' has no method"),
    ],
)
def test_so_is_what_scrapy_needs_before_there_is_a_spider(
    settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadArgument) as caught:
        check_set_up(project_settings(settings))
    assert str(caught.value).startswith(problem)

    class OwnSpider(Spider):
        name = "own"
        custom_settings = settings

    with pytest.raises(BadArgument) as caught:
        check_set_up_of(OwnSpider, project_settings({}))
    assert str(caught.value).startswith(problem)


def test_a_switch_of_a_spider_is_true_or_false() -> None:
    class OwnSpider(Spider):
        name = "own"
        custom_settings = {"LOG_STDOUT": "maybe"}  # noqa: RUF012

    with pytest.raises(BadArgument, match=r"^LOG_STDOUT: 'maybe' is not True or False"):
        check_set_up_of(OwnSpider, project_settings({}))


def test_components_of_a_spider_are_an_object() -> None:
    class OwnSpider(Spider):
        name = "own"
        custom_settings = {"EXTENSIONS": "x"}  # noqa: RUF012

    with pytest.raises(BadArgument, match=r"^EXTENSIONS: 'x' is not a JSON object such as"):
        check_set_up_of(OwnSpider, project_settings({}))


@pytest.mark.parametrize("name", ["HTTPAUTH_USER", "HTTPAUTH_PASS"])
def test_a_password_has_a_domain(name: str) -> None:
    with pytest.raises(BadArgument, match=r"^HTTPAUTH_DOMAIN: missing: which host gets"):
        check_password(project_settings({name: "me"}))
    check_password(project_settings({name: "me", "HTTPAUTH_DOMAIN": "a.example"}))
    # Scrapy's word for all hosts.
    check_password(project_settings({name: "me", "HTTPAUTH_DOMAIN": None}))
    check_password(project_settings({}))


SPIDER = """
import scrapy


class Own(scrapy.Spider):
    name = "own"
    start_urls = ["{url}"]
    {settings}

    def parse(self, response):
        yield {{"url": response.url}}
"""
BY_METHOD = """
    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.setdict({settings!r}, "spider")
"""
OWN: list[tuple[dict[str, Any], str]] = [
    ({"SPIDER_MIDDLEWARES": {"no.x": 1}}, f"SPIDER_MIDDLEWARES: {NO_MODULE}"),
    ({"LOG_LEVEL": "info"}, "LOG_LEVEL: 'info' of a spider is written 'INFO'"),
    ({"LOG_LEVEL": "NOPE"}, "LOG_LEVEL: 'NOPE' is not DEBUG, INFO, WARNING, ERROR or CRITICAL"),
    (
        {"SCHEDULER": "scrapy.core.scheduler.Scheduler"},
        "SCHEDULER: 'scrapy.core.scheduler.Scheduler' is no subclass of "
        "crawlproject.frontier.scheduler.FrontierScheduler, on which delays and robots.txt "
        "depend: leave it out",
    ),
]


@pytest.mark.parametrize("place", ["custom_settings = {settings!r}", BY_METHOD], ids=["a", "b"])
@pytest.mark.parametrize("command", ["crawl", "runspider", "fetch"])
@pytest.mark.parametrize(("settings", "problem"), OWN)
def test_settings_of_a_spider_are_checked_as_those_of_the_command(
    site: SiteFactory,
    tmp_path: Path,
    settings: dict[str, Any],
    problem: str,
    command: str,
    place: str,
) -> None:
    server = site({"pages": {"/": {}}})
    text = SPIDER.format(url=server.url(), settings=place.format(settings=settings))
    (tmp_path / "own.py").write_text(text)
    words = {
        "crawl": ["own", "-s", "SPIDER_MODULES=own"],
        "runspider": ["own.py"],
        "fetch": [server.url(), "--spider=own", "-s", "SPIDER_MODULES=own"],
    }
    done = scrapy(command, *words[command], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"scrapy {command}: error: {problem}\n"
    assert server.log() == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ["-s", "DOWNLOADER=scrapy.core.downloader.Downloader"],
            "DOWNLOADER: 'scrapy.core.downloader.Downloader' is no subclass of "
            "crawlproject.politeness.downloader.GatedDownloader, on which delays and robots.txt "
            "depend: leave it out",
        ),
        (["-s", "FEED_URI_PARAMS=no.x", "-O", "y.jl"], f"FEED_URI_PARAMS: {NO_MODULE}"),
        (["-s", f"ADDONS={json.dumps({'no.x': 1})}"], f"ADDONS: {NO_MODULE}"),
        (
            ["-s", "HTTPAUTH_USER=me"],
            "HTTPAUTH_DOMAIN: missing: which host gets HTTPAUTH_USER and HTTPAUTH_PASS? Set it to "
            "a domain such as staging.example, or an origin such as https://staging.example:8443",
        ),
        (["-O", "gs://b/x.jl"], "can't write 'gs://b/x.jl': missing google-cloud-storage library"),
        (["-O", "gs:///x.jl"], "can't write 'gs:///x.jl': it names no bucket"),
        (
            ["-O", "ftp://a.example/x.jl", "-s", "FEED_TEMPDIR=missing"],
            "FEED_TEMPDIR: 'missing' is not a folder that is there",
        ),
    ],
)
def test_a_plain_spider_gets_one_line_before_anything_is_fetched(
    site: SiteFactory, tmp_path: Path, options: list[str], problem: str
) -> None:
    server = site({"pages": {"/": {}}})
    (tmp_path / "own.py").write_text(SPIDER.format(url=server.url(), settings=""))
    done = scrapy("crawl", "own", "-s", "SPIDER_MODULES=own", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"scrapy crawl: error: {problem}\n"
    assert server.log() == []
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ""] == ["own.py"]
