"""Name servers that answer late, never, wrongly or too much: the price is their own hosts'."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import State
from tests.crawling import crawl_site, scrapy
from tests.dns_server import SERVFAIL, SILENT, Name, NameServer
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.crawler import Crawler

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# Nobody waits for this long: what a test waits for comes before.
NEVER = 600


def address(number: int) -> str:
    return f"127.3.{1 + number // 250}.{1 + number % 250}"


def hosts_asked(site: Site) -> set[str]:
    return {entry["host"].partition(":")[0] for entry in site.log()}


def pages_asked(site: Site) -> Counter[str]:
    entries = site.log()
    return Counter(e["host"].partition(":")[0] for e in entries if e["path"] != "/robots.txt")


@asynccontextmanager
async def released_when(server: NameServer, condition: Callable[[], bool]) -> AsyncIterator[None]:
    """Silent names stay so until the condition holds, and get an answer then."""

    async def release() -> None:
        while not condition():
            await asyncio.sleep(0.2)
        server.release()

    releasing = asyncio.create_task(release())
    yield
    releasing.cancel()


def seeds(tmp_path: Path, site: Site, names: list[str]) -> dict[str, str]:
    file = tmp_path / "seeds.txt"
    file.write_text("".join(f"http://{name}:{site.port}/\n" for name in names))
    return {"seeds_file": str(file)}


@deferred_f_from_coro_f
async def test_a_thousand_silent_names_do_not_keep_a_thousand_others_waiting(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    good = {f"good{number}.test": Name(address(number)) for number in range(1000)}
    silent = [f"silent{number}.test" for number in range(1000)]
    # A silent one before each good one.
    order = [name for pair in zip(silent, good, strict=True) for name in pair]
    fetched = 0

    def all_good_are_fetched() -> bool:
        nonlocal fetched
        fetched = sum(pages_asked(web).values())
        return fetched == len(good)

    with NameServer({**good, **dict.fromkeys(silent, SILENT)}) as server:
        waiting: set[str] = set()

        def are_fetched() -> bool:
            is_time = all_good_are_fetched()
            if is_time:
                waiting.update(server.waiting)
            return is_time

        async with released_when(server, are_fetched):
            crawled = await crawl_site(
                "",
                {
                    "POLITENESS_NAME_SERVERS": [server.address],
                    "POLITENESS_ROBOTS_ATTEMPTS": 1,
                    "DNS_TIMEOUT": NEVER,
                    "DOWNLOAD_TIMEOUT": 30,
                },
                **seeds(tmp_path, web, order),
            )
    # No lookup had ended that was not answered, and yet all others were fetched.
    assert len(waiting) > 900
    assert pages_asked(web) == Counter(dict.fromkeys(good, 1))
    errors = {page.url: page.error for page in crawled.pages.values()}
    assert Counter(errors.values()) == {None: 1000, "dns": 1000}
    assert "dns/failed/timed_out" not in crawled.stats
    assert crawled.stats["dns/lookups"] == 2000
