"""``-O report.html``, through the feeds of a real crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.errors import BadOutput
from crawlproject.exports.outputs import check_outputs
from crawlproject.report.exporter import ReportExporter
from tests.crawling import crawl_site, project_settings
from tests.report.reading import report_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def feeds(path: Path) -> dict[str, object]:
    return {"FEEDS": {str(path): {"format": "html"}}}


@deferred_f_from_coro_f
async def test_a_small_crawl(site: SiteFactory, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(80))
    server = site(
        {
            "pages": {
                "/": {"title": "Home", "links": ["/a", "/old", "/gone", "/hidden"]},
                "/a": {"title": "Same", "body": f"<title>Same</title><p>{text}"},
                "/b": {"title": "Same", "body": f"<title>Same</title><p>{text}"},
                "/old": {"redirect": "/b"},
                "/gone": {"status": 410},
                "/hidden": {
                    "body": "<title>Hidden</title>",
                    "headers": {"X-Robots-Tag": "noindex"},
                },
            }
        }
    )
    path = tmp_path / "report.html"
    await crawl_site(server.url(), feeds(path))
    report = report_in(path.read_bytes())
    url = server.url
    assert report.pages["url"] == [url(path) for path in ("/", "/a", "/b", "/gone", "/hidden")]
    assert report.texts("broken", "sources") == [[url("/")]]
    assert report.texts("redirects", "url") == [url("/old")]
    assert report.texts("redirects", "end") == [url("/b")]
    assert report.texts("duplicates", "page") == [url("/b")]
    assert report.texts("same-title", "text") == ["Same"]
    words = report.head["page_list"]["words"]["indexable"]
    assert [words[code] for code in report.pages["indexable"]] == [
        "yes",
        "yes",
        "yes",
        "error",
        "noindex",
    ]


@deferred_f_from_coro_f
async def test_the_pages_of_all_runs_are_in_it(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"generated": {"kind": "chain", "pages": 9}})
    path, job = tmp_path / "report.html", str(tmp_path / "crawl")
    await crawl_site(server.url(), {**feeds(path), "JOBDIR": job}, max_pages="3")
    first = report_in(path.read_bytes())
    assert (len(first.pages["url"]), first.head["open"]) == (3, 1)
    await crawl_site(server.url(), {**feeds(path), "JOBDIR": job}, max_pages="9")
    second = report_in(path.read_bytes())
    assert (len(second.pages["url"]), second.head["open"]) == (9, 0)


@deferred_f_from_coro_f
async def test_where_pages_are_not_compared_it_is_said(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    path = tmp_path / "report.html"
    await crawl_site(server.url(), {**feeds(path), "DUPLICATES_ENABLED": False})
    report = report_in(path.read_bytes())
    assert "duplicates" not in report.lists
    assert "Duplicates" not in {figure["label"] for figure in report.head["figures"]}


@pytest.mark.parametrize("option", ["item_classes", "batch_item_count", "fields"])
def test_an_option_that_chooses_among_pages_is_refused(option: str, tmp_path: Path) -> None:
    crawler = get_crawler(settings_dict=dict(project_settings()))
    outputs = {str(tmp_path / "report.html"): {"format": "html", option: ["x"]}}
    with pytest.raises(BadOutput, match=f"a report tells of all pages: leave out {option}"):
        check_outputs(outputs, crawler)


def test_item_by_item_there_is_no_report(tmp_path: Path) -> None:
    with (tmp_path / "report.html").open("wb") as file:
        exporter = ReportExporter(file, settings=project_settings())
        exporter.start_exporting()
        exporter.export_item({"url": "https://a.example/", "status_code": 200})
        with pytest.raises(OSError, match="from a crawl directory as a whole"):
            exporter.finish_exporting()
