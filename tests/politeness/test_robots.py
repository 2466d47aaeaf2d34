"""robots.txt as sites serve it: RFC 9309, and what happens when it can't be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.urls.canonical import origin_of
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

NO = "User-agent: *\nDisallow: /no\n"


def requests_of(server: Site) -> list[str]:
    return [entry["path"] for entry in server.log()]


@pytest.mark.parametrize(
    ("robots", "fetched"),
    [
        ({"status": 404}, ["/", "/no"]),
        ({"status": 403}, ["/", "/no"]),
        ({"body": NO}, ["/"]),
        ({"body": "\ufeff" + NO}, ["/"]),
        ({"body": "\0\1 garbage"}, ["/", "/no"]),
        ({"body": f"{NO}\nUser-agent: crawlproject\nDisallow: /other\n"}, ["/", "/no"]),
        ({"times": {"1": {"status": 500}, "2": {"body": NO}}}, ["/"]),
    ],
    ids=range(7),
)
@deferred_f_from_coro_f
async def test_rules_apply_as_far_as_there_are_any(
    site: SiteFactory, robots: dict[str, Any], fetched: list[str]
) -> None:
    server = site({"robots": robots, "pages": {"/": {"links": ["/no"]}, "/no": {}}})
    await crawl_site(server.url())
    assert sorted(server.paths()) == fetched


@pytest.mark.parametrize(
    ("robots", "error"),
    [
        ({"status": 500}, "robots: robots.txt answered 500"),
        ({"status": 429}, "robots: robots.txt answered 429"),
        ({"hang": True}, "timeout"),
        ({"drop": True}, "connection lost"),
    ],
    ids=range(4),
)
@deferred_f_from_coro_f
async def test_without_an_answer_nothing_is_fetched(
    site: SiteFactory, robots: dict[str, Any], error: str
) -> None:
    server = site({"robots": robots, "pages": {"/": {}}})
    crawled = await crawl_site(server.url(), {"DOWNLOAD_TIMEOUT": 0.3, "RETRY_TIMES": 1})
    assert requests_of(server) == ["/robots.txt", "/robots.txt"]
    assert crawled.pages[server.url("/")].error == error


@deferred_f_from_coro_f
async def test_redirects_of_robots_txt_are_followed(site: SiteFactory) -> None:
    server = site(
        {
            "robots": {"redirect": "/rules.txt"},
            "pages": {"/": {"links": ["/no"]}, "/rules.txt": {"body": NO}},
        }
    )
    await crawl_site(server.url())
    assert requests_of(server) == ["/robots.txt", "/rules.txt", "/"]


@deferred_f_from_coro_f
async def test_a_redirect_to_another_host_takes_its_turn_there(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    rules = server.url("/robots.txt", host="127.0.1.1")
    hosts = [f"127.0.1.{number}" for number in range(1, 6)]
    pages = {"/": {"links": ["/no", "/a"]}, "/a": {}, "/no": {}}
    server.set(
        {
            "hosts": {
                host: {"robots": NO if host == "127.0.1.1" else {"redirect": rules}, "pages": pages}
                for host in hosts
            }
        }
    )
    seeds = " ".join(server.url("/", host=host) for host in hosts)
    crawled = await crawl_site(seeds, delay="0.1", workers="16")
    assert len(crawled.pages) == 3 * len(hosts)
    assert not any(path == "/no" for path in server.paths())
    for host in hosts:
        assert min(server.gaps(host)) >= 0.1


@deferred_f_from_coro_f
async def test_two_hosts_that_wait_for_each_other_do_not_wait_for_ever(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    one, two = server.url("/", host="127.0.1.1"), server.url("/", host="127.0.1.2")
    robots = {"127.0.1.1": two + "robots.txt", "127.0.1.2": one + "robots.txt"}
    hosts = {
        host: {"robots": {"redirect": to, "delay": 0.1}, "pages": {"/": {}}}
        for host, to in robots.items()
    }
    server.set({"hosts": hosts})
    settings = {"DOWNLOAD_TIMEOUT": 0.5, "RETRY_TIMES": 0}
    crawled = await crawl_site(f"{one} {two}", settings, delay="0.05")
    assert len(crawled.pages) == 2


@deferred_f_from_coro_f
async def test_a_redirect_into_a_private_network_is_not_followed(
    site: SiteFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    secret = server.url("/secret", host="127.0.0.2")
    server.set({"robots": {"redirect": secret}, "pages": {"/": {}, "/secret": {}}})
    # Here every server is on loopback, so let one of them pass for a public one.
    for name in (
        "crawlproject.scope.scope.is_internal",
        "crawlproject.politeness.robots.is_internal",
        "crawlproject.scope.resolver.is_internal_address",
    ):
        monkeypatch.setattr(name, lambda host: host == "127.0.0.2")
    crawled = await crawl_site(server.url(), {"RETRY_TIMES": 0})
    error = crawled.pages[server.url("/")].error
    assert error == "robots: robots.txt redirects to an internal address"
    assert "/secret" not in requests_of(server)


@deferred_f_from_coro_f
async def test_it_is_asked_once_however_many_pages_wait_for_it(site: SiteFactory) -> None:
    server = site({"robots": {"body": NO, "delay": 0.1}, "pages": {}})
    seeds = " ".join(server.url(f"/{number}") for number in range(8))
    await crawl_site(seeds, concurrency="8")
    assert requests_of(server).count("/robots.txt") == 1
    assert requests_of(server)[0] == "/robots.txt"


@deferred_f_from_coro_f
async def test_it_is_not_asked_when_it_is_not_obeyed(site: SiteFactory) -> None:
    server = site({"robots": NO, "pages": {"/": {"links": ["/no"]}, "/no": {}}})
    await crawl_site(server.url(), {"ROBOTSTXT_OBEY": False})
    assert requests_of(server) == ["/", "/no"]


@deferred_f_from_coro_f
async def test_a_crawl_delay_beyond_reason_is_cut_with_a_warning(
    site: SiteFactory, caplog: pytest.LogCaptureFixture
) -> None:
    server = site({"robots": "User-agent: *\nCrawl-delay: 86400\n", "pages": {"/": {}}})
    await crawl_site(server.url(), {"POLITENESS_MAX_CRAWL_DELAY_SECONDS": 0.1})
    assert min(server.gaps()) >= 0.1
    assert "asks for a Crawl-delay of 86400 s; 0.1 s is used" in caplog.text


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://example.com/", "https://example.com"),
        ("http://example.com:8080/a/b?c", "http://example.com:8080"),
    ],
)
def test_one_robots_txt_speaks_for_an_origin(url: str, origin: str) -> None:
    assert origin_of(url) == origin
