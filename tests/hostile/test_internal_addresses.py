"""Attacks by which a public site tries to get a crawl into a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests import crawling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.crawling import Crawled
    from tests.names import Names
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]
    Public = Callable[..., None]

# It stands for a public address; the others are internal, as they are.
PUBLIC = "127.0.0.2"
INSIDE = "127.0.0.3"
METADATA = "127.0.0.5"
# Each request needs a connection, and so a lookup.
CLOSE = {"headers": {"Connection": "close"}}
ONCE = {"RETRY_TIMES": 0}


async def crawl_site(seed: str, settings: dict[str, Any] | None = None, **options: Any) -> Crawled:
    # All hosts are on this machine, though not all seem to be.
    settings = {"AUTOTHROTTLE_ENABLED": False, **(settings or {})}
    return await crawling.crawl_site(seed, settings, delay="0", **options)


@pytest.fixture
def server(site: SiteFactory, public: Public) -> Site:
    public(PUBLIC)
    return site({"pages": {}}, all_loopback=True)


def addresses(server: Site) -> set[str]:
    """Those that anybody connected to."""
    return {entry["address"] for entry in server.log()}


@pytest.mark.parametrize("found", [[PUBLIC, INSIDE], [INSIDE, PUBLIC], [PUBLIC]])
@deferred_f_from_coro_f
async def test_a_public_seed_with_an_internal_address_opens_nothing(
    server: Site, names: Names, found: list[str]
) -> None:
    names.table["shop.example"] = found
    secret = server.url("/latest/meta-data", host=METADATA)
    server.set(
        {
            "robots": f"Sitemap: {secret}\n",
            "pages": {
                "/": {"links": [secret, "/away"]},
                "/away": {"redirect": secret},
                "/latest/meta-data": {},
            },
        }
    )
    settings = {"SITEMAPS_MODE": "always"}
    crawled = await crawl_site(server.url(host="shop.example"), settings, scope="any")
    assert crawled.stats["spider/seeds_fetched"] == 1
    assert "/latest/meta-data" not in server.paths()
    assert addresses(server) == {PUBLIC}
    assert crawled.skipped()[secret] == "internal address"


@deferred_f_from_coro_f
async def test_a_name_that_leads_inside_is_not_tried_again(server: Site, names: Names) -> None:
    names.table |= {"shop.example": [PUBLIC], "inside.example": [INSIDE]}
    server.set({"pages": {"/": {"links": [server.url(host="inside.example")]}}})
    crawled = await crawl_site(server.url(host="shop.example"), scope="any")
    assert addresses(server) == {PUBLIC}
    assert names.asked.count("inside.example") == 1
    assert crawled.stats["scope/refused_connections"] == 1


@deferred_f_from_coro_f
async def test_a_name_that_leads_inside_later_is_refused(server: Site, names: Names) -> None:
    """DNS rebinding: public when the crawl starts, internal when the kept answer has expired."""
    seed = server.url(host="shop.example")
    names.table["shop.example"] = [PUBLIC]

    def rebind(_: str) -> None:
        # At the start, for robots.txt, for the first page.
        if len(names.asked) == 3:
            names.table["shop.example"] = [INSIDE]

    names.on_lookup = rebind
    server.set(
        {
            "robots": {"body": "", **CLOSE},
            "pages": {"/": {"links": ["/a", "/b"], **CLOSE}, "/a": {}, "/b": {}},
        }
    )
    crawled = await crawl_site(seed)
    errors = {page.url.removeprefix(seed): page.error for page in crawled.pages.values()}
    assert errors == {"": None, "a": "internal address", "b": "internal address"}
    assert addresses(server) == {PUBLIC}
    assert crawled.stats["scope/refused_connections"] == 2


@deferred_f_from_coro_f
async def test_a_name_that_leads_inside_at_the_next_run_is_refused(
    server: Site, names: Names, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.set({"robots": {"body": "", **CLOSE}, "pages": {"/": {"links": ["/a"]}, "/a": CLOSE}})
    settings = {"JOBDIR": str(tmp_path / "job"), **ONCE}
    seed = server.url(host="shop.example")
    names.table["shop.example"] = [PUBLIC]
    await crawl_site(seed, settings)
    names.table["shop.example"] = [INSIDE]
    await crawl_site(seed, settings, recrawl="all")
    assert addresses(server) == {PUBLIC}
    assert "did not when this crawl began: it is refused" in caplog.text


@deferred_f_from_coro_f
async def test_an_internal_seed_stays_internal(server: Site, names: Names) -> None:
    """A name that opens the inside, and then brings a public site there, gains nothing."""
    seed = server.url(host="intranet.example")
    names.table["intranet.example"] = [INSIDE]
    server.set({"robots": {"body": "", **CLOSE}, "pages": {"/": {"links": ["/a"]}, "/a": {}}})

    def rebind(_: str) -> None:
        if len(names.asked) == 2:
            names.table["intranet.example"] = [PUBLIC]

    names.on_lookup = rebind
    await crawl_site(seed, ONCE)
    assert addresses(server) == {INSIDE}
    assert {entry["path"] for entry in server.log()} == {"/robots.txt"}


@deferred_f_from_coro_f
async def test_an_internal_seed_is_crawled_with_its_network(server: Site, names: Names) -> None:
    names.table.update({"intranet.example": [INSIDE, METADATA], "wiki.example": [METADATA]})
    wiki = server.url("/wiki", host="wiki.example")
    server.set({"pages": {"/": {"links": [wiki]}, "/wiki": {}}})
    await crawl_site(server.url(host="intranet.example"), scope="any")
    assert sorted(server.paths()) == ["/", "/wiki"]


@deferred_f_from_coro_f
async def test_beside_an_internal_seed_a_public_one_reaches_nothing_inside(
    server: Site, names: Names
) -> None:
    names.table.update(
        {"shop.example": [PUBLIC, METADATA], "intranet.example": [INSIDE], "evil.example": [INSIDE]}
    )
    secrets = [server.url("/secret", host=host) for host in (METADATA, "evil.example", "localhost")]
    server.set(
        {
            "robots": "".join(f"Sitemap: {secret}\n" for secret in secrets),
            "pages": {"/": {"links": ["/more", *secrets]}, "/more": {}, "/secret": {}},
        }
    )
    seeds = [server.url(host=host) for host in ("shop.example", "intranet.example")]
    crawled = await crawl_site(" ".join(seeds), {"SITEMAPS_MODE": "always", **ONCE}, scope="any")
    assert crawled.stats["spider/seeds_fetched"] == 2
    reached = {(entry["host"].partition(":")[0], entry["address"]) for entry in server.log()}
    assert reached == {("shop.example", PUBLIC), ("intranet.example", INSIDE)}
    assert "/secret" not in server.paths()


@deferred_f_from_coro_f
async def test_a_seed_that_is_not_found_is_not_internal(server: Site, names: Names) -> None:
    """Not even when it is found later."""
    names.on_lookup = lambda name: names.table.setdefault(name, [INSIDE])
    seed = server.url(host="late.example")
    crawled = await crawl_site(seed, ONCE)
    assert crawled.pages[seed].error == "internal address"
    assert server.log() == []


# What a request may say for a loopback address. Others are judged in tests/scope, where nobody
# connects.
SPELLINGS = [
    "127.0.0.5",
    "127.5",
    "127.0.5",
    "0x7f.5",
    "0x7f000005",
    "2130706437",
    "017700000005",
    "0177.0.0.05",
    "127.0.0.5.",
    "１２７.0.0.5",
    "127。0。0。5",
    "[::ffff:127.0.0.5]",
    "[::ffff:7f00:5]",
    "[::1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "evil.example",
    "EVIL.example.",
]


class Asking(SiteSpider):
    """Makes requests of its own, as a pipeline does, for addresses that no scope has judged."""

    name = "asking"
    urls: tuple[str, ...] = ()
    errors: dict[str, str]

    async def parse_with_rules(
        self, response: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        type(self).errors = {}
        for url in self.urls:
            for meta in ({}, {"verbatim_url": True}):
                try:
                    request = Request(url, callback=NO_CALLBACK, meta=meta)
                    await self.crawler.engine.download_async(request)
                except Exception as error:
                    self.errors[url] = str(error)
                else:
                    self.errors[url] = "fetched"
        async for result in super().parse_with_rules(response, *args, **kwargs):
            yield result


@deferred_f_from_coro_f
async def test_an_address_in_a_url_is_judged_when_connecting(server: Site, names: Names) -> None:
    """Whoever asks, whatever the spelling: no connection is tried."""
    names.table.update({"shop.example": [PUBLIC], "evil.example": [METADATA, "::1"]})
    # The last ones are what getaddrinfo() makes of them.
    for name in ("localhost", "localhost.", "a.localhost", "evil.example.", "0x7f.5", "0x7f000005"):
        names.table[name] = [METADATA]
    server.set({"pages": {"/": {}}})
    Asking.urls = tuple(f"http://{host}:{server.port}/" for host in SPELLINGS)
    # Otherwise the one for robots.txt is refused, and no other is tried.
    robots = {"ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(host="shop.example"), robots, spider=Asking)
    assert addresses(server) == {PUBLIC}
    assert Asking.errors.keys() == set(Asking.urls)
    assert "fetched" not in Asking.errors.values()
    literal = Asking.errors[f"http://{METADATA}:{server.port}/"]
    assert literal == f"{METADATA} leads into a private network"
    assert crawled.stats["scope/refused_connections"] > len(SPELLINGS)


@pytest.fixture
def proxied(server: Site, names: Names, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A crawl of shop.example through a proxy, which is on an internal address."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://{METADATA}:{server.port}")
    names.table["evil.example"] = [INSIDE, PUBLIC]
    inside = ["10.0.0.1", "[::1]", METADATA, "evil.example", "wiki.corp", "printer"]
    Asking.urls = (
        *(f"http://{host}/" for host in inside),
        *(f"https://{host}/" for host in inside),
        f"http://{METADATA}:{server.port}/",
    )
    server.set({"pages": {"/": {}}})
    return server


def asked_of_proxy(server: Site) -> set[tuple[str, str]]:
    assert addresses(server) <= {METADATA}
    return {(entry["method"], entry["headers"]["host"]) for entry in server.log()}


@deferred_f_from_coro_f
async def test_a_proxy_is_not_asked_for_what_is_inside(proxied: Site, names: Names) -> None:
    names.table["shop.example"] = [PUBLIC]
    crawled = await crawl_site("http://shop.example/", spider=Asking)
    assert crawled.stats["spider/seeds_fetched"] == 1
    assert asked_of_proxy(proxied) == {("GET", "shop.example")}
    assert "fetched" not in Asking.errors.values()


@deferred_f_from_coro_f
async def test_where_names_cannot_be_looked_up_a_crawl_through_a_proxy_says_so(
    proxied: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await crawl_site("http://shop.example/", spider=Asking)
    hosts = {host for _, host in asked_of_proxy(proxied)}
    # The only one that looks like a public name.
    assert hosts <= {"shop.example", "evil.example", "evil.example:443"}
    said = [r.message for r in caplog.records if "can't be looked up here" in r.message]
    assert len(said) == 1
    assert said[0].startswith("Requests go through a proxy, and shop.example can't be")


@deferred_f_from_coro_f
async def test_a_name_that_only_the_proxy_knows_is_asked_of_it(
    proxied: Site, names: Names, caplog: pytest.LogCaptureFixture
) -> None:
    names.table["shop.example"] = [PUBLIC]
    Asking.urls = ("http://elsewhere.example/", "http://printer/")
    await crawl_site("http://shop.example/", spider=Asking)
    assert asked_of_proxy(proxied) == {("GET", "shop.example"), ("GET", "elsewhere.example")}
    assert Asking.errors["http://printer/"] == "internal address"
    assert "elsewhere.example can't be looked up here" in caplog.text


@deferred_f_from_coro_f
async def test_a_host_that_needs_no_proxy_is_judged_as_without(
    proxied: Site, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "evil.example")
    names.table["shop.example"] = [PUBLIC]
    names.table["evil.example"] = [INSIDE]
    Asking.urls = (proxied.url(host="evil.example"),)
    await crawl_site("http://shop.example/", spider=Asking)
    assert asked_of_proxy(proxied) == {("GET", "shop.example")}
    assert Asking.errors == {Asking.urls[0]: "internal address"}
