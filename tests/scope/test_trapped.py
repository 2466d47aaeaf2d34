"""Crawls of sites without an end: the real pages are all fetched, and the trap ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# Real pages, a level of them behind the door of the trap.
REAL: dict[str, Any] = {
    "/": {"links": ["/about", "/products/1", "TRAP"]},
    "/about": {"links": ["/about/us"]},
    "/about/us": {},
    **{f"/products/{number}": {"links": [f"/products/{number + 1}"]} for number in range(1, 12)},
    "/products/12": {},
}


@pytest.mark.parametrize(
    ("trap", "door"),
    [
        ("calendar", "/calendar/2026/11/16/"),
        ("months", "/months/2026/11/"),
        ("calendar-query", "/calendar?date=2026-11-16"),
        ("facets", "/shop?brand=1&color=1&size=1"),
        ("sessions", "/s/page-1?zenid=0123456789abcdef0123456789abcdef"),
        ("visits", "/v/page-1?visit=1234567"),
        ("relative", "/more/"),
        ("relative-files", "/more/index.html"),
        ("filters", "/list"),
        ("filters", "/list/12345"),
        ("tags", "/tag/"),
        ("search", "/search"),
        ("random", "/r/page-1"),
    ],
)
@deferred_f_from_coro_f
async def test_a_trap_is_bounded_and_all_real_pages_are_fetched(
    site: SiteFactory, trap: str, door: str
) -> None:
    pages = {path: dict(page) for path, page in REAL.items()}
    pages["/"]["links"] = [door if link == "TRAP" else link for link in pages["/"]["links"]]
    server = site({"pages": pages, "trap": trap})
    crawled = await crawl_site(server.url())
    fetched = server.paths()
    assert set(REAL) <= set(fetched)
    trapped = [path for path in fetched if path not in REAL]
    assert 0 < len(trapped) <= 400
    assert crawled.frontier.exhausted()
    # Every URL that was found and not fetched says why.
    assert set(crawled.skipped().values()) <= {"prefix budget", "growing path"}


@deferred_f_from_coro_f
async def test_a_link_that_grows_on_one_page_is_followed_from_another(
    site: SiteFactory, tmp_path: Path
) -> None:
    pages: dict[str, Any] = {
        "/": {"links": ["/a/b/", "/map"]},
        "/a/b/": {"links": ["a/", "b/"]},
        "/map": {"links": ["/more"]},
        "/more": {"links": ["/a/b/a/"]},
        "/a/b/a/": {},
        "/a/b/b/": {},
    }
    server = site({"pages": pages})
    settings = {"JOBDIR": str(tmp_path)}
    crawled = await crawl_site(server.url(), settings)
    assert crawled.skipped() == {server.url("/a/b/b/"): "growing path"}
    assert crawled.depths()[server.url("/a/b/a/")] == 3
    # Another scope does not change it, but the setting does.
    crawled = await crawl_site(server.url(), {**settings, "SCOPE_EXCLUDE": ["x"]})
    assert crawled.skipped() == {server.url("/a/b/b/"): "growing path"}
    crawled = await crawl_site(server.url(), {**settings, "SCOPE_MAX_REPEATED_SEGMENTS": "0"})
    assert crawled.skipped() == {}
    assert sorted(server.paths()) == sorted(pages)


@deferred_f_from_coro_f
async def test_an_archive_is_no_trap(site: SiteFactory) -> None:
    server = site({"trap": "archive"})
    crawled = await crawl_site(server.url("/archive/"), {"SCOPE_MAX_PAGES_PER_PREFIX": 100})
    # The way to it, a year, its months, and a story for each of its days.
    assert len(crawled.pages) == 1 + 1 + 12 + 2 * 365
    assert crawled.skipped() == {}


@deferred_f_from_coro_f
async def test_which_pages_of_a_trap_are_fetched_does_not_depend_on_luck(
    site: SiteFactory,
) -> None:
    pages = {"/": {"links": ["/calendar/2026/11/16/"]}}
    server = site({"pages": pages, "trap": "calendar", "random_delay": [0.0, 0.02]})
    answers = []
    for concurrency in ("1", "16"):
        crawled = await crawl_site(
            server.url(), {"SCOPE_MAX_PAGES_PER_PREFIX": 100}, concurrency=concurrency
        )
        answers.append((crawled.depths(), crawled.skipped()))
    assert answers[0] == answers[1]
    assert len(answers[0][0]) == 101


@deferred_f_from_coro_f
async def test_a_host_has_its_budget(site: SiteFactory) -> None:
    server = site({"generated": {"kind": "mesh", "pages": 60}, "random_delay": [0, 0.01]})
    answers = []
    for concurrency in ("1", "16"):
        crawled = await crawl_site(
            server.url(), {"SCOPE_MAX_PAGES_PER_HOST": 25}, concurrency=concurrency
        )
        answers.append((crawled.depths(), crawled.skipped()))
    assert answers[0] == answers[1]
    # The seed is always crawled.
    assert len(answers[0][0]) == 26
    assert set(answers[0][1].values()) == {"host budget"}
