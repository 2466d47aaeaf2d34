"""A site that puts a new session into its links is crawled with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.urls.link_bounds import MAX_LINK_CHARACTERS
from crawlproject.urls.sessions import Sessions
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

SITE = "http://example.com"


def kept(page: str, *links: str, sessions: Sessions | None = None) -> list[str]:
    urls = [SITE + link if link.startswith("/") else link for link in links]
    found = (sessions or Sessions()).kept(SITE + page, urls)
    return [found.get(url, url).removeprefix(SITE) for url in urls]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("?session=4af44be5", "?session=9c01d2aa"),
        ("?s=685974", "?s=112233"),
        ("?r=0.1069747693", "?r=0.8812"),
        ("?ts=1794852911703", "?ts=1794852999999"),
        (";key=q7m2k9", ";key=x8n3j1"),
        ("?a=1&x=6fa459eaee8a3ca4&z=2", "?a=1&x=894edb77e160355e&z=2"),
    ],
)
def test_links_have_the_session_of_their_page(one: str, other: str) -> None:
    assert kept(f"/p{one}", f"/a{other}", f"/b{other}", f"/c{other}") == [
        f"/a{one}",
        f"/b{one}",
        f"/c{one}",
    ]


def test_a_session_in_the_path_is_kept_too() -> None:
    one, other = "/(S(lit3py55t21z5v55vlm25s55))", "/(S(abc3py55t21z5v55vlm25s99))"
    links = (f"{other}/a.aspx", f"{other}/b.aspx", f"{other}/c/d.aspx")
    assert kept(f"{one}/p.aspx", *links) == [link.replace(other, one) for link in links]


@pytest.mark.parametrize(
    ("page", "links"),
    [
        # Nothing to keep.
        ("/p", ["/a?s=685974", "/b?s=685974", "/c?s=685974"]),
        ("/p?s=685974", ["/a?s=685974", "/b?s=685974", "/c?s=685974"]),
        ("/p?s=685974", ["/a", "/b", "/c"]),
        ("/p?s=685974", []),
        # One link has it.
        ("/p?s=685974", ["/a?s=112233", "/b?s=112233", "/c?s=112233", "/d?s=685974"]),
        # They name other things.
        ("/item?id=12345", ["/a?id=23456", "/b?id=34567", "/c?id=45678"]),
        ("/item?id=12345", ["/a?id=23456", "/b?id=23456", "/c?id=23456", "/d", "/e", "/f"]),
        ("/photo?nr=12345", ["/photo?nr=12346"]),
        ("/photo?nr=12345", ["/photo?nr=12344", "/photo?nr=12346"]),
        # Words and small numbers.
        ("/p?lang=german", ["/a?lang=french", "/b?lang=french", "/c?lang=french"]),
        ("/p?page=2", ["/p?page=1&sort=up", "/p?page=1", "/p?page=1&sort=down"]),
        ("/p?year=2025", ["/a?year=2026", "/b?year=2026", "/c?year=2026"]),
        # Other hosts have their own.
        ("/p?s=685974", ["http://b.com/a?s=112233", "http://b.com/b?s=112233", "http://b.com/c"]),
    ],
)
def test_what_is_no_session_stays(page: str, links: list[str]) -> None:
    assert kept(page, *links) == links


def test_what_a_page_gives_away_holds_for_those_with_few_links() -> None:
    sessions = Sessions()
    assert kept("/p?s=685974", "/a?s=112233", sessions=sessions) == ["/a?s=112233"]
    kept("/p?s=685974", "/a?s=112233", "/b?s=112233", "/c?s=112233", sessions=sessions)
    assert kept("/p?s=685974", "/a?s=112233", sessions=sessions) == ["/a?s=685974"]
    assert kept("/p?s=abcdef", "/a?s=fedcba", sessions=sessions) == ["/a?s=abcdef"]
    assert kept("/p?t=685974", "/a?t=112233", sessions=sessions) == ["/a?t=112233"]


def test_a_long_session_is_not_put_into_all_links() -> None:
    links = [f"https://a.example/{number}?s=112233" for number in range(10_000)]
    kept = Sessions().kept("https://a.example/?s=" + "1" * 2_000, links)
    assert sum(map(len, kept.values())) < MAX_LINK_CHARACTERS + 3_000


@deferred_f_from_coro_f
async def test_all_pages_of_such_a_site_are_fetched_once(site: Callable[..., Site]) -> None:
    server = site({"trap": "visits"})
    crawled = await crawl_site(server.url("/v/page-1?visit=1234567"))
    expected = [f"/v/page-{number}?visit=1234567" for number in range(1, 21)]
    assert sorted(server.paths()) == sorted(expected)
    page = crawled.pages[server.url("/v/page-20?visit=1234567")]
    assert page.links == [server.url("/v/page-1?visit=1234567")]
