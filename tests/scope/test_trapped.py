"""Crawls of sites without an end: the real pages are all fetched, and the trap ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

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
        ("calendar-query", "/calendar?date=2026-11-16"),
        ("facets", "/shop?brand=1&color=1&size=1"),
        ("sessions", "/s/page-1?zenid=0123456789abcdef0123456789abcdef"),
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
async def test_which_pages_of_a_trap_are_fetched_does_not_depend_on_luck(
    site: SiteFactory,
) -> None:
    pages = {"/": {"links": ["/calendar/2026/11/16/"]}}
    server = site({"pages": pages, "trap": "calendar", "random_delay": [0.0, 0.02]})
    answers = []
    for concurrency in ("1", "16"):
        crawled = await crawl_site(
            server.url(), {"SCOPE_MAX_PAGES_PER_PREFIX": 40}, concurrency=concurrency
        )
        answers.append((crawled.depths(), crawled.skipped()))
    assert answers[0] == answers[1]
    assert len(answers[0][0]) == 41


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
