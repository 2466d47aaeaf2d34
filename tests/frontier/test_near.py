from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlproject.frontier.base import NOFOLLOW, Candidate, State
from crawlproject.frontier.near import Near, near
from tests.commands.inquiring import Crawl, url

if TYPE_CHECKING:
    from pathlib import Path


def found_near(tmp_path: Path, wanted: str, *known: str) -> list[tuple[str, str]]:
    crawl = Crawl(tmp_path, *known)
    found = near(crawl.frontier.read().database, url(wanted))
    crawl.close()
    return [(one.url, one.how) for one in found]


@pytest.mark.parametrize(
    ("wanted", "known", "how"),
    [
        ("/a", "http://site.example/a", "another scheme"),
        ("/a", "https://www.site.example/a", "another host"),
        ("https://www.site.example/a", "/a", "another host"),
        ("/a", "/a/", "a slash at its end"),
        ("/a/", "/a", "no slash at its end"),
        ("/a?x=1", "/a", "no query"),
        ("/a", "/a?x=1", "a query"),
        ("/a?x=2", "/a?x=1", "another query"),
        ("/a/?x=2", "/a?x=1", "no slash at its end, another query"),
        ("/a", "http://www.site.example/a/", "another scheme, another host, a slash at its end"),
        ("/long/path/here", "https://elsewhere.example/long/path/here", "another host"),
        ("https://stie.example/", "/", "another host"),
        ("/products/tbale", "/products/table", "spelled almost the same"),
        ("/prodcuts/table", "/products/table", "spelled almost the same"),
        ("/About", "/about", "spelled almost the same"),
        ("/100%25_a", "https://other.example/100%25_a", "another host"),
        ("/a/b/c", "/a/", "the nearest above"),
        ("/a/b/c/", "/a", "the nearest above"),
        ("/a/b?c=d", "/", "the nearest above"),
    ],
)
def test_a_url_that_differs_a_little_is_found(
    tmp_path: Path, wanted: str, known: str, how: str
) -> None:
    assert found_near(tmp_path, wanted, known) == [(url(known), how)]


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        ("/", "https://other.example/"),
        ("/a", "https://other.example/b/a"),
        ("/a", "https://other.example/a/b"),
        ("/100%25_a", "https://other.example/100%25xa"),
        ("/products/table", "https://other.example/"),
    ],
)
def test_what_has_nothing_in_common_is_not_near(tmp_path: Path, wanted: str, known: str) -> None:
    assert found_near(tmp_path, wanted, known) == []


def test_the_same_path_comes_before_spellings_and_these_before_what_is_above(
    tmp_path: Path,
) -> None:
    known = ("/", "/news/", "/news/indez/", "/news/index")
    assert [found for found, _ in found_near(tmp_path, "/news/index/", *known)] == [
        url("/news/index"),
        url("/news/indez/"),
        url("/news/"),
    ]


def test_only_the_nearest_above_is_named(tmp_path: Path) -> None:
    assert found_near(tmp_path, "/a/b/cccc", "/", "/a/", "/a/b/") == [
        (url("/a/b/"), "the nearest above")
    ]


def test_state_and_reason_are_told(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path)
    crawl.fetch("/", Candidate(url("/a"), NOFOLLOW))
    assert near(crawl.frontier.read().database, url("/a/"))[0] == Near(
        url("/a"), State.SKIPPED, NOFOLLOW, "no slash at its end"
    )
    crawl.close()


def test_a_known_url_is_not_near_to_itself(tmp_path: Path) -> None:
    assert found_near(tmp_path, "/a", "/a") == []


@pytest.mark.parametrize("wanted", ["https://[::1]/x", "https://x/" + "a/" * 500, "https://x/?"])
def test_odd_urls_are_no_trouble(tmp_path: Path, wanted: str) -> None:
    assert found_near(tmp_path, wanted, "/a") == []
