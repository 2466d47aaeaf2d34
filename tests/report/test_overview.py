"""The report and the summary of a crawl say the same, for they have it from the same place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import Counts
from crawlproject.frontier.notes import ROUND
from crawlproject.frontier.rounds import Round
from crawlproject.monitoring.ending import headline, notes
from crawlproject.monitoring.tally import Tally
from crawlproject.records import page_from
from crawlproject.report.document import sections_of
from crawlproject.report.overview import overview
from tests.crawling import crawl_site
from tests.report.making import BEGAN, DONE, QUEUED, Crawl, at
from tests.report.reading import report_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


@deferred_f_from_coro_f
async def test_summary_and_report_of_a_crawl_have_the_same_figures(
    site: SiteFactory, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /private",
            "pages": {
                "/": {"links": ["/a", "/b", "/gone", "/vault", "/private", "https://x.example/"]},
                "/a": {"title": "A", "links": ["/gone", "/boom"]},
                "/b": {"title": "B"},
                "/gone": {"status": 404},
                "/boom": {"status": 500},
                "/vault": {"status": 403},
            },
        }
    )
    path = tmp_path / "report.html"
    settings = {"FEEDS": {str(path): {"format": "html"}}, "MONITORING_SUMMARY": True}
    await crawl_site(server.url(), {**settings, "JOBDIR": str(tmp_path / "crawl")})
    summary = capfd.readouterr().err
    report = report_in(path.read_bytes())
    head = report.head
    said = head["headline"]
    assert ": 3 fine, 2 broken, 1 blocked, 1 denied by robots.txt." in said
    # But for the time: the summary counts that of starting and stopping, too.
    assert _untimed(said) in {_untimed(line) for line in summary.splitlines()}
    for note in head["notes"][1:]:
        assert note in summary
    figures = {figure["label"]: figure["value"] for figure in head["figures"]}
    assert figures == {
        "Pages": 7,
        "Fine": 3,
        "Broken": 2,
        "Blocked": 1,
        "Denied by robots.txt": 1,
        "Redirects": 0,
        "Duplicates": 0,
        "Skipped URLs": 1,
        "Hosts": 1,
    }
    for answer in head["answers"]:
        words = re.sub(r"^\d+ ", "", answer["answer"])
        assert re.search(rf"{words} +{answer['count']}\b", summary), answer
    assert sum(count for _, count in head["depths"]) == figures["Pages"]
    assert report.texts("blocked", "page") == [server.url("/vault")]
    assert sorted(report.texts("broken", "page")) == [server.url("/boom"), server.url("/gone")]


def _untimed(line: str) -> str:
    return re.sub(r" in [\d.]+ s:", ":", line)


def test_figures_are_those_of_a_tally_of_all_pages() -> None:
    crawl = Crawl()
    crawl.page("/", "/a", "/gone", depth=0)
    crawl.page("/a", fetch_ms=900)
    crawl.broken("/gone")
    crawl.broken("/vault", 401)
    survey = crawl.survey()
    tally = Tally()
    for _, record in survey.reader.pages(with_links=False):
        tally.add(page_from(record))
    assert survey.tally.by_outcome == tally.by_outcome
    assert survey.tally.outcomes == tally.outcomes
    assert survey.tally.bytes == tally.bytes
    assert survey.tally.times.percentiles() == tally.times.percentiles()
    head = overview(survey, sections_of(survey))
    ending = survey.ending()
    assert (head["headline"], head["notes"]) == (headline(ending), notes(ending))
    assert {(one["answer"], one["count"]) for one in head["answers"]} == {
        ("200 OK", 2),
        ("401 Unauthorized", 1),
        ("404 Not Found", 1),
    }
    assert head["health"] == 0.5


def test_issues_come_by_severity_and_number_and_what_is_in_order_is_said() -> None:
    crawl = Crawl()
    crawl.page("/", "/gone", depth=0, title=None)
    crawl.broken("/gone")
    crawl.page("/a", description=None)
    crawl.page("/b", description=None)
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    issues = [(issue["severity"], issue["count"], issue["what"]) for issue in head["issues"]]
    assert issues == [
        ("error", 1, "broken page"),
        ("warning", 1, "page without a title"),
        ("notice", 2, "pages without a description"),
    ]
    assert "pages that let no crawler in" in head["passed"]
    assert not any("sitemap" in what for what in head["passed"])


def test_every_link_of_a_figure_or_an_issue_leads_to_a_list() -> None:
    crawl = Crawl()
    crawl.page("/", "/gone", depth=0, title=None, canonical="https://site.example/gone")
    crawl.broken("/gone")
    survey = crawl.survey()
    sections = sections_of(survey)
    head = overview(survey, sections)
    listings = {one.name: one for section in sections for one in section.listings}
    issues = [issue for one in listings.values() for issue in one.issues]
    links = [figure["link"] for figure in head["figures"]] + [issue.link for issue in issues]
    for link in links:
        name, _, query = link.partition("?")
        if name == "pages":
            continue
        columns = {column.name for column in listings[name].columns}
        for setting in filter(None, query.split("&")):
            key, _, value = setting.partition("=")
            assert (value.lstrip("-") if key == "sort" else key) in columns, link


def test_urls_that_are_not_yet_fetched_are_a_figure() -> None:
    crawl = Crawl()
    crawl.page("/", "/next", depth=0)
    survey = crawl.survey()
    assert survey.counts == Counts(queued=1, done=1)
    head = overview(survey, sections_of(survey))
    assert {"label": "Not yet fetched", "value": 1, "link": "", "tone": "warn"} in head["figures"]


def test_urls_that_are_to_be_fetched_again_are_told_apart() -> None:
    crawl = Crawl()
    crawl.page("/", "/next", depth=0)
    crawl.url("/", QUEUED, again=DONE)
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    assert (head["open"], head["again"]) == (2, 1)


def test_a_crawl_that_comes_back_is_dated_by_its_last_round() -> None:
    crawl = Crawl()
    day = 86_400.0
    crawl.note(ROUND, Round(2, BEGAN + 7 * day, "all")._asdict())
    for number in range(5):
        # Read a week ago, and the same since.
        crawl.page(f"/{number}", fetched_at=at(number * 60))
        visited_at = BEGAN + 7 * day + 1 + number / 2
        crawl.database.execute(
            "INSERT INTO visits VALUES (?, 0, ?, 0, '{}')", (crawl.id(f"/{number}"), visited_at)
        )
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    assert (head["began_at"], head["is_round"]) == (BEGAN + 7 * day, True)
    assert (head["speed"]["seconds"], head["speed"]["answers"]) == (2, 5)
    assert "5 pages were visited again: none has changed." in head["notes"]


def test_a_round_that_met_nothing_has_no_duration() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0, fetched_at=at(0))
    crawl.page("/a", fetched_at=at(60))
    crawl.note(ROUND, Round(2, BEGAN + 1000, "due")._asdict())
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    assert (head["began_at"], head["speed"]["seconds"]) == (BEGAN + 1000, 0)


def test_a_first_crawl_is_dated_by_its_first_answer() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0, fetched_at=at(3))
    survey = crawl.survey()
    head = overview(survey, sections_of(survey))
    assert (head["began_at"], head["is_round"]) == (BEGAN + 3, False)
