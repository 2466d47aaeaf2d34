"""Which seeds are internal, and what a crawl waits for until that is known."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject.fetching.guard import Guard, RefusedAddressError, guard_of
from crawlproject.scope.scope import Scope
from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site
from tests.names import Names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]
    Public = Callable[..., None]

PUBLIC = "127.0.0.2"
INSIDE = "127.0.0.3"
OUTSIDE = "93.184.216.34"


@pytest.fixture
def server(site: SiteFactory, public: Public) -> Site:
    public(PUBLIC)
    return site({"pages": {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}}}, all_loopback=True)


async def crawl(seeds: str, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
    settings = {"AUTOTHROTTLE_ENABLED": False, "RETRY_TIMES": 0, **(settings or {})}
    return await crawl_site(seeds, settings, delay="0", **arguments)


@deferred_f_from_coro_f
async def test_an_address_as_a_seed_needs_no_lookup(server: Site, names: Names) -> None:
    await crawl(server.url())
    assert len(server.paths()) == 3
    assert names.asked == []


@deferred_f_from_coro_f
async def test_what_an_earlier_run_has_queued_waits_until_it_is_judged(
    server: Site, names: Names, tmp_path: Path
) -> None:
    names.table["shop.example"] = [PUBLIC]
    settings = {"JOBDIR": str(tmp_path / "job")}
    seed = server.url(host="shop.example")
    await crawl(seed, settings, max_pages="1")
    await crawl(seed, settings, exclude="/[ab]")
    assert server.paths() == ["/"]


@pytest.mark.parametrize("shared", [False, True])
@deferred_f_from_coro_f
async def test_an_internal_seed_is_internal_at_the_next_run(
    server: Site, names: Names, tmp_path: Path, redis_url: str, shared: bool
) -> None:
    names.table["intranet.example"] = [INSIDE]
    settings = {"REDIS_URL": redis_url} if shared else {"JOBDIR": str(tmp_path / "job")}
    seed = server.url(host="intranet.example")
    await crawl(seed, settings)
    await crawl(seed, settings, recrawl="all")
    assert sorted(server.paths()) == ["/", "/", "/a", "/a", "/b", "/b"]


@pytest.mark.parametrize("shared", [False, True])
@deferred_f_from_coro_f
async def test_a_public_seed_is_public_at_the_next_run(
    server: Site, names: Names, tmp_path: Path, redis_url: str, shared: bool
) -> None:
    names.table["shop.example"] = [PUBLIC]
    settings = {"REDIS_URL": redis_url} if shared else {"JOBDIR": str(tmp_path / "job")}
    seed = server.url(host="shop.example")
    await crawl(seed, settings)
    names.table["shop.example"] = [INSIDE]
    await crawl(seed, settings, recrawl="all")
    assert {entry["address"] for entry in server.log()} == {PUBLIC}


@deferred_f_from_coro_f
async def test_a_name_server_that_is_silent_keeps_no_other_seed_waiting(
    server: Site, names: Names
) -> None:
    """It answers when the other seed is on its way: never, if the crawl waited for it."""
    names.table["shop.example"] = [PUBLIC]
    names.silent.add("a-silent.example")

    def release(_: str) -> None:
        if names.asked.count("shop.example") == 2:
            names.silent.clear()
            names.answer.set()

    names.on_lookup = release
    seeds = [server.url(host=host) for host in ("a-silent.example", "shop.example")]
    crawled = await crawl(" ".join(seeds), {"DOWNLOAD_TIMEOUT": 60, "RETRY_TIMES": 0})
    assert crawled.pages[seeds[1]].error is None
    assert crawled.pages[seeds[0]].error == "dns"


@deferred_f_from_coro_f
async def test_a_crawl_that_waits_for_a_name_server_can_be_stopped(
    server: Site, names: Names
) -> None:
    names.silent.add("silent.example")

    class Stopping(SiteSpider):
        name = "stopping"

        async def start(self) -> AsyncIterator[Any]:
            names.on_lookup = lambda name: tasks.append(
                asyncio.ensure_future(self.crawler.stop_async())
            )
            async for output in super().start():
                yield output

    tasks: list[asyncio.Future[None]] = []
    settings = {"DOWNLOAD_TIMEOUT": 3600}
    crawled = await crawl(server.url(host="silent.example"), settings, spider=Stopping)
    assert crawled.stats["finish_reason"] == "shutdown"
    assert server.log() == []


@deferred_f_from_coro_f
async def test_nothing_is_kept_of_a_crawl_that_is_over(server: Site, names: Names) -> None:
    names.table["shop.example"] = [PUBLIC]
    crawled = await crawl(server.url(host="shop.example"))
    assert len(crawled.pages) == 3
    guard = guard_of(crawled.crawler)
    assert guard is None or "_seeds" not in vars(guard)
    assert names.closed


async def resolved(scope: Scope | None, *addresses: str) -> list[str]:
    crawler = get_crawler(Spider)
    crawler.spider = Spider("any", scope=scope)
    guard = Guard(crawler, Names({"some.example": addresses}))
    return [address for _, address in await guard.addresses("some.example")]


@deferred_f_from_coro_f
async def test_a_name_is_resolved_for_one_crawl_and_not_for_another() -> None:
    public = Scope(["https://example.com/"])
    with pytest.raises(RefusedAddressError, match=r"some\.example leads into a private network"):
        await resolved(public, "127.0.0.1", "10.0.0.1")
    assert await resolved(public, "10.0.0.1", OUTSIDE, "fd00:ec2::254") == [OUTSIDE]
    for scope in (Scope(["http://127.0.0.1/"]), None):
        assert await resolved(scope, "127.0.0.1", OUTSIDE) == ["127.0.0.1", OUTSIDE]
    with pytest.raises(OSError, match=r"some\.example has no address"):
        await resolved(public)


@deferred_f_from_coro_f
async def test_an_internal_name_that_leads_out_says_so() -> None:
    scope = Scope(["http://some.example/"])
    scope.decide("some.example", is_inside=True)
    assert await resolved(scope, "10.0.0.1", OUTSIDE) == ["10.0.0.1"]
    with pytest.raises(RefusedAddressError, match="leads out of it now"):
        await resolved(scope, OUTSIDE)
