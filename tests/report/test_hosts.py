from __future__ import annotations

from crawlproject.report.hosts import section
from tests.report.making import Crawl


def test_pages_are_counted_by_host_and_by_type() -> None:
    crawl = Crawl()
    crawl.page("/", bytes=100, fetch_ms=10)
    crawl.broken("/gone")
    crawl.page("https://other.example/a.png", content_type="image/png", bytes=50, fetch_ms=21)
    crawl.page(
        "/hangs", status_code=None, error="timeout", content_type=None, bytes=None, fetch_ms=None
    )
    hosts, types = section(crawl.survey()).listings
    assert hosts.rows == [
        ("site.example", 3, 1, 2, 0, 1100, 10),
        ("other.example", 1, 1, 0, 0, 50, 21),
    ]
    assert types.rows == [
        ("text/html", 2, 1, 1, 0, 1100, 10),
        ("image/png", 1, 1, 0, 0, 50, 21),
        ("", 1, 0, 1, 0, 0, None),
    ]
