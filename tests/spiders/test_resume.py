"""The same crawl directory, other seeds or another scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site, scrapy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

PAGES: dict[str, Any] = {
    "/": {"links": ["/a", "/b/1", "/private/1"]},
    "/a": {"links": ["/a/a"]},
    "/a/a": {"links": ["/a/a/a"]},
    "/a/a/a": {},
    "/b/1": {},
    "/private/1": {},
    "/other": {"links": ["/other/1"]},
    "/other/1": {},
}


@deferred_f_from_coro_f
async def test_new_seeds_join_and_nothing_is_fetched_twice(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": PAGES})
    settings = {"JOBDIR": str(tmp_path)}
    await crawl_site(server.url(), settings)
    asked = server.paths()
    second = await crawl_site(f"{server.url()} {server.url('/other')}", settings)
    assert server.paths()[len(asked) :] == ["/other", "/other/1"]
    assert second.stats["frontier/seeds_joined"] == 1
    assert second.stats["frontier/resumed_pages"] == 6
    assert second.frontier.read().count() == 8
    assert second.frontier.read().seeds() == [server.url(), server.url("/other")]


@deferred_f_from_coro_f
async def test_a_seed_on_another_host_brings_that_host_into_scope(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    elsewhere = server.url("/x", host="127.0.0.9")
    server.set({"pages": {"/": {"links": [elsewhere]}, "/x": {"links": ["/y"]}, "/y": {}}})
    settings = {"JOBDIR": str(tmp_path)}
    first = await crawl_site(server.url(), settings)
    assert first.skipped() == {elsewhere: "offsite"}
    second = await crawl_site(f"{server.url()} {server.url('/y', host='127.0.0.9')}", settings)
    assert second.skipped() == {}
    assert set(second.pages) == {elsewhere, server.url("/y", host="127.0.0.9")}
    facts = second.frontier.facts(server.url("/y", host="127.0.0.9"))
    assert facts is not None
    assert facts.depth == 0


@deferred_f_from_coro_f
async def test_a_changed_scope_is_applied_to_what_is_queued_and_to_what_was_skipped(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": PAGES})
    settings = {"JOBDIR": str(tmp_path)}
    first = await crawl_site(server.url(), settings, max_pages="1", exclude="/private/")
    assert first.frontier.counts().queued == 2
    second = await crawl_site(server.url(), settings, exclude="/b/")
    assert second.stats["frontier/scope_left"] == 1
    assert second.stats["frontier/scope_entered"] == 1
    assert second.skipped() == {server.url("/b/1"): "excluded"}
    assert sorted(server.paths()) == ["/", "/a", "/a/a", "/a/a/a", "/private/1"]


@deferred_f_from_coro_f
async def test_a_changed_depth_is_applied_too(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": PAGES})
    settings = {"JOBDIR": str(tmp_path)}
    first = await crawl_site(server.url(), settings, depth="1")
    assert first.skipped() == {server.url("/a/a"): "depth"}
    second = await crawl_site(server.url(), settings, depth="2")
    assert second.skipped() == {server.url("/a/a/a"): "depth"}
    assert server.paths().count("/a/a") == 1


@deferred_f_from_coro_f
async def test_where_a_seed_redirected_is_remembered(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {}}, all_loopback=True)
    home = server.url("/home", host="127.0.0.9")
    server.set(
        {
            "pages": {
                "/": {"redirect": home},
                "/home": {"links": [server.url("/a", host="127.0.0.9")]},
                "/a": {"links": [server.url("/b", host="127.0.0.9")]},
                "/b": {},
            }
        }
    )
    settings = {"JOBDIR": str(tmp_path)}
    await crawl_site(server.url(), settings, max_pages="2")
    second = await crawl_site(server.url(), settings)
    assert set(second.pages) == {server.url("/b", host="127.0.0.9")}
    assert second.skipped() == {}


def test_the_summary_tells_of_all_runs_and_what_has_changed(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {**PAGES, "/b/1": {"status": 404}}})
    crawl = ("crawl", "site", "-a", f"seed={server.url()}", "-s", "JOBDIR=job")
    scrapy(*crawl, "-a", "max_pages=3", cwd=tmp_path)
    done = scrapy(*crawl, "-a", "exclude=/private/", "-O", "s.json", cwd=tmp_path)
    assert "Going on with the crawl in job: 3 pages so far, 2 URLs queued." in done.stderr
    assert f"Crawled 5 pages of {server.url()}, 2 of them now, in " in done.stderr
    assert (
        "Went on with an earlier crawl: 1 queued URL went out by the changed scope."
    ) in " ".join(done.stderr.split())
    assert "s.json (5 pages)" in done.stderr
    # The broken page was found by the first run.
    assert "404  Not Found" in done.stderr
    fewer = scrapy(*crawl, "-a", "max_pages=2", "-O", "s.json", cwd=tmp_path)
    assert "max_pages=2 is less than the 5 pages that were there, which all stay" in fewer.stderr
    assert "s.json (5 pages)" in fewer.stderr


def test_a_seed_that_could_not_be_had_is_tried_again(site: SiteFactory, tmp_path: Path) -> None:
    server = site({"pages": {"/": {"drop": True}}, "robots": {"drop": True}})
    crawl = ("crawl", "site", "-a", f"seed={server.url()}", "-s", "JOBDIR=job", "-O", "s.json")
    quick = ("-s", "RETRY_TIMES=0", "-s", "FRONTIER_RETRY_BACKOFF_SECONDS=0.01")
    assert scrapy(*crawl, *quick, cwd=tmp_path).returncode == 1
    server.set({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    done = scrapy(*crawl, *quick, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Crawled 2 pages" in done.stderr


@deferred_f_from_coro_f
async def test_a_robots_txt_that_was_away_is_asked_again_when_nothing_else_is_left(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    good, bad = (server.url("/", host=host) for host in ("127.0.1.1", "127.0.1.2"))
    away = {"robots": {"status": 503}, "pages": {"/": {}}}
    there = {"pages": {"/": {"links": [f"{bad}page"]}}}
    server.set({"hosts": {"127.0.1.1": there, "127.0.1.2": away}})
    settings = {"JOBDIR": str(tmp_path), "POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0}
    first = await crawl_site(f"{good} {bad}", settings, scope="any")
    assert first.skipped() == dict.fromkeys((bad, f"{bad}page"), "robots unreachable")
    asked = len(server.log())
    server.set({"hosts": {"127.0.1.1": there, "127.0.1.2": {"pages": {"/": {}, "/page": {}}}}})
    second = await crawl_site(f"{good} {bad}", settings, scope="any")
    assert second.skipped() == {}
    assert sorted(entry["path"] for entry in server.log()[asked:]) == ["/", "/page", "/robots.txt"]
    assert {page.url for page in second.pages.values() if page.error is None} >= {bad}
    # Then all is done.
    await crawl_site(f"{good} {bad}", settings, scope="any")
    assert len(server.log()) == asked + 3


@deferred_f_from_coro_f
async def test_nofollow_and_robots_can_be_lifted_later(site: SiteFactory, tmp_path: Path) -> None:
    links = '<a rel="nofollow" href="/quiet">q</a> <a href="/no">n</a>'
    server = site(
        {
            "robots": "User-agent: *\nDisallow: /no\n",
            "pages": {"/": {"body": links}, "/quiet": {}, "/no": {}},
        }
    )
    settings = {"JOBDIR": str(tmp_path)}
    first = await crawl_site(server.url(), settings)
    assert first.skipped() == {server.url("/quiet"): "nofollow", server.url("/no"): "robots"}
    await crawl_site(server.url(), {**settings, "ROBOTSTXT_OBEY": False}, respect_nofollow="no")
    assert sorted(server.paths()) == ["/", "/no", "/quiet"]


def test_a_failing_seed_that_joins_does_not_fail_a_crawl_that_had_one(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {"/": {}, "/gone": {"status": 404}}})
    crawl = ("crawl", "site", "-s", "JOBDIR=job", "-O", "p.jsonl")
    for seeds in (server.url(), f"{server.url()} {server.url('/gone')}"):
        done = scrapy(*crawl, "-a", f"seed={seeds}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 2
