"""A site that changes is visited again: 304s, changes, new and gone pages, by the server's log."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.overview import last_round
from tests.crawling import crawl_site
from tests.spiders.generations import site_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawling import Crawled
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]
    Place = dict[str, Any]


@pytest.fixture(params=["directory", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a crawl is kept."""
    if request.param == "redis":
        return {"REDIS_URL": request.getfixturevalue("redis_url")}
    return {"JOBDIR": str(tmp_path / "crawl")}


async def crawl(server: Site, place: Place, output: Path, **arguments: str) -> Crawled:
    feeds = {str(output): {"format": "json", "overwrite": True}}
    settings = {**place, "FEEDS": feeds, "SITEMAPS_MODE": "auto"}
    return await crawl_site(server.url(), settings, **arguments)


def answers(server: Site, since: int) -> dict[str, int | None]:
    """What was asked for, and answered: each once."""
    entries = server.log()[since:]
    asked = Counter(entry["path"] for entry in entries)
    assert not asked or max(asked.values()) == 1, asked
    return {entry["path"]: entry["status"] for entry in entries if entry["path"] != "/robots.txt"}


def changes(crawled: Crawled) -> dict[str, str]:
    """What has changed in the last round, by path."""
    reader = crawled.frontier.read()
    facts = last_round(reader.database)
    assert facts is not None
    rows = reader.database.execute(
        "SELECT url, kind FROM changes JOIN urls USING (id) WHERE at >= ?", (facts.began_at,)
    )
    return {f"/{url.split('/', 3)[3]}": kind for url, kind in rows}


def pages_in(output: Path) -> Any:
    return json.loads(output.read_text())["pages"]


@deferred_f_from_coro_f
async def test_three_generations(site: SiteFactory, tmp_path: Path, place: Place) -> None:
    server = site(site_of(1))
    output = tmp_path / "s.json"
    await crawl(server, place, output)
    first = dict.fromkeys(site_of(1)["pages"], 200) | {"/old": 301}
    assert answers(server, 0) == first

    since = len(server.log())
    server.set(site_of(2))
    crawled = await crawl(server, place, output, recrawl="all")
    new = {"/item/3": 200, "/newer": 200, "/orphan/2": 200}
    unchanged = {"/": 304, "/dated": 304, "/orphan": 304}
    assert answers(server, since) == first | new | unchanged
    assert crawled.stats["recrawl/unchanged"] == 3
    # What was not changed was not read again.
    assert not {server.url("/"), server.url("/dated")} & {*crawled.pages}
    assert changes(crawled) == {
        "/etag": "changed",
        "/footer": "cosmetic",
        "/list": "changed",
        "/old": "changed",
        "/item/2": "unlinked",
        "/new": "unlinked",
        **dict.fromkeys(new, "new"),
    }
    fresh = tmp_path / "fresh.json"
    since = len(server.log())
    await crawl(server, {}, fresh)
    assert pages_in(output) == pages_in(fresh)

    since = len(server.log())
    server.set(site_of(3))
    crawled = await crawl(server, place, output, recrawl="all")
    assert answers(server, since) == {
        **dict.fromkeys(["/etag", "/dated", "/list", "/orphan"], 304),
        **dict.fromkeys(["/", "/footer", "/item/3", "/item/deep", "/newer", "/orphan/2"], 200),
        "/sitemap.xml": 200,
        "/old": 301,
        "/item/1": 410,
        "/plain": 404,
    }
    assert changes(crawled) == {
        "/": "changed",
        "/footer": "cosmetic",
        "/item/1": "gone",
        "/plain": "gone",
        "/orphan": "unlinked",
    }
    await crawl(server, {}, fresh)
    assert pages_in(output) == pages_in(fresh)


@deferred_f_from_coro_f
async def test_what_is_not_due_is_not_asked_for(
    site: SiteFactory, tmp_path: Path, place: Place
) -> None:
    server = site(site_of(1))
    output = tmp_path / "s.json"
    await crawl(server, place, output)
    before = output.read_bytes()
    since = len(server.log())
    crawled = await crawl(server, place, output)
    assert answers(server, since) == {}
    assert crawled.stats["recrawl/called"] == 0
    assert output.read_bytes() == before
    # A month later all are, and nobody is asked if nobody is to be.
    for mode, asked in (("never", 0), ("due", len(site_of(1)["pages"]))):
        past = {**place, "RECRAWL_MIN_INTERVAL_SECONDS": 1e-3, "RECRAWL_MAX_INTERVAL_SECONDS": 1e-3}
        await crawl(server, past, output, recrawl="all")
        since = len(server.log())
        await crawl(server, past, output, recrawl=mode)
        assert len(answers(server, since)) == asked


@deferred_f_from_coro_f
async def test_a_page_that_fails_keeps_what_is_behind_it(
    site: SiteFactory, tmp_path: Path, place: Place
) -> None:
    server = site(site_of(1))
    output = tmp_path / "s.json"
    await crawl(server, place, output)
    broken = site_of(1)
    broken["pages"]["/list"] = {"status": 500, "body": ""}
    server.set(broken)
    crawled = await crawl(server, place, output, recrawl="all")
    pages = {page["url"]: page for page in pages_in(output)}
    assert pages[server.url("/list")]["error"] == "unexpected status 500"
    assert pages[server.url("/list")]["links"] == []
    assert pages[server.url("/item/deep")]["depth"] == 3
    assert changes(crawled) == {"/list": "failed"}
    # It can be had again: without a condition, because what was there is not.
    server.set(site_of(1))
    since = len(server.log())
    crawled = await crawl(server, place, output, recrawl="all")
    assert answers(server, since)["/list"] == 200
    assert changes(crawled) == {"/list": "back"}
    fresh = tmp_path / "fresh.json"
    await crawl(server, {}, fresh)
    assert pages_in(output) == pages_in(fresh)


@deferred_f_from_coro_f
async def test_a_page_that_is_read_in_another_way_is_asked_for_as_a_whole(
    site: SiteFactory, tmp_path: Path, place: Place
) -> None:
    server = site(site_of(1))
    output = tmp_path / "s.json"
    await crawl(server, place, output)
    since = len(server.log())
    await crawl(server, {**place, "PAGES_TEXT": True}, output, recrawl="all")
    assert 304 not in answers(server, since).values()
    assert all("text" in page for page in pages_in(output))
    since = len(server.log())
    await crawl(server, {**place, "PAGES_TEXT": True}, output, recrawl="all")
    assert list(answers(server, since).values()).count(304) == 6


@deferred_f_from_coro_f
async def test_without_duplicates_changes_are_found_too(
    site: SiteFactory, tmp_path: Path, place: Place
) -> None:
    server = site(site_of(1))
    output = tmp_path / "s.json"
    plain = {**place, "DUPLICATES_ENABLED": False, "PAGES_CONTENT": False}
    await crawl(server, plain, output)
    server.set(site_of(2))
    crawled = await crawl(server, plain, output, recrawl="all")
    found = changes(crawled)
    assert found["/etag"] == "changed"
    # Where no text is read, nobody can tell.
    assert found["/footer"] in ("changed", "cosmetic")
    assert "/plain" not in found


@deferred_f_from_coro_f
async def test_what_a_robots_txt_forbids_now_is_told_and_asked_again_later(
    site: SiteFactory, tmp_path: Path, place: Place
) -> None:
    now = {**place, "POLITENESS_ROBOTS_MAX_AGE_SECONDS": 0}
    server = site(site_of(1))
    output = tmp_path / "s.json"
    await crawl(server, now, output)
    server.set({**site_of(1), "robots": "User-agent: *\nDisallow: /list\n"})
    await crawl(server, now, output, recrawl="all")
    pages = {page["url"]: page for page in pages_in(output)}
    assert pages[server.url("/list")]["error"] == "robots"
    # What is behind it nobody would find today.
    fresh = tmp_path / "fresh.json"
    await crawl(server, {}, fresh)
    assert server.url("/item/1") not in pages
    assert pages_in(output) == pages_in(fresh)
    server.set(site_of(1))
    await crawl(server, now, output, recrawl="all")
    await crawl(server, {}, fresh)
    assert pages_in(output) == pages_in(fresh)
