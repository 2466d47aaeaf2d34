"""Sitemaps of a site are found, read, and what they name is crawled; by the server's log."""

from __future__ import annotations

import base64
import gzip
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crawling import Crawled
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

XML = "application/xml"


def urlset(*entries: str | tuple[str, str]) -> dict[str, Any]:
    """URLs, each perhaps with what else is said of it."""
    pairs = [(one, "") if isinstance(one, str) else one for one in entries]
    urls = "".join(f"<url><loc>{url}</loc>{more}</url>" for url, more in pairs)
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return {"body": body, "content_type": XML}


def index(*urls: str) -> dict[str, Any]:
    nested = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    body = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{nested}'
    return {"body": f"{body}</sitemapindex>", "content_type": XML}


async def crawl(server: Site, **arguments: Any) -> Crawled:
    settings = {"SITEMAPS_MODE": "auto", **arguments.pop("settings", {})}
    return await crawl_site(server.url(), settings, **arguments)


def pages(crawled: Crawled) -> dict[str, dict[str, Any]]:
    """By path."""
    port = crawled.crawler.settings["SEEDS"][0].rpartition(":")[2].strip("/")
    prefix = f"http://127.0.0.1:{port}"
    return {page["url"].removeprefix(prefix): page for _, page in crawled.frontier.read().pages()}


@deferred_f_from_coro_f
async def test_orphans_are_found_and_linked_pages_keep_their_depth(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/a"]},
                "/a": {"links": ["/b"]},
                "/b": {},
                "/orphan": {"links": ["/behind", "/b"]},
                "/behind": {},
                "/sitemap.xml": urlset(
                    "http://127.0.0.1:{port}/b",
                    ("http://127.0.0.1:{port}/orphan", "<lastmod>2026-01-02</lastmod>"),
                ),
            }
        }
    )
    found = pages(await crawl(server))
    assert {path: page["depth"] for path, page in found.items()} == {
        "/": 0,
        "/a": 1,
        "/b": 2,
        "/orphan": 1,
        "/behind": 2,
    }
    assert [path for path, page in found.items() if page["orphan"]] == ["/orphan"]
    assert found["/orphan"]["referrer"] == server.url("/sitemap.xml")
    assert found["/orphan"]["sitemap"] == {
        "url": server.url("/sitemap.xml"),
        "lastmod": "2026-01-02",
    }
    assert found["/b"]["sitemap"] == {"url": server.url("/sitemap.xml")}
    assert found["/a"]["sitemap"] == found["/behind"]["sitemap"] == {}
    assert sorted(server.paths()) == ["/", "/a", "/b", "/behind", "/orphan", "/sitemap.xml"]


@deferred_f_from_coro_f
async def test_robots_txt_an_index_and_compressed_and_other_kinds(site: SiteFactory) -> None:
    packed = gzip.compress(urlset("/packed")["body"].encode(), mtime=0)
    feed = "<rss version='2.0'><channel><item><link>/fed</link></item></channel></rss>"
    server = site(
        {
            "robots": "Sitemap: /all.xml\nUser-agent: *\nDisallow: /no\nSitemap: /no.xml\n",
            "pages": {
                "/": {},
                "/all.xml": index("/one.xml.gz", "/two.txt", "/three.rss", "/moved.xml"),
                "/one.xml.gz": {
                    "body_base64": base64.b64encode(packed).decode(),
                    "content_type": "application/gzip",
                },
                "/two.txt": {
                    "body": "http://127.0.0.1:{port}/texted\n",
                    "content_type": "text/plain",
                },
                "/three.rss": {"body": feed, "content_type": "application/rss+xml"},
                "/moved.xml": {"redirect": "/here.xml"},
                "/here.xml": urlset("/moved", "https://other.example/"),
                **{f"/{name}": {} for name in ("packed", "texted", "fed", "moved")},
            },
        }
    )
    crawled = await crawl(server)
    assert {*pages(crawled)} == {"/", "/packed", "/texted", "/fed", "/moved"}
    assert "/no.xml" not in server.paths()
    assert crawled.skipped() == {
        "https://other.example/": "offsite",
        server.url("/no.xml"): "robots",
    }
    assert crawled.stats["sitemaps/read"] == 5
    assert crawled.stats["sitemaps/urls"] == 5
    assert len(server.paths()) == len(set(server.paths()))


@pytest.mark.parametrize(
    "arguments", [{"sitemaps": "never"}, {"depth": "0"}, {"scope": "domain"}, {"scope": "any"}]
)
@deferred_f_from_coro_f
async def test_they_can_be_left_alone(site: SiteFactory, arguments: dict[str, str]) -> None:
    server = site({"pages": {"/": {}, "/sitemap.xml": urlset("/a"), "/a": {}}})
    await crawl(server, **arguments)
    assert server.paths() == ["/"]


@deferred_f_from_coro_f
async def test_they_can_be_asked_for_in_any_scope(site: SiteFactory) -> None:
    server = site({"pages": {"/": {}, "/sitemap.xml": urlset("/a"), "/a": {}}})
    await crawl(server, scope="any", sitemaps="always")
    assert sorted(server.paths()) == ["/", "/a", "/sitemap.xml"]


@pytest.mark.parametrize(
    ("setting", "read"),
    [
        ({}, ["/0.xml", "/1.xml", "/2.xml", "/3.xml"]),
        ({"SITEMAPS_MAX_NESTING": 1}, ["/0.xml", "/1.xml"]),
        ({"SITEMAPS_MAX_NESTING": 0}, ["/0.xml"]),
        # The usual one is known first.
        ({"SITEMAPS_MAX_FILES": 2}, ["/0.xml"]),
    ],
)
@deferred_f_from_coro_f
async def test_nesting_and_files_have_a_bound(
    site: SiteFactory, setting: dict[str, int], read: list[str]
) -> None:
    sitemaps = {f"/{number}.xml": index(f"/{number + 1}.xml") for number in range(9)}
    server = site({"robots": "Sitemap: /0.xml", "pages": {"/": {}, **sitemaps}})
    await crawl(server, settings=setting)
    assert [path for path in server.paths() if path.endswith(".xml")] == read


@deferred_f_from_coro_f
async def test_urls_and_bytes_have_a_bound(site: SiteFactory) -> None:
    names = [f"/p{number}" for number in range(9)]
    listed = {"/": {}, "/sitemap.xml": urlset(*names), **{name: {} for name in names}}
    server = site({"pages": listed})
    crawled = await crawl(server, settings={"SITEMAPS_MAX_URLS": 4})
    assert len(crawled.pages) == 5
    assert crawled.stats["sitemaps/cut"] == 1
    # What is longer than that is not read to its end.
    crawled = await crawl(server, settings={"SITEMAPS_MAX_BYTES": 100})
    assert (len(crawled.pages), crawled.stats["sitemaps/failed"]) == (1, 1)


BOMB = """<?xml version="1.0"?><!DOCTYPE u [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">
<!ENTITY f SYSTEM "file:///etc/passwd">]>
<urlset><url><loc>/a</loc></url><url><loc>/b?&f;&e;</loc></url><url><loc>/c</loc></url></urlset>"""


@pytest.mark.parametrize(
    ("sitemap", "expected"),
    [
        ({"body": BOMB, "content_type": XML}, {"/", "/a", "/c"}),
        ({"body": "<html><body>Sorry</body></html>"}, {"/"}),
        (
            {"body": "<urlset><url><loc>/a</loc></url><url><loc>/c", "content_type": XML},
            {"/", "/a"},
        ),
        ({"body": "\0\ufffd\ud83d <<<>>>".encode("utf-8", "replace").decode()}, {"/"}),
        ({"body": ""}, {"/"}),
        ({"status": 500, "body": ""}, {"/"}),
        ({"drop": True}, {"/"}),
        ({"redirect": "/sitemap.xml"}, {"/"}),
        ({"redirect": "https://other.example/sitemap.xml"}, {"/"}),
        (index("https://other.example/sitemap.xml", "ftp://x/", "/none.xml"), {"/"}),
        (urlset("/a", "javascript:alert(1)", "http://127.0.0.2:1/x y", "/c#d"), {"/", "/a", "/c"}),
    ],
)
@deferred_f_from_coro_f
async def test_whatever_a_sitemap_is_it_costs_itself_at_most(
    site: SiteFactory, sitemap: dict[str, Any], expected: set[str]
) -> None:
    server = site({"pages": {"/": {}, "/a": {}, "/c": {}, "/sitemap.xml": sitemap}})
    crawled = await crawl(server)
    assert {*pages(crawled)} == expected
    assert crawled.stats["finish_reason"] == "finished"


@deferred_f_from_coro_f
async def test_a_page_that_is_a_sitemap_too_is_both(site: SiteFactory) -> None:
    server = site(
        {"pages": {"/": {"links": ["/sitemap.xml"]}, "/a": {}, "/sitemap.xml": urlset("/a")}}
    )
    found = pages(await crawl(server))
    assert {*found} == {"/", "/a", "/sitemap.xml"}
    assert found["/sitemap.xml"]["referrer"] == server.url()


@deferred_f_from_coro_f
async def test_with_a_page_budget_what_is_linked_comes_first(site: SiteFactory) -> None:
    names = [f"/p{number}" for number in range(9)]
    listed = {
        "/": {"links": ["/a", "/b"]},
        "/sitemap.xml": urlset(*names),
        **{name: {} for name in [*names, "/a", "/b"]},
    }
    server = site({"pages": listed})
    assert {*pages(await crawl(server, max_pages="3"))} == {"/", "/a", "/b"}
    assert {*pages(await crawl(server, max_pages="5"))} == {"/", "/a", "/b", "/p0", "/p1"}


@deferred_f_from_coro_f
async def test_what_is_too_deep_by_links_may_be_named(site: SiteFactory) -> None:
    chain = {f"/{number}": {"links": [f"/{number + 1}"]} for number in range(6)}
    server = site({"pages": {"/": {"links": ["/0"]}, **chain, "/sitemap.xml": urlset("/4")}})
    found = pages(await crawl(server, depth="2"))
    assert {path: page["depth"] for path, page in found.items()} == {
        "/": 0,
        "/0": 1,
        "/1": 2,
        "/4": 1,
        "/5": 2,
    }


@deferred_f_from_coro_f
async def test_without_robots_txt_the_usual_one_is_read(site: SiteFactory) -> None:
    server = site({"pages": {"/": {}, "/a": {}, "/sitemap.xml": urlset("/a")}})
    crawled = await crawl(server, settings={"ROBOTSTXT_OBEY": False})
    assert {*pages(crawled)} == {"/", "/a"}
