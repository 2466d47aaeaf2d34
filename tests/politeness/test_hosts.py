"""What counts as one host, and hosts that are treated in a way of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.opening import host_function, limits_from
from tests.crawling import crawl_site, project_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

DELAY = 0.1
SITE = {"generated": {"kind": "wide", "pages": 4}, "random_delay": [0.01, 0.03]}


def alone(server: Site, host: str) -> str:
    return server.url("/", host=host)


@deferred_f_from_coro_f
async def test_a_host_can_be_an_exception_though_all_of_them_are_loopback(
    site: SiteFactory,
) -> None:
    server = site(SITE, all_loopback=True)
    special = json.dumps({"127.0.1.1": {"delay": DELAY}, "127.0.1.2": {"concurrency": 1}})
    seeds = " ".join(alone(server, f"127.0.1.{number}") for number in (1, 2, 3))
    crawled = await crawl_site(seeds, {"POLITENESS_HOSTS": special})
    assert len(crawled.pages) == 15
    assert min(server.gaps("127.0.1.1")) >= DELAY
    assert server.max_in_flight("127.0.1.2") == 1
    assert server.max_in_flight("127.0.1.3") > 1


@deferred_f_from_coro_f
async def test_an_exception_may_also_be_the_faster_one(site: SiteFactory) -> None:
    server = site(SITE, all_loopback=True)
    special = {"127.0.1.1": {"delay": 0, "concurrency": 3}}
    seeds = f"{alone(server, '127.0.1.1')} {alone(server, '127.0.1.2')}"
    settings = {"POLITENESS_HOSTS": special}
    crawled = await crawl_site(seeds, settings, delay=str(DELAY), concurrency="1")
    assert len(crawled.pages) == 10
    assert server.max_in_flight("127.0.1.1") == 3
    assert min(server.gaps("127.0.1.2")) >= DELAY


@deferred_f_from_coro_f
async def test_an_exception_never_undercuts_what_the_host_asks_for(site: SiteFactory) -> None:
    server = site({**SITE, "robots": f"User-agent: *\nCrawl-delay: {DELAY}\n"})
    settings = {"POLITENESS_HOSTS": {"127.0.0.1": {"delay": 0, "concurrency": 9}}}
    await crawl_site(server.url(), settings)
    assert min(server.gaps()) >= DELAY


@deferred_f_from_coro_f
async def test_throttling_never_undercuts_a_delay_or_a_crawl_delay(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    pages = {"generated": {"kind": "wide", "pages": 3}}
    robots = {**pages, "robots": f"User-agent: *\nCrawl-delay: {DELAY}\n"}
    server.set({"hosts": {"127.0.1.1": robots}, **pages})
    settings = {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0.01,
        "POLITENESS_HOSTS": {"127.0.1.2": {"delay": DELAY}},
    }
    seeds = f"{alone(server, '127.0.1.1')} {alone(server, '127.0.1.2')}"
    crawled = await crawl_site(seeds, settings)
    assert crawled.frontier.pace("127.0.1.1") < DELAY
    assert min(server.gaps("127.0.1.1")) >= DELAY
    assert min(server.gaps("127.0.1.2")) >= DELAY


@deferred_f_from_coro_f
async def test_the_hosts_of_a_domain_are_one_if_the_domain_is_the_unit(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Names under one domain would not lead here; so let these addresses pass for such.
    for room in ("frontier.opening", "spiders.arguments"):
        monkeypatch.setattr(
            f"crawlproject.{room}.registered_domain",
            lambda host: "example.com" if host.startswith("127.0.1.") else host,
        )
    server = site({"pages": {}}, all_loopback=True)
    rules = server.url("/rules.txt", host="127.0.1.2")
    pages = {"/": {"links": ["/a", "/moved"]}, "/a": {}, "/rules.txt": {"body": ""}}
    pages["/moved"] = {"redirect": server.url("/a", host="127.0.1.3")}
    server.set(
        {
            "hosts": {"127.0.1.1": {"robots": {"redirect": rules}, "pages": pages}},
            "pages": {"/": {"links": ["/a"]}, "/a": {}, "/rules.txt": {"body": ""}},
        }
    )
    special = {"example.com": {"delay": 0.1}}
    settings = {"POLITENESS_HOST": "domain", "POLITENESS_HOSTS": special}
    seeds = " ".join(alone(server, f"127.0.1.{number}") for number in (1, 2, 3))
    crawled = await crawl_site(seeds, settings)
    assert {page.error for page in crawled.pages.values()} == {None}
    # Three robots.txt and one elsewhere, three seeds, three pages and the one that redirects.
    assert len(server.log()) == 11
    assert min(server.gaps()) >= 0.1


@pytest.mark.parametrize(
    ("unit", "host"), [("hostname", "www.example.co.uk"), ("domain", "example.co.uk")]
)
def test_an_exception_counts_for_what_is_one_host(unit: str, host: str) -> None:
    settings = project_settings({"POLITENESS_HOST": unit, "POLITENESS_HOSTS": {host: {"delay": 7}}})
    limits, host_of = limits_from(settings), host_function(settings)
    assert host_of("https://www.example.co.uk:8443/a") == host
    assert limits(host).delay == 7
    assert limits(host).concurrency == limits("other.com").concurrency == 2
    assert limits("other.com").delay == 0.25
