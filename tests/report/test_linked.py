from __future__ import annotations

from crawlproject.frontier.reading import Reader
from crawlproject.report.linked import ranked, section
from tests.report.making import SITE, Crawl


def crawl_of_three() -> Crawl:
    crawl = Crawl()
    crawl.page("/", "/a", "/b", depth=0)
    crawl.page("/a", "/")
    crawl.page("/b", "/", "/a")
    return crawl


def test_the_report_and_the_command_have_the_same_ranks() -> None:
    crawl = crawl_of_three()
    survey = crawl.survey()
    (listing,) = section(survey).listings
    pages = ranked(Reader(crawl.database), 9)
    assert [page.url.removeprefix(SITE) for page in pages] == ["/", "/a", "/b"]
    assert crawl.paths(*(row[0] for row in listing.rows)) == ["/", "/a", "/b"]
    assert [page.rank for page in pages] == sorted(survey.rank.tolist(), reverse=True)
    assert [(page.inlinks, page.depth) for page in pages] == [(2, 0), (2, 1), (1, 1)]


def test_only_the_first_are_ranked() -> None:
    assert len(ranked(Reader(crawl_of_three().database), 1)) == 1
    assert ranked(Reader(Crawl().database), 5) == []
