from __future__ import annotations

from crawlproject.report import weight
from tests.report.making import Crawl


def test_the_slowest_and_the_largest_pages_come_first() -> None:
    crawl = Crawl()
    crawl.page("/a", fetch_ms=5, bytes=9)
    crawl.page("/b", fetch_ms=5_000, bytes=1)
    crawl.page("/c", fetch_ms=50, bytes=5_000_000)
    crawl.page("/d", status_code=None, error="timeout", fetch_ms=None, bytes=None)
    slowest, largest = weight.section(crawl.survey()).listings
    assert crawl.paths(*(row[0] for row in slowest.rows)) == ["/b", "/c", "/a"]
    assert crawl.paths(*(row[0] for row in largest.rows)) == ["/c", "/a", "/b"]
    assert [issue.number for issue in (*slowest.issues, *largest.issues)] == [1, 1]


def test_response_times_are_those_of_the_summary() -> None:
    crawl = Crawl()
    for number in range(100):
        crawl.page(f"/{number}", fetch_ms=number + 1)
    survey = crawl.survey()
    found = weight.times(survey)
    assert found["percentiles"] == {"p50": 50, "p90": 90, "p99": 99}
    assert sum(found["counts"]) == 100
