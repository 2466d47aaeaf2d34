"""robots.txt as sites serve it: RFC 9309, and what happens when it can't be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from crawlproject.urls.canonical import origin_of
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.http import Response

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


NO_PATIENCE = {"POLITENESS_ROBOTS_UNREACHABLE_SECONDS": 0}


@pytest.mark.parametrize(
    ("robots", "error", "attempts"),
    [
        ({"status": 500}, "robots: robots.txt answered 500", 1),
        ({"status": 429}, "robots: robots.txt answered 429", 1),
        # A host that never answers is tried as often as a page.
        ({"hang": True}, "timeout", 3),
        ({"drop": True}, "connection lost", 3),
    ],
    ids=range(4),
)
@deferred_f_from_coro_f
async def test_without_an_answer_nothing_is_fetched(
    site: SiteFactory, robots: dict[str, Any], error: str, attempts: int
) -> None:
    server = site({"robots": robots, "pages": {"/": {}}})
    crawled = await crawl_site(server.url(), {**NO_PATIENCE, "DOWNLOAD_TIMEOUT": 0.5})
    assert requests_of(server) == attempts * ["/robots.txt"]
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
    pages = {"/": {"links": ["/no"]}, "/rules": {"body": NO}}
    server.set(
        {
            "hosts": {
                host: {
                    "robots": {"redirect": server.url("/rules", host=other), "delay": 0.05},
                    "pages": pages,
                }
                for host, other in (("127.0.1.1", "127.0.1.2"), ("127.0.1.2", "127.0.1.1"))
            }
        }
    )
    seeds = " ".join(server.url("/", host=f"127.0.1.{number}") for number in (1, 2))
    await crawl_site(seeds, delay="0.02")
    assert sorted(server.paths()) == ["/", "/", "/rules", "/rules"]


@pytest.mark.parametrize(("redirects", "fetched"), [(5, ["/"]), (6, ["/", "/no"])])
@deferred_f_from_coro_f
async def test_more_than_five_redirects_count_as_no_robots_txt(
    site: SiteFactory, redirects: int, fetched: list[str]
) -> None:
    chain = {f"/{number}": {"redirect": f"/{number + 1}"} for number in range(1, redirects)}
    pages = {"/": {"links": ["/no"]}, "/no": {}, f"/{redirects}": {"body": NO}, **chain}
    server = site({"robots": {"redirect": "/1"}, "pages": pages})
    await crawl_site(server.url(), delay="0.05")
    assert [path for path in server.paths() if path in {"/", "/no"}] == fetched
    assert len(server.paths()) == 5 + len(fetched)
    assert min(server.gaps()) >= 0.05


@deferred_f_from_coro_f
async def test_a_redirect_into_a_private_network_is_not_followed(
    site: SiteFactory, public: Callable[..., None]
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    secret = server.url("/secret", host="127.0.0.2")
    server.set({"robots": {"redirect": secret}, "pages": {"/": {}, "/secret": {}}})
    # Here every server is on loopback, so let one of them pass for a public one.
    public("127.0.0.1")
    crawled = await crawl_site(server.url())
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


@deferred_f_from_coro_f
async def test_its_urls_wait_until_it_can_be_had(site: SiteFactory) -> None:
    robots = {"times": {"1": {"status": 503}, "2": {"drop": True}}, "body": NO}
    server = site({"robots": robots, "pages": {"/": {"links": ["/a", "/no"]}, "/a": {}}})
    crawled = await crawl_site(server.url(), {"FRONTIER_RETRY_BACKOFF_SECONDS": 0.1})
    assert requests_of(server) == [*3 * ["/robots.txt"], "/", "/a"]
    for gap, least in zip(server.gaps(), (0.1, 0.2), strict=False):
        assert gap >= least
    assert crawled.frontier.counts().failed == 0


@deferred_f_from_coro_f
async def test_it_says_itself_when_to_ask_again(site: SiteFactory) -> None:
    busy = {"status": 500, "headers": {"Retry-After": "0.3"}}
    server = site({"robots": {"times": {"1": busy}, "body": ""}, "pages": {"/": {}}})
    await crawl_site(server.url())
    assert server.gaps()[0] >= 0.3


@pytest.mark.parametrize(
    ("robots", "rule", "attempts"),
    [({"status": 500}, "robots.txt answered 500", 1), ({"drop": True}, "connection lost", 3)],
    ids=range(2),
)
@deferred_f_from_coro_f
async def test_urls_whose_robots_txt_was_given_up_are_accounted_for(
    site: SiteFactory, robots: dict[str, Any], rule: str, attempts: int
) -> None:
    server = site({"pages": {}}, all_loopback=True)
    closed = [server.url(path, host="127.0.1.2") for path in ("/a", "/b")]
    late = server.url("/late", host="127.0.1.2")
    pages = {"/": {"links": [*closed, "/slow"]}, "/slow": {"links": [late], "delay": 0.3}}
    hosts = {"127.0.1.1": {"pages": pages}, "127.0.1.2": {"robots": robots, "pages": {}}}
    server.set({"hosts": hosts})
    crawled = await crawl_site(server.url("/", host="127.0.1.1"), NO_PATIENCE, scope="any")
    skips = {skip.url: (skip.reason, skip.rule) for skip in crawled.frontier.skips()}
    assert skips == dict.fromkeys([*closed, late], ("robots unreachable", rule))
    # What is found later asks no more.
    assert requests_of(server).count("/robots.txt") == 1 + attempts
    assert sorted(server.paths()) == ["/", "/slow"]
    assert crawled.stats["robotstxt/unreachable"] == 1


@deferred_f_from_coro_f
async def test_what_it_denies_is_skipped_and_still_a_page(site: SiteFactory) -> None:
    server = site({"robots": NO, "pages": {"/": {"links": ["/no"]}}})
    crawled = await crawl_site(server.url())
    assert crawled.skipped() == {server.url("/no"): "robots"}
    assert [skip.rule for skip in crawled.frontier.skips()] == [server.url("/robots.txt")]
    assert crawled.pages[server.url("/no")].error == "robots"


@deferred_f_from_coro_f
async def test_a_new_rule_counts_for_all_that_is_fetched_from_then_on(site: SiteFactory) -> None:
    robots = {"times": {"1": {"body": ""}}, "body": f"{NO}Crawl-delay: 0.15\n"}
    pages = {"/": {"links": ["/a", "/b", "/no"], "delay": 0.15}, "/a": {}, "/b": {}}
    server = site({"robots": robots, "pages": pages})
    settings = {"POLITENESS_ROBOTS_MAX_AGE_SECONDS": 0.1}
    crawled = await crawl_site(server.url(), settings)
    assert sorted(set(server.paths())) == ["/", "/a", "/b"]
    assert crawled.pages[server.url("/no")].error == "robots"
    # The delay that it asks for now is longer than it is kept, and yet there is an end.
    second = requests_of(server).index("/robots.txt", 1)
    assert min(server.gaps()[second:]) >= 0.15


@deferred_f_from_coro_f
async def test_a_robots_txt_without_end_is_as_good_as_its_beginning(site: SiteFactory) -> None:
    body = f"{NO}# and so on\n" * 10
    robots = {"body": body, "endless": True}
    server = site({"robots": robots, "pages": {"/": {"links": ["/no"]}, "/no": {}}})
    settings = {"POLITENESS_ROBOTS_MAX_BYTES": 100_000, "DOWNLOAD_TIMEOUT": 20}
    crawled = await crawl_site(server.url(), settings)
    assert requests_of(server) == ["/robots.txt", "/"]
    kept = crawled.frontier.robots_of(server.url("").rstrip("/"))
    assert kept is not None
    assert kept.body is not None
    assert 99_000 < len(kept.body) <= 100_000


@deferred_f_from_coro_f
async def test_the_target_of_a_redirect_has_its_own_robots_txt_and_gate(site: SiteFactory) -> None:
    server = site({"pages": {}}, all_loopback=True)
    there = [server.url(path, host="127.0.1.2") for path in ("/yes", "/no")]
    pages = {
        "/": {"links": ["/1", "/2"]},
        "/1": {"redirect": there[0]},
        "/2": {"redirect": there[1]},
    }
    other = {"robots": f"{NO}Crawl-delay: 0.15\n", "pages": {"/yes": {}, "/no": {}}}
    server.set({"hosts": {"127.0.1.1": {"pages": pages}, "127.0.1.2": other}})
    crawled = await crawl_site(server.url("/", host="127.0.1.1"), scope="any")
    assert sorted(server.paths()) == ["/", "/1", "/2", "/yes"]
    assert crawled.pages[there[1]].error == "robots"
    assert min(server.gaps("127.0.1.2")) >= 0.15


@deferred_f_from_coro_f
async def test_a_question_of_several_urls_is_one_request(site: SiteFactory) -> None:
    pages = {"/": {"links": [f"/{number}" for number in range(8)], "delay": 0.15}}
    robots = {"times": {"1": {"body": ""}}, "body": "User-agent: *\nDisallow: /\n", "delay": 0.1}
    server = site({"robots": robots, "pages": pages})
    settings = {"POLITENESS_ROBOTS_MAX_AGE_SECONDS": 0.05, "DOWNLOAD_DELAY": 0}
    crawled = await crawl_site(server.url(), settings, concurrency="8")
    assert len(crawled.pages) == 9
    assert crawled.stats["robotstxt/forbidden"] == 8
    (requests,) = crawled.frontier.read().database.execute("SELECT requests FROM hosts").fetchone()
    assert requests == len(server.log()) == 3


class PostSpider(SiteSpider):
    """Makes a request of its own, that is no plain GET."""

    name = "post"

    async def start(self) -> AsyncIterator[Any]:
        for path in ("form", "no"):
            yield Request(f"{self.seeds[0]}{path}", method="POST", callback=self.answered)

    def answered(self, response: Response) -> None:
        pass


@deferred_f_from_coro_f
async def test_a_spiders_own_requests_ask_too(site: SiteFactory) -> None:
    server = site({"robots": NO, "pages": {"/form": {}, "/no": {}}})
    await crawl_site(server.url(), spider=PostSpider)
    assert requests_of(server) == ["/robots.txt", "/form"]
