"""What counts as one host, and hosts that are treated in a way of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.limits import complete_limits, limits_from
from crawlproject.frontier.opening import host_function
from crawlproject.spiders import arguments
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
    one_at_a_time = {"concurrency": 1}
    special = json.dumps(
        {"127.0.1.1": {"delay": DELAY, **one_at_a_time}, "127.0.1.2": one_at_a_time}
    )
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
    settings = {"POLITENESS_HOSTS": special, "AUTOTHROTTLE_ENABLED": False}
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
        "POLITENESS_HOSTS": {"127.0.1.2": {"delay": DELAY, "concurrency": 1}},
    }
    seeds = f"{alone(server, '127.0.1.1')} {alone(server, '127.0.1.2')}"
    crawled = await crawl_site(seeds, settings)
    assert crawled.frontier.throttle_delay("127.0.1.1") < DELAY
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
    special = {"example.com": {"delay": 0.1, "concurrency": 1}}
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
    assert limits("other.com").delay == 0.25


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        # AutoThrottle aims at one in flight; with a delay, that is all there is.
        ({}, {"delay": 0.25, "concurrency": 1, "target": 1, "is_target": True}),
        ({"DOWNLOAD_DELAY": 0}, {"concurrency": 2, "target": 1, "is_target": False}),
        ({"AUTOTHROTTLE_ENABLED": False}, {"concurrency": 2, "max_throttle": 0}),
        ({"AUTOTHROTTLE_TARGET_CONCURRENCY": 1.5}, {"concurrency": 2, "target": 1.5}),
        ({"POLITENESS_RATE": 3}, {"rate": 3}),
        ({"DOWNLOAD_DELAY_JITTER": 0.3}, {"jitter": 0.3}),
        ({"RANDOMIZE_DOWNLOAD_DELAY": True}, {"jitter": 0.5}),
        ({"DOWNLOAD_SLOTS": {"a.com": {"delay": 9}}}, {"delay": 9, "concurrency": 1}),
        ({"DOWNLOAD_SLOTS": {"a.com": {"concurrency": 8}}}, {"concurrency": 8, "target": 8}),
        ({"DOWNLOAD_SLOTS": {"a.com": {"jitter": 0.1}}}, {"jitter": 0.1, "delay": 0.25}),
        ({"DOWNLOAD_SLOTS": {"a.com": {"randomize_delay": True}}}, {"jitter": 0.5}),
        ({"DOWNLOAD_SLOTS": {"b.com": {"delay": 9}}}, {"delay": 0.25}),
        ({"POLITENESS_HOSTS": {"a.com": {"rate": 5}}}, {"rate": 5, "delay": 0, "target": 2}),
        (
            {
                "POLITENESS_HOSTS": {"a.com": {"rate": 5, "delay": 1}},
                "DOWNLOAD_SLOTS": {"a.com": {"delay": 2, "concurrency": 3}},
            },
            {"rate": 5, "delay": 1, "concurrency": 3, "target": 3},
        ),
    ],
)
def test_the_limits_of_a_host_are_those_of_the_settings(
    settings: dict[str, object], limits: dict[str, float]
) -> None:
    found = limits_from(project_settings(settings))("a.com")._asdict()
    assert {name: found[name] for name in limits} == limits


@pytest.mark.parametrize(
    ("exception", "delay"),
    [({"rate": 4}, 0.0), ({"rate": 4, "delay": 1}, 1.0), ({"delay": 2}, 2.0)],
)
def test_a_rate_of_a_single_host_has_no_delay_in_a_crawl_either(
    exception: dict[str, float], delay: float
) -> None:
    settings = project_settings({"POLITENESS_HOSTS": {"a.com": exception}})
    # It gives Scrapy's slots the limits, too.
    arguments.apply({"seed": "http://a.com/"}, settings)
    limits = limits_from(settings)("a.com")
    assert (limits.delay, limits.rate) == (delay, exception.get("rate", 0))


@pytest.mark.parametrize(
    ("priority", "target", "delay"), [("addon", 1.0, 0.25), ("project", 8.0, 0.0)]
)
def test_in_another_project_its_own_settings_are_what_the_user_has_set(
    priority: str, target: float, delay: float
) -> None:
    settings = Settings()
    for name, value in (
        ("DOWNLOAD_DELAY", 0.25),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", 2),
        ("AUTOTHROTTLE_TARGET_CONCURRENCY", 1.0),
        ("POLITENESS_RATE", 0.0),
    ):
        settings.set(name, value, "addon")
    settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 8, priority)
    settings.set("POLITENESS_RATE", 5 if priority == "project" else 0, priority)
    complete_limits(settings, "addon")
    assert settings["AUTOTHROTTLE_TARGET_CONCURRENCY"] == target
    assert settings["DOWNLOAD_DELAY"] == delay


@deferred_f_from_coro_f
async def test_a_download_slot_of_scrapy_holds_for_its_host(site: SiteFactory) -> None:
    server = site(SITE, all_loopback=True)
    slots = {"127.0.1.1": {"delay": DELAY, "concurrency": 1}, "127.0.1.2": {"concurrency": 1}}
    seeds = f"{alone(server, '127.0.1.1')} {alone(server, '127.0.1.2')}"
    crawled = await crawl_site(seeds, {"DOWNLOAD_SLOTS": slots})
    assert len(crawled.pages) == 10
    assert min(server.gaps("127.0.1.1")) >= DELAY
    assert server.max_in_flight("127.0.1.2") == 1
