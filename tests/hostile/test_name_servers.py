"""Name servers that answer late, never, wrongly or too much: the price is their own hosts'."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadTimeoutError
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.urls.canonical import host_of
from tests.crawling import crawl_site, scrapy
from tests.dns_server import SERVFAIL, SILENT, Name, NameServer
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
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
async def released_when(
    server: NameServer, condition: Callable[[], bool]
) -> AsyncIterator[set[str]]:
    """Silent names stay so until the condition holds, and get an answer then.

    Gives the names that were waiting at that moment.
    """
    waiting: set[str] = set()

    async def release() -> None:
        await until(condition, pause=0.2, patience=NEVER)
        waiting.update(server.waiting)
        server.release()

    releasing = asyncio.create_task(release())
    yield waiting
    releasing.cancel()


def seeds(tmp_path: Path, site: Site, names: Iterable[str]) -> dict[str, str]:
    file = tmp_path / "seeds.txt"
    file.write_text("".join(f"http://{name}:{site.port}/\n" for name in names))
    return {"seed": "", "seeds_file": str(file)}


def asking(server: NameServer, **more: Any) -> dict[str, Any]:
    return {
        "POLITENESS_NAME_SERVERS": [server.address],
        "RETRY_TIMES": 0,
        "DNS_TIMEOUT": NEVER,
        # For which the crawl waits to know whether all seeds are internal.
        "DOWNLOAD_TIMEOUT": 10,
        **more,
    }


@deferred_f_from_coro_f
async def test_a_thousand_silent_names_keep_nobody_waiting(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    good = {f"good{number}.test": Name(address(number)) for number in range(1000)}
    silent = [f"silent{number}.test" for number in range(1000)]
    # A silent one before each good one.
    order = [name for pair in zip(silent, good, strict=True) for name in pair]
    with NameServer({**good, **dict.fromkeys(silent, SILENT)}) as server:
        async with released_when(server, lambda: len(pages_asked(web)) == 1000) as waiting:
            crawled = await crawl_site(settings=asking(server), **seeds(tmp_path, web, order))
    # None of those lookups had ended when the last of the good hosts was fetched.
    assert len(waiting) > 900
    assert pages_asked(web) == Counter(dict.fromkeys(good, 1))
    assert Counter(page.error for page in crawled.pages.values()) == {None: 1000, "dns": 1000}
    assert crawled.stats["dns/lookups"] == 2000
    assert crawled.stats["dns/failed/no_such_name"] == 1000


@deferred_f_from_coro_f
async def test_a_lookup_that_times_out_is_the_failure_of_its_host(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    zone = {
        "good.test": Name(address(1)),
        "silent.test": SILENT,
        "broken.test": Name(rcode=SERVFAIL),
        "gone.test": Name(rcode=3),
    }
    with NameServer(zone) as server:
        crawled = await crawl_site(
            settings=asking(server, DNS_TIMEOUT=0.3), **seeds(tmp_path, web, zone)
        )
    assert {host_of(url): page.error for url, page in crawled.pages.items()} == {
        "good.test": None,
        "silent.test": "dns: timed out",
        "broken.test": "dns: server failure",
        "gone.test": "dns",
    }


@deferred_f_from_coro_f
async def test_a_robots_txt_that_redirects_to_a_silent_name_takes_no_place(
    site: SiteFactory, tmp_path: Path
) -> None:
    traps = [f"trap{number}.test" for number in range(20)]
    web = site(
        {
            "pages": {"/": {}},
            "hosts": {trap: {"robots": {"redirect": f"http://silent-{trap}/"}} for trap in traps},
        },
        all_loopback=True,
    )
    zone = {trap: Name(address(number)) for number, trap in enumerate(traps)}
    zone |= {f"silent-{trap}": SILENT for trap in traps}
    zone["good.test"] = Name(address(999))
    with NameServer(zone) as server:

        def is_fetched() -> bool:
            return len(server.waiting) == 20 and "good.test" in pages_asked(web)

        async with released_when(server, is_fetched):
            crawled = await crawl_site(
                settings=asking(server, CONCURRENT_REQUESTS=2),
                **seeds(tmp_path, web, [*traps, "good.test"]),
            )
    assert Counter(page.error for page in crawled.pages.values())[None] == 1
    # All waited at once.
    assert "dns/failed/timed_out" not in crawled.stats


class Curious:
    """A team's own pipeline that fetches something for each item."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Curious:
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        host = f"silent-{host_of(item.url)}"
        with suppress(CannotResolveHostError):
            request = Request(f"http://{host}/", callback=NO_CALLBACK)
            await self._crawler.engine.download_async(request)
        return item


@deferred_f_from_coro_f
async def test_requests_of_a_pipeline_to_silent_names_take_no_place(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    good = {f"good{number}.test": Name(address(number)) for number in range(20)}
    with NameServer({**good, **{f"silent-{name}": SILENT for name in good}}) as server:
        async with released_when(server, lambda: len(server.waiting) == 20):
            crawled = await crawl_site(
                settings=asking(server, CONCURRENT_REQUESTS=2, ITEM_PIPELINES={Curious: 500}),
                **seeds(tmp_path, web, good),
            )
    assert Counter(page.error for page in crawled.pages.values()) == {None: 20}
    # All waited at once.
    assert "dns/failed/timed_out" not in crawled.stats


class Hurried(Curious):
    async def process_item(self, item: Any) -> Any:
        meta = {"download_timeout": 0.1}
        request = Request("http://silent.test/", callback=NO_CALLBACK, meta=meta)
        with pytest.raises(
            DownloadTimeoutError, match=r"lookup of silent\.test took longer than 0"
        ):
            await self._crawler.engine.download_async(request)
        return item


@deferred_f_from_coro_f
async def test_a_lookup_takes_no_longer_than_its_request_may(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    with NameServer({"good.test": Name(address(1)), "silent.test": SILENT}) as server:
        crawled = await crawl_site(
            settings=asking(server, ITEM_PIPELINES={Hurried: 500}),
            **seeds(tmp_path, web, ["good.test"]),
        )
    # What the pipeline expects came true, or the item would have been lost.
    assert [page.error for page in crawled.pages.values()] == [None]


@deferred_f_from_coro_f
async def test_more_names_than_may_be_looked_up_wait_and_are_not_lost(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    good = {f"good{number}.test": Name(address(number)) for number in range(5)}
    silent = [f"silent{number}.test" for number in range(20)]
    # Links, not seeds: these are looked up before the crawl begins.
    links = [f"http://{name}:{web.port}/" for name in [*silent, *good]]
    web.set({"pages": {"/": {"links": links}}})
    with NameServer({**good, **dict.fromkeys(silent, SILENT)}) as server:
        crawled = await crawl_site(
            settings=asking(server, DNS_TIMEOUT=0.2, POLITENESS_MAX_LOOKUPS=3),
            scope="any",
            **seeds(tmp_path, web, ["good0.test"]),
        )
    assert crawled.stats["dns/put_off"] > 0
    errors = Counter(page.error for page in crawled.pages.values())
    assert errors == {None: 5, "dns: timed out": 20}


@deferred_f_from_coro_f
async def test_the_time_of_a_crawl_ends_it_whatever_it_waits_for(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    with NameServer({"silent.test": SILENT}) as server:
        crawled = await crawl_site(
            settings=asking(server), timeout="1", **seeds(tmp_path, web, ["silent.test"])
        )
    assert crawled.stats["finish_reason"] == "closespider_timeout"
    # It is not a failure of the host.
    assert crawled.pages == {}
    assert crawled.frontier.counts().queued == 1


@deferred_f_from_coro_f
async def test_names_that_only_a_proxy_knows_are_asked_of_it(
    site: SiteFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = site({"pages": {"/": {}}})
    monkeypatch.setenv("http_proxy", web.url("").rstrip("/"))
    with NameServer({}) as server:
        await crawl_site(settings=asking(server), **seeds(tmp_path, web, ["good.test"]))
    assert hosts_asked(web) == {"good.test"}


@deferred_f_from_coro_f
async def test_crawls_at_the_same_time_have_name_servers_of_their_own(site: SiteFactory) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    zones = [{"same.test": Name(address(number))} for number in range(3)]
    with ExitStack() as stack:
        servers = [stack.enter_context(NameServer(zone)) for zone in zones]
        seed = f"http://same.test:{web.port}/"
        crawls = await asyncio.gather(
            *(crawl_site(seed, asking(server)) for server in servers),
        )
    assert [page.error for crawl in crawls for page in crawl.pages.values()] == [None] * 3


def test_a_command_says_what_name_servers_did_and_ends_in_peace(
    site: SiteFactory, tmp_path: Path
) -> None:
    web = site({"pages": {"/": {}}}, all_loopback=True)
    with NameServer({"good.test": Name(address(1)), "silent.test": SILENT}) as server:
        done = scrapy(
            *("crawl", "site", "-a", f"seed=http://good.test:{web.port} http://silent.test"),
            *("-s", f"POLITENESS_NAME_SERVERS={server.address}", "-s", "DNS_TIMEOUT=0.3"),
            *("-s", "RETRY_TIMES=0", "-s", "MONITORING_SUMMARY=False"),
            *("-O", "pages.jsonl"),
            cwd=tmp_path,
        )
    pages = map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines())
    errors = {host_of(page["url"]): page.get("error") for page in pages}
    assert errors == {"good.test": None, "silent.test": "dns: timed out"}
    assert done.stderr == ""
