from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.reading import Reader
from crawlproject.report.document import sections_of
from crawlproject.report.overview import overview
from crawlproject.report.scripted import section
from tests.crawling import crawl_site
from tests.report.making import Crawl
from tests.report.reading import report_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

SHELL = "<body><div id=root></div><script src=app.js></script></body>"
NOTE = "1 page looks empty without scripts: -a render=auto shows it to a browser."


@deferred_f_from_coro_f
async def test_a_page_that_waits_for_its_scripts_is_told_of_as_in_the_summary(
    site: SiteFactory, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = {"/": {"links": ["/app", "/plain"]}, "/app": {"body": SHELL}, "/plain": {"title": "P"}}
    server = site({"pages": pages})
    outputs = {str(tmp_path / name): {"format": name[2:]} for name in ("r.html", "s.json")}
    settings = {"FEEDS": outputs, "MONITORING_SUMMARY": True, "JOBDIR": str(tmp_path / "crawl")}
    await crawl_site(server.url(), settings)
    assert NOTE in " ".join(capfd.readouterr().err.split())
    report = report_in((tmp_path / "r.html").read_bytes())
    assert NOTE in report.head["notes"]
    assert report.texts("scripted", "page") == [server.url("/app")]
    # No output has another field for it.
    assert "scripted" not in (tmp_path / "s.json").read_text()
    assert "rendered" not in (tmp_path / "s.json").read_text()


def test_such_pages_are_a_warning_with_a_list_the_most_linked_first() -> None:
    crawl = Crawl()
    crawl.page("/", "/b", depth=0)
    crawl.page("/a", rendered=False, word_count=0)
    crawl.page("/b", rendered=False, word_count=0)
    (listing,) = section(crawl.survey()).listings
    assert crawl.paths(*(row[0] for row in listing.rows)) == ["/b", "/a"]
    (issue,) = listing.issues
    assert (issue.severity, issue.number, issue.link) == ("warning", 2, "scripted")


def test_where_a_browser_was_at_work_nobody_is_told_to_take_one() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0, rendered=True)
    crawl.page("/a", rendered=False)
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    assert not any("render" in note for note in head["notes"])
    assert [issue["what"] for issue in head["issues"]] == ["page that looks empty without scripts"]


def test_an_item_that_stands_for_a_page_says_nothing_of_scripts() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    record = {"url": "https://site.example/own", "status_code": 200, "rendered": False}
    crawl.item(record)
    survey = crawl.survey()
    assert Reader(crawl.database).count() == len(survey.known) == 2
    assert section(survey).listings[0].rows == []
