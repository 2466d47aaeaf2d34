from __future__ import annotations

import pytest

from crawlproject.report.skipped import section, shares
from tests.report.making import Crawl


@pytest.mark.parametrize(
    ("counts", "room", "given"),
    [
        ({}, 9, {}),
        ({"a": 3, "b": 2}, 9, {"a": 3, "b": 2}),
        ({"a": 100, "b": 2}, 9, {"b": 2, "a": 7}),
        ({"a": 100, "b": 200, "c": 1}, 10, {"c": 1, "a": 4, "b": 5}),
    ],
)
def test_every_reason_has_room(counts: dict[str, int], room: int, given: dict[str, int]) -> None:
    assert shares(counts, room) == given


def test_skipped_urls_by_reason_in_the_words_of_the_summary() -> None:
    crawl = Crawl()
    crawl.page("/", depth=0)
    crawl.skip("https://other.example/", "offsite")
    crawl.skip("/deep", "depth", "DEPTH_LIMIT=16")
    crawl.skip("/deeper", "depth", "DEPTH_LIMIT=16")
    # Those are pages.
    crawl.page("/private", status_code=None, error="robots")
    reasons, urls = section(crawl.survey()).listings
    assert reasons.rows == [
        ("depth", 2, "deeper than 16 links (depth=16)", "-a depth=N, or depth=none"),
        ("offsite", 1, "on other hosts", "-a scope=domain, or allow=HOST"),
    ]
    home = crawl.id("/")
    assert sorted(urls.rows) == [
        (crawl.id("https://other.example/"), "offsite", "", 1, home),
        (crawl.id("/deep"), "depth", "DEPTH_LIMIT=16", 1, home),
        (crawl.id("/deeper"), "depth", "DEPTH_LIMIT=16", 1, home),
    ]
    assert urls.total == 3
