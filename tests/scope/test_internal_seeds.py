"""A crawl that may not go inside does not, wherever it is led."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadArgument
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# As far as these tests are concerned, a public address: there is no other that answers.
PUBLIC = "127.0.0.2"


@pytest.fixture(autouse=True)
def public_address(public: Callable[..., None]) -> None:
    public(PUBLIC)


@deferred_f_from_coro_f
async def test_neither_a_redirect_nor_a_link_nor_robots_leads_inside(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    server.set(
        {
            "pages": {
                "/": {
                    "links": [
                        "/to-inside",
                        server.url("/secret"),
                        server.url("/secret", host="localhost"),
                    ]
                },
                "/to-inside": {"redirect": server.url("/secret")},
                "/secret": {},
            }
        }
    )
    crawled = await crawl_site(
        server.url(host=PUBLIC), {"SCOPE_INTERNAL_SEEDS": False}, scope="any"
    )
    assert {entry["path"] for entry in server.log()} == {"/robots.txt", "/", "/to-inside"}
    assert {entry["host"].split(":")[0] for entry in server.log()} == {PUBLIC}
    assert set(crawled.skipped().values()) == {"internal address"}


@deferred_f_from_coro_f
async def test_a_seed_that_redirects_inside_is_not_followed(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    server.set({"pages": {"/": {"redirect": server.url("/secret")}, "/secret": {}}})
    crawled = await crawl_site(server.url(host=PUBLIC), {"SCOPE_INTERNAL_SEEDS": False})
    assert server.paths() == ["/"]
    assert set(crawled.skipped().values()) == {"internal address"}


@deferred_f_from_coro_f
async def test_an_internal_seed_is_refused_where_none_may_be() -> None:
    with pytest.raises(BadArgument, match="is an internal address: only public ones"):
        await crawl_site("http://127.0.0.1:1/", {"SCOPE_INTERNAL_SEEDS": False})
