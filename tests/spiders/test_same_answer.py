"""Same site, same answer: for any concurrency, with a server that answers when it likes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# With the fast path, and without.
pytestmark = pytest.mark.usefixtures("fastpath")

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


GOLDEN = Path(__file__).with_name("golden")


def comparable(output: Path, server: Site) -> str:
    """A sitemap without its time and with a fixed address: what must never change."""
    text = output.read_text().replace(server.url("").rstrip("/"), "http://site.example")
    return re.sub(r'"started_at": "[^"]+"', '"started_at": ""', text)


@pytest.mark.parametrize(
    ("golden", "limits", "pages"),
    [
        ("whole", {}, 118),
        ("depth-2", {"depth": "2"}, 50),
        ("depth-3", {"depth": "3"}, 113),
        ("max-pages-40", {"max_pages": "40"}, 40),
        ("depth-3-max-pages-70", {"depth": "3", "max_pages": "70"}, 70),
    ],
)
@deferred_f_from_coro_f
async def test_the_output_is_the_golden_one_for_any_concurrency(
    site: SiteFactory, tmp_path: Path, golden: str, limits: dict[str, str], pages: int
) -> None:
    server = site(SPEC)
    expected = (GOLDEN / f"{golden}.json").read_text()
    assert len(json.loads(expected)["pages"]) == pages
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
        assert comparable(output, server) == expected


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


@deferred_f_from_coro_f
async def test_a_slow_seed_that_brings_a_host_into_scope_changes_nothing_by_being_slow(
    site: SiteFactory, tmp_path: Path
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    other = server.url("/", host="127.0.0.2")
    outputs = []
    for number, delay in enumerate((0.0, 0.3)):
        server.set(
            {
                "pages": {
                    "/": {"links": ["/moved", other + "x"]},
                    "/moved": {"redirect": other + "y"},
                    "/second": {"redirect": other + "home", "delay": delay},
                    "/home": {"links": [other + "y"]},
                    "/x": {},
                    "/y": {},
                }
            }
        )
        output = tmp_path / f"{number}.json"
        seeds = f"{server.url('/')} {server.url('/second')}"
        await crawl_site(seeds, {"FEEDS": {str(output): {"format": "json"}}})
        outputs.append(comparable(output, server))
    assert outputs[0] == outputs[1]
    pages = [page["url"] for page in json.loads(outputs[0])["pages"]]
    assert sorted(pages) == sorted(
        ["http://site.example/", other + "home", other + "x", other + "y"]
    )
