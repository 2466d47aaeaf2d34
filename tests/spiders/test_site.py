"""The spider against a real server: what is fetched, and what a page says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.questions import Questions
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]


def pages_of(links: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    pages: dict[str, Any] = {path: {"links": targets} for path, targets in links.items()}
    return {"pages": {**pages, **more}}


@deferred_f_from_coro_f
async def test_a_diamond_is_crawled_breadth_first_each_page_once(site: SiteFactory) -> None:
    server = site(pages_of({"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/c"], "/c": ["/"]}))
    crawled = await crawl_site(server.url(), concurrency="1")
    assert server.paths() == ["/", "/a", "/b", "/c"]
    assert crawled.depths() == {
        server.url("/"): 0,
        server.url("/a"): 1,
        server.url("/b"): 1,
        server.url("/c"): 2,
    }
    assert crawled.pages[server.url("/c")].referrer == server.url("/a")


@pytest.mark.parametrize(
    ("depth", "paths"),
    [
        ("0", ["/"]),
        ("2", ["/", "/1", "/2"]),
        ("none", ["/", "/1", "/2", "/3", "/4"]),
    ],
)
@deferred_f_from_coro_f
async def test_the_depth_limit_cuts_a_chain(
    site: SiteFactory, depth: str, paths: list[str]
) -> None:
    server = site(pages_of({"/": ["/1"], "/1": ["/2"], "/2": ["/3"], "/3": ["/4"], "/4": []}))
    crawled = await crawl_site(server.url(), depth=depth)
    assert server.paths() == paths
    if depth != "none":
        cut = server.url(f"/{len(paths)}")
        assert crawled.skipped() == {cut: "depth"}


@deferred_f_from_coro_f
async def test_cycles_end_and_spellings_of_a_url_are_one_page(site: SiteFactory) -> None:
    server = site(
        pages_of(
            {
                "/": ["/a?b=2&a=1", "/a?a=1&b=2#top", "/x/../a?a=1&b=2&utm_source=mail"],
                "/a?a=1&b=2": ["/", "./a?b=2&a=1"],
            }
        )
    )
    crawled = await crawl_site(server.url())
    assert sorted(server.paths()) == ["/", "/a?a=1&b=2"]
    assert crawled.pages[server.url("/")].links == [server.url("/a?a=1&b=2")]


@deferred_f_from_coro_f
async def test_other_hosts_are_recorded_but_not_fetched(site: SiteFactory) -> None:
    server = site(pages_of({"/": ["/in", "https://example.org/out"], "/in": []}))
    crawled = await crawl_site(server.url())
    assert sorted(server.paths()) == ["/", "/in"]
    assert crawled.pages[server.url("/")].links == [server.url("/in"), "https://example.org/out"]
    assert crawled.skipped() == {"https://example.org/out": "offsite"}


@deferred_f_from_coro_f
async def test_failures_are_pages_with_an_error(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/404", "/500", "/drop", "/hang", "/file", "/short"]},
                "/500": {"status": 500},
                "/drop": {"drop": True},
                "/hang": {"hang": True},
                "/file": {
                    "body": "%PDF-1.4 <a href=/never>x</a>",
                    "content_type": "application/pdf",
                },
                "/short": {
                    "body": "<p>short",
                    "headers": {"Content-Length": "5000"},
                    "stall_after": 3,
                },
            }
        }
    )
    crawled = await crawl_site(server.url(), {"DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 1})
    errors = {url[len(server.url("")) :]: page.error for url, page in crawled.pages.items()}
    assert errors == {
        "/": None,
        "/404": "unexpected status 404",
        "/500": "unexpected status 500",
        "/drop": "connection lost",
        "/hang": "timeout",
        "/file": None,
        "/short": "timeout",
    }
    page = crawled.pages[server.url("/file")]
    assert (page.content_type, page.bytes, page.links) == ("application/pdf", 29, [])
    assert crawled.pages[server.url("/404")].status_code == 404
    assert crawled.pages[server.url("/hang")].status_code is None
    assert crawled.pages[server.url("/hang")].referrer == server.url("/")
    assert server.paths().count("/500") == 2
    assert "/never" not in server.paths()


@deferred_f_from_coro_f
async def test_redirects_keep_the_depth_and_name_the_chain(site: SiteFactory) -> None:
    server = site(
        pages_of(
            {"/": ["/old"], "/new": ["/child"], "/child": []},
            **{"/old": {"redirect": "/older"}, "/older": {"redirect": "/new"}},
        )
    )
    crawled = await crawl_site(server.url())
    page = crawled.pages[server.url("/new")]
    assert page.redirected_from == [server.url("/old"), server.url("/older")]
    assert page.referrer == server.url("/")
    # No page, but known to who asks.
    questions = Questions(crawled.frontier.read().database)
    old = questions.find(server.url("/old"))
    assert old is not None
    answer = questions.page(old)
    assert answer is not None
    assert answer["status_code"] == 301
    assert answer.keys() >= {"fetched_at", "fetch_ms"}
    assert not answer.keys() & {"error", "links"}
    assert crawled.depths() == {
        server.url("/"): 0,
        server.url("/new"): 1,
        server.url("/child"): 2,
    }


@deferred_f_from_coro_f
async def test_a_redirect_to_a_page_already_visited_adds_none(site: SiteFactory) -> None:
    server = site(pages_of({"/": ["/a", "/to-a"], "/a": []}, **{"/to-a": {"redirect": "/a"}}))
    crawled = await crawl_site(server.url())
    assert sorted(server.paths()) == ["/", "/a", "/to-a"]
    assert sorted(crawled.pages) == [server.url("/"), server.url("/a")]
    facts = crawled.frontier.facts(server.url("/a"))
    assert facts is not None
    assert facts.redirected_from == (server.url("/to-a"),)


@deferred_f_from_coro_f
async def test_redirects_that_lead_nowhere_are_errors(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/loop1", "/self", "/bad", "/away", "/endless0"]},
                "/loop1": {"redirect": "/loop2"},
                "/loop2": {"redirect": "/loop1"},
                "/self": {"redirect": "/self"},
                "/bad": {"redirect": "mailto:me@example.com"},
                "/away": {"redirect": "https://example.org/"},
                **{f"/endless{n}": {"redirect": f"/endless{n + 1}"} for n in range(10)},
            }
        }
    )
    crawled = await crawl_site(server.url(), {"REDIRECT_MAX_TIMES": 4})
    errors = {url[len(server.url("")) :]: page.error for url, page in crawled.pages.items()}
    assert errors == {
        "/": None,
        "/loop1": "redirect loop",
        "/self": "redirect loop",
        "/bad": "bad redirect: 'mailto:me@example.com'",
        "/away": None,
        "/endless4": "too many redirects",
    }
    assert crawled.pages[server.url("/away")].links == ["https://example.org/"]
    assert crawled.pages[server.url("/away")].status_code == 301


@deferred_f_from_coro_f
async def test_a_redirect_to_another_spelling_of_itself_is_fetched_once_more(
    site: SiteFactory,
) -> None:
    server = site(
        pages_of(
            {"/": ["/shop"], "/shop?sid=7": ["/child"], "/child": []},
            **{"/shop": {"redirect": "/shop?sid=7"}},
        )
    )
    crawled = await crawl_site(server.url())
    assert crawled.pages[server.url("/shop")].error is None
    assert server.url("/child") in crawled.pages


@deferred_f_from_coro_f
async def test_a_seed_that_redirects_to_another_host_takes_it_into_scope(
    site: SiteFactory,
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    other = server.url("/", host="127.0.0.2")
    server.set(
        {
            "pages": {
                "/": {"redirect": other + "home"},
                "/home": {"links": [other + "a"]},
                "/a": {"links": []},
            }
        }
    )
    crawled = await crawl_site(server.url("/"))
    assert sorted(crawled.pages) == [other + "a", other + "home"]


@deferred_f_from_coro_f
async def test_robots_txt_is_obeyed_and_what_it_denies_is_recorded(site: SiteFactory) -> None:
    server = site(
        {
            "robots": "User-agent: crawlproject\nDisallow: /private/\n",
            **pages_of({"/": ["/private/x", "/ok"], "/ok": [], "/private/x": []}),
        }
    )
    crawled = await crawl_site(server.url())
    assert sorted(server.paths()) == ["/", "/ok"]
    page = crawled.pages[server.url("/private/x")]
    assert (page.error, page.status_code, page.referrer) == ("robots", None, server.url("/"))
    assert crawled.stats["robotstxt/forbidden"] == 1


@deferred_f_from_coro_f
async def test_a_robots_txt_that_can_not_be_had_closes_the_host(site: SiteFactory) -> None:
    server = site({"robots": {"status": 503}, **pages_of({"/": ["/a"], "/a": []})})
    crawled = await crawl_site(server.url(), {"POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0})
    assert server.paths() == []
    assert crawled.pages[server.url("/")].error == "robots: robots.txt answered 503"


@pytest.mark.parametrize(("respect", "fetched"), [("yes", ["/"]), ("no", ["/", "/quiet"])])
@deferred_f_from_coro_f
async def test_nofollow_links_are_recorded_and_followed_only_on_request(
    site: SiteFactory, respect: str, fetched: list[str]
) -> None:
    server = site(
        {
            "pages": {
                "/": {"body": '<a rel="nofollow" href="/quiet">x</a>'},
                "/quiet": {"links": []},
            }
        }
    )
    crawled = await crawl_site(server.url(), respect_nofollow=respect)
    assert sorted(server.paths()) == fetched
    assert crawled.pages[server.url("/")].links == [server.url("/quiet")]
    assert crawled.skipped() == ({server.url("/quiet"): "nofollow"} if respect == "yes" else {})


@deferred_f_from_coro_f
async def test_max_pages_is_exact(site: SiteFactory) -> None:
    server = site({"generated": {"kind": "tree", "fan": 3, "depth": 3}})
    for limit in (1, 2, 7, 20):
        crawled = await crawl_site(server.url(), max_pages=str(limit), workers="16")
        assert len(crawled.pages) == limit


@deferred_f_from_coro_f
async def test_include_and_exclude_are_patterns_on_the_url(site: SiteFactory) -> None:
    server = site(
        pages_of({"/": ["/blog/1", "/blog/2?print=1", "/shop"], "/blog/1": [], "/shop": []})
    )
    crawled = await crawl_site(server.url(), include="/blog/", exclude=r"\?print=")
    assert sorted(server.paths()) == ["/", "/blog/1"]
    assert crawled.skipped() == {
        server.url("/blog/2?print=1"): "excluded",
        server.url("/shop"): "not included",
    }


@deferred_f_from_coro_f
async def test_a_page_says_what_was_found(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {
                    "body": (
                        "<html><head><title> Fish &amp;\n chips </title>"
                        '<meta name="robots" content="noindex">'
                        '<link rel="canonical" href="/real"></head><body><a href="/a">a</a>'
                    ),
                    "headers": {"Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"},
                },
                "/a": {"links": []},
            }
        }
    )
    crawled = await crawl_site(server.url())
    page = crawled.pages[server.url("/")]
    assert page.title == "Fish & chips"
    assert page.noindex
    assert page.canonical == server.url("/real")
    assert page.last_modified == "Mon, 02 Nov 2026 10:00:00 GMT"
    assert page.content_type == "text/html"
    assert page.fetch_ms is not None
    assert page.fetched_at is not None
    assert page.fetched_at.endswith("+00:00")


class Yielding(SiteSpider):
    name = "yielding"

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield {"from": response.url}

    def process_results(self, response: Response, results: Any) -> list[Any]:
        return [{**result, "processed": True} for result in results]


@deferred_f_from_coro_f
async def test_a_spider_of_a_teams_own_may_yield_more(site: SiteFactory) -> None:
    server = site({"pages": {"/": {"links": ["/a"]}, "/a": {}}})
    crawled = await crawl_site(server.url(), {"ROBOTSTXT_OBEY": False}, spider=Yielding)
    assert server.paths() == ["/", "/a"]
    for path in ("/", "/a"):
        assert {"from": server.url(path), "processed": True} in crawled.items


@pytest.mark.parametrize(
    ("syntaxes", "types", "broken"),
    [(None, ["A", "B"], 2), ("microdata", ["B"], None), ("", [], None)],
)
@deferred_f_from_coro_f
async def test_structured_data_is_read_and_counted(
    site: SiteFactory, syntaxes: str | None, types: list[str], broken: int | None
) -> None:
    script = '<script type="application/ld+json">%s</script>'
    said = script % '{"@type": "A"}' + script % "{oops" + script % "oops"
    item = "<p itemscope itemtype=https://schema.org/B></p>"
    server = site(
        {"pages": {"/": {"body": f"{said}{item}<a href=/plain>x</a>"}, "/plain": {"body": "x"}}}
    )
    settings = {} if syntaxes is None else {"PAGES_STRUCTURED_DATA": syntaxes}
    crawled = await crawl_site(server.url(), settings)
    found = crawled.pages[server.url("/")].structured_data
    assert [item["type"] for item in found] == types
    assert crawled.pages[server.url("/plain")].structured_data == []
    assert crawled.stats.get("pages/structured_data") == (1 if types else None)
    assert crawled.stats.get("pages/structured_data_broken") == broken
