"""Same site, same answer: for any concurrency, with a server that answers when it likes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# A mesh with redirects, dead ends and a long way round, so that answers overtake each other.
SPEC: dict[str, Any] = {
    "generated": {"kind": "mesh", "pages": 120, "links": 6, "seed": 3},
    "random_delay": [0, 0.02],
    "robots": "User-agent: *\nDisallow: /mesh/13\n",
    "pages": {
        "/mesh/5": {"redirect": "/mesh/90"},
        "/mesh/7": {"redirect": "/mesh/8"},
        "/mesh/8": {"redirect": "/mesh/7"},
        "/mesh/11": {"status": 404},
    },
}


def without_time(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    del document["started_at"]
    return document


@pytest.mark.parametrize(
    "limits",
    [{}, {"depth": "2"}, {"depth": "3"}, {"max_pages": "40"}, {"depth": "3", "max_pages": "70"}],
    ids=str,
)
@deferred_f_from_coro_f
async def test_the_output_is_the_same_for_any_concurrency(
    site: SiteFactory, tmp_path: Path, limits: dict[str, str]
) -> None:
    server = site(SPEC)
    documents = []
    for number, concurrency in enumerate(("1", "4", "16", "64")):
        # Other latencies each time.
        server.set({**SPEC, "seed": number})
        output = tmp_path / f"{concurrency}.json"
        await crawl_site(
            server.url(),
            {"FEEDS": {str(output): {"format": "json"}}},
            concurrency=concurrency,
            workers=concurrency,
            **limits,
        )
        documents.append(without_time(output))
    first = documents[0]
    assert len(first["pages"]) > 20
    for other in documents[1:]:
        assert other == first
    if "max_pages" in limits:
        assert len(first["pages"]) == int(limits["max_pages"])


@deferred_f_from_coro_f
async def test_a_shorter_way_found_late_opens_what_lies_behind_without_a_refetch(
    site: SiteFactory,
) -> None:
    # The short way to /end leads through a page that answers last.
    server = site(
        {
            "pages": {
                "/": {"links": ["/slow", "/a"]},
                "/slow": {"links": ["/end"], "delay": 0.5},
                "/a": {"links": ["/b"]},
                "/b": {"links": ["/end"]},
                "/end": {"links": ["/behind"]},
                "/behind": {"links": []},
            }
        }
    )
    crawled = await crawl_site(server.url(), depth="3")
    assert crawled.depths() == {
        server.url("/"): 0,
        server.url("/slow"): 1,
        server.url("/a"): 1,
        server.url("/b"): 2,
        server.url("/end"): 2,
        server.url("/behind"): 3,
    }
    assert sorted(server.paths()) == ["/", "/a", "/b", "/behind", "/end", "/slow"]
    assert crawled.skipped() == {}


@deferred_f_from_coro_f
async def test_max_pages_waits_for_the_slow_page_whose_links_come_first(
    site: SiteFactory,
) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/slow", "/fast"]},
                "/slow": {"links": ["/first"], "delay": 0.4},
                "/fast": {"links": ["/second", "/third"]},
            }
        }
    )
    crawled = await crawl_site(server.url(), max_pages="4")
    assert sorted(crawled.pages) == sorted(
        server.url(path) for path in ("/", "/slow", "/fast", "/first")
    )
    assert sorted(server.paths()) == ["/", "/fast", "/first", "/slow"]
