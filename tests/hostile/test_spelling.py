"""A host must not be able to answer under the name of another host.

Libraries turn Unicode host names into ASCII by different versions of IDNA: ``straße.example`` is
``xn--strae-oqa.example`` for browsers and ``strasse.example`` for IDNA 2003.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, UnsupportedURLSchemeError
from scrapy.http import Response
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.frontier.base import Lease
from crawlproject.scope.scope import Scope
from crawlproject.spiders.redirects import Redirects
from crawlproject.urls.canonical import NotCrawlable, canonicalize, host_of, wire_url
from tests.crawling import crawl_site
from tests.dns_server import Name, NameServer
from tests.fetched import fetching

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.names import Names
    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# Characters that IDNA 2003, IDNA 2008 and UTS 46 map, drop or refuse in different ways.
ODD = "ßẞςΣıİſ\u200c\u200d\u00ad\u2060。．｡①ﬁ℡Ⅷ½＠／：％ａＺ０\u0301\u0930\u06f0🦄ⓐ´·\u30fb"
# What would end the host is left out.
LETTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="#?/\\@:")
LABELS = st.text(st.sampled_from(ODD) | LETTERS, min_size=1, max_size=8)
NAMES = st.lists(
    LABELS | st.sampled_from(["example", "xn--strae-oqa"]), min_size=1, max_size=3
).map(".".join)


def canonical(url: str) -> str:
    try:
        return canonicalize(url)
    except NotCrawlable:
        assume(False)
        raise


@given(NAMES, st.sampled_from(["http", "https"]), st.sampled_from(["", ":8080"]))
def test_the_host_that_is_asked_is_the_host_that_is_recorded(
    name: str, scheme: str, port: str
) -> None:
    url = f"{scheme}://{name}{port}/a?b=1"
    recorded = canonical(url)
    assert wire_url(url) == recorded
    assert wire_url(wire_url(url)) == wire_url(url)
    # What is sent comes from here alone: no library respells it.
    assert Request(wire_url(url)).url == wire_url(url)


@given(NAMES)
def test_a_redirect_to_another_spelling_stays_on_the_host(name: str) -> None:
    url = canonical(f"http://{name}/a")
    location = f"http://{name}/a?utm_source=x#top"
    redirects = Redirects(canonicalize, Scope([url]), max_times=5, seeds_widen_scope=True)
    lease = Lease(url, url, host_of(url), 0, None)
    outcome = redirects.judge(Response(url, 302, {"Location": location.encode()}), lease)
    assert outcome.again == f"{url}?utm_source=x"


# Names, and what IDNA 2003 makes of them.
TWO_READINGS = {
    "straße.test": "strasse.test",
    "βόλος.test": "xn--nxasmq6b.test",
    "نامه\u200cای.test": "xn--mgba3gch.test",
}


@deferred_f_from_coro_f
async def test_what_a_redirect_respells_is_asked_and_recorded_at_one_host(
    site: SiteFactory,
) -> None:
    hosts = {name: host_of(canonicalize(f"http://{name}/")) for name in TWO_READINGS}
    every = [*hosts.values(), *TWO_READINGS.values()]
    assert len(set(every)) == 2 * len(hosts)

    def redirecting(name: str, port: int) -> dict[str, Any]:
        # The header has the letters themselves.
        location = f"http://{name}:{port}/?utm_source=x".encode().decode("latin-1")
        raw = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        return {"pages": {"/": {"raw": raw}, "/?utm_source=x": {"title": name}}}

    with NameServer(dict.fromkeys(every, Name("127.0.0.1"))) as names:
        server = site({"pages": {}})
        links = [server.url(host=host) for host in hosts.values()]
        server.set(
            {
                "pages": {"/": {"links": links}, "/?utm_source=x": {"title": "another host"}},
                "hosts": {host: redirecting(name, server.port) for name, host in hosts.items()},
            }
        )
        settings = {"POLITENESS_NAME_SERVERS": [names.address]}
        crawled = await crawl_site(server.url(), settings, scope="any", depth="1")
    titles = {host_of(page.url): page.title for page in crawled.pages.values() if page.depth}
    assert titles == {host: name for name, host in hosts.items()}
    asked = {entry["host"].partition(":")[0] for entry in server.log()}
    assert asked == {"127.0.0.1", *hosts.values()}
    assert names.counts().keys() == set(hosts.values())
    for host in hosts.values():
        paths = [entry["path"] for entry in server.log() if entry["host"].startswith(f"{host}:")]
        assert paths == ["/robots.txt", "/", "/?utm_source=x"]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("straße.example", "xn--strae-oqa.example"),
        ("βόλος.example", "xn--nxasmm1c.example"),
        ("نامه\u200cای.example", "xn--mgba3gch31f060k.example"),
        ("🦄.example", "xn--3s9h.example"),
        ("ＥＸＡＭＰＬＥ。example", "example.example"),
    ],
)
@deferred_f_from_coro_f
async def test_the_name_that_is_looked_up_is_the_one_that_is_recorded(
    name: str, asked: str, names: Names
) -> None:
    """Also for a request that a spider spelled itself and that Scrapy left as it is."""
    spelled = f"http://{name}/"
    assert host_of(canonicalize(spelled)) == asked
    verbatim = {"verbatim_url": True}
    async with fetching() as fetcher:
        for url, options in (
            (wire_url(spelled), {}),
            (spelled, {"meta": verbatim}),
            (wire_url(spelled), {"method": "POST", "body": b"x"}),
        ):
            with pytest.raises(CannotResolveHostError):
                await fetcher.get(url, **options)
    assert names.asked == [asked] * 3


@deferred_f_from_coro_f
async def test_a_url_without_a_host_is_a_failure_of_its_own() -> None:
    async with fetching() as fetcher:
        with pytest.raises(UnsupportedURLSchemeError, match="host or port is not valid"):
            await fetcher.get("http://\u00ad/\u00e4", meta={"verbatim_url": True})
