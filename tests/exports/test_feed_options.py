"""FEEDS, with the options that Scrapy documents: what the files hold."""

from __future__ import annotations

import csv
import gzip
import json
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawling import scrapy

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CODE = """
from crawlproject.items import Page
from crawlproject.spiders.site import SiteSpider


class NoErrors:
    '''As Scrapy documents it: feed options in, accepts() out, and nothing else.'''

    def __init__(self, feed_options):
        self.feed_options = feed_options

    def accepts(self, item):
        return getattr(item, "error", None) is None


class Spider(SiteSpider):
    name = "noted"

    def parse_start_url(self, response):
        yield {"note": response.url}


def params(params, spider):
    return {**params, "who": "me"}
"""
SITE = {
    "pages": {
        "/": {"title": "Home", "links": ["/a", "/b", "/c", "/gone"]},
        **{f"/{name}": {"title": name.upper()} for name in "abc"},
    }
}
PAGES = ["/", "/a", "/b", "/c", "/gone"]


@pytest.fixture
def crawl(site: SiteFactory, tmp_path: Path) -> Callable[..., Site]:
    (tmp_path / "acme.py").write_text(CODE)
    server = site(SITE)

    def run(feeds: dict[str, Any], *options: str) -> Site:
        result = command(server, tmp_path, feeds, *options)
        assert result.returncode == 0, result.stderr
        assert "Traceback" not in result.stderr
        return server

    return run


def command(
    server: Site, folder: Path, feeds: dict[str, Any], *options: str
) -> subprocess.CompletedProcess[str]:
    return scrapy(
        *("crawl", "noted", "-a", f"seed={server.url()}", "-a", "sitemaps=never"),
        *("-s", "SPIDER_MODULES=acme", "-s", f"FEEDS={json.dumps(feeds)}", *options),
        cwd=folder,
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_several_feeds_at_once_each_with_its_own_options(
    crawl: Callable[..., Site], tmp_path: Path
) -> None:
    server = crawl(
        {
            "all.json": {"format": "json"},
            "fine.json": {"format": "json", "item_filter": "acme.NoErrors"},
            "fine.jsonl": {"format": "jsonlines", "item_filter": "acme.NoErrors"},
            "pages.jsonl": {"format": "jsonl", "item_classes": ["crawlproject.items.Page"]},
            "short.csv": {
                "format": "csv",
                "fields": {"url": "address", "title": "name"},
                "item_classes": ["crawlproject.items.Page"],
            },
            "two.jsonl": {"format": "jsonl", "fields": ["title", "url"]},
        },
    )
    every = [server.url(path) for path in PAGES]
    document = json.loads((tmp_path / "all.json").read_text())
    assert [page["url"] for page in document["pages"]] == every
    assert len(document["items"]) == 5
    fine = json.loads((tmp_path / "fine.json").read_text())
    assert [page["url"] for page in fine["pages"]] == every[:-1]
    assert len(lines(tmp_path / "fine.jsonl")) == 4 + 5
    assert sorted(page["url"] for page in lines(tmp_path / "pages.jsonl")) == every
    with (tmp_path / "short.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [tuple(row) for row in rows] == [("address", "name")] * 5
    assert [row["address"] for row in rows] == every
    assert {"title": "A", "url": server.url("/a")} in lines(tmp_path / "two.jsonl")


@pytest.mark.parametrize("format_", ["json", "jsonl", "csv"])
def test_batches(crawl: Callable[..., Site], tmp_path: Path, format_: str) -> None:
    server = crawl(
        {
            f"%(batch_id)d.{format_}": {
                "format": format_,
                "batch_item_count": 2,
                "item_classes": ["crawlproject.items.Page"],
            }
        }
    )
    found: list[list[str]] = []
    for number in (1, 2, 3):
        path = tmp_path / f"{number}.{format_}"
        if format_ == "json":
            pages = json.loads(path.read_text())["pages"]
        elif format_ == "jsonl":
            pages = lines(path)
        else:
            pages = list(csv.DictReader(path.read_text().splitlines()))
        found.append([page["url"] for page in pages])
    assert [len(batch) for batch in found] == [2, 2, 1]
    assert sorted(chain.from_iterable(found)) == [server.url(path) for path in PAGES]
    assert not (tmp_path / f"4.{format_}").exists()


def test_batches_by_the_setting(crawl: Callable[..., Site], tmp_path: Path) -> None:
    crawl({"%(batch_id)02d.jsonl": {"format": "jsonl"}}, "-s", "FEED_EXPORT_BATCH_ITEM_COUNT=4")
    assert [len(lines(tmp_path / f"0{n}.jsonl")) for n in (1, 2, 3)] == [4, 4, 2]


def test_postprocessing_uri_params_indent_and_exporter_arguments(
    crawl: Callable[..., Site], tmp_path: Path
) -> None:
    gzip_plugin = "scrapy.extensions.postprocessing.GzipPlugin"
    server = crawl(
        {
            "p.json.gz": {"format": "json", "postprocessing": [gzip_plugin], "gzip_mtime": 0},
            "p.jsonl.gz": {"format": "jsonl", "postprocessing": [gzip_plugin]},
            "%(who)s-%(name)s.jsonl": {"format": "jsonl", "uri_params": "acme.params"},
            "indented.json": {"format": "json", "indent": 2},
            "plain.json": {"format": "json"},
            "tab.csv": {"format": "csv", "item_export_kwargs": {"delimiter": "\t"}},
        }
    )
    with gzip.open(tmp_path / "p.json.gz") as file:
        assert file.read() == (tmp_path / "plain.json").read_bytes()
    with gzip.open(tmp_path / "p.jsonl.gz", "rt") as text:
        assert len(list(text)) == 10
    assert len(lines(tmp_path / "me-noted.jsonl")) == 10
    indented = (tmp_path / "indented.json").read_text()
    assert '\n    {\n      "url": ' in indented
    assert json.loads(indented) == json.loads((tmp_path / "plain.json").read_text())
    assert f"\n{server.url('/a')}\t200\t" in (tmp_path / "tab.csv").read_text()


def test_options_of_csv_as_in_scrapys_exporter(crawl: Callable[..., Site], tmp_path: Path) -> None:
    kwargs = {"include_headers_line": False, "join_multivalued": "|"}
    options = {"format": "csv", "fields": ["status_code", "links"], "item_export_kwargs": kwargs}
    server = crawl({"a.csv": options})
    links = [server.url(path) for path in PAGES[1:]]
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == f"200,{'|'.join(links)}"


def test_scrapys_exporter_of_a_format_takes_its_own_options(
    crawl: Callable[..., Site], tmp_path: Path
) -> None:
    kwargs = {"root_element": "shop", "item_element": "product"}
    feeds = {"a.xml": {"format": "xml", "item_export_kwargs": kwargs}}
    scrapys = {"xml": "scrapy.exporters.XmlItemExporter"}
    crawl(feeds, "-s", f"FEED_EXPORTERS={json.dumps(scrapys)}")
    text = (tmp_path / "a.xml").read_text()
    assert "<shop>" in text
    assert text.count("<product>") == 10


def test_overwrite_and_append(crawl: Callable[..., Site], tmp_path: Path) -> None:
    feeds = {
        "new.jsonl": {"format": "jsonl", "overwrite": True},
        "more.jsonl": {"format": "jsonl", "overwrite": False},
    }
    for _ in range(2):
        crawl(feeds)
    assert len(lines(tmp_path / "new.jsonl")) == 10
    assert len(lines(tmp_path / "more.jsonl")) == 20


def test_empty_outputs_are_stored_unless_told_not_to(
    crawl: Callable[..., Site], tmp_path: Path
) -> None:
    nothing = {"item_classes": ["scrapy.Item"]}
    crawl(
        {
            "stored.jsonl": {"format": "jsonl", **nothing},
            "not.jsonl": {"format": "jsonl", "store_empty": False, **nothing},
            "not.json": {"format": "json", "store_empty": False, **nothing},
        }
    )
    assert (tmp_path / "stored.jsonl").read_bytes() == b""
    assert not (tmp_path / "not.jsonl").exists()
    assert not (tmp_path / "not.json").exists()


@pytest.mark.parametrize(
    ("uri", "options", "message"),
    [
        ("a.json", {"batch_item_count": 2}, "each batch is a file of its own: put %(batch_id)d or"),
        ("a.json", {"batch_item_count": "x"}, "batch_item_count: 'x' is not a whole number of 0"),
        ("a.json", {"item_filter": "acme.Nope"}, "item_filter: can't load 'acme.Nope': "),
        ("a.json", {"item_classes": ["acme.Nope"]}, "item_classes: can't load 'acme.Nope': "),
        ("a.json", {"uri_params": "acme.nope"}, "uri_params: can't load 'acme.nope': "),
        ("a.json", {"postprocessing": ["x.Y"]}, "postprocessing: can't load 'x.Y': "),
        ("a.json", {"fields": 3}, "fields: 3 is not a list of names"),
        (
            "a.json",
            {"item_export_kwargs": {"sort": 1}},
            "item_export_kwargs: Unexpected opt",
        ),
        (
            "a.json",
            {"item_export_kwargs": {"sort_keys": True}},
            "item_export_kwargs: 'sort_keys' is an option of Scrapy's exporter: to have that one, "
            "set FEED_EXPORTERS to {'json': 'scrapy.exporters.JsonItemExporter'}",
        ),
        (
            "a.xml",
            {"item_export_kwargs": {"root_element": "shop", "item_element": "product"}},
            "item_export_kwargs: 'root_element' is an option of Scrapy's exporter: to have that one"
            ", set FEED_EXPORTERS to {'xml': 'scrapy.exporters.XmlItemExporter'}",
        ),
        (
            "a.jsonl",
            {"item_export_kwargs": {"export_empty_fields": True}},
            "item_export_kwargs: 'export_empty_fields' is an option of Scrapy's exporter: to have",
        ),
        ("a.csv", {"item_export_kwargs": {"delimiter": ";;"}}, 'item_export_kwargs: "delimiter" '),
        (
            "a.csv",
            {"item_export_kwargs": {"encoding": "latin-1"}},
            "item_export_kwargs: give encoding as the option 'encoding' of the output",
        ),
        (
            "a.xml",
            {"fields": ["url"]},
            "a sitemap has fields of its own: leave out fields, or na",
        ),
        ("a.json", {"item_filters": "x"}, "unknown option 'item_filters'; did you mean 'item_filt"),
        ("a.warc.gz", {"item_filter": "acme.NoErrors"}, "a WARC holds all pages: leave out item_f"),
        ("a.html", {"fields": ["url"]}, "a report tells of all pages: leave out fields"),
    ],
)
def test_what_can_not_be_done_is_refused_in_one_line(
    site: SiteFactory, tmp_path: Path, uri: str, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "acme.py").write_text(CODE)
    server = site(SITE)
    format_ = uri.partition(".")[2]
    result = command(server, tmp_path, {uri: {"format": format_, **options}})
    assert result.returncode == 2
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(f"scrapy crawl: error: can't write {uri!r}: {message}")
    assert server.log() == []
