"""Compressed answers on the wire: whole, cut short, broken."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections import Counter
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from backports import zstd
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

HTML = b"<title>T</title><a href=/next>next</a>" + b"".join(b"<p>%d" % n for n in range(2_000))


def packed(body: bytes, encoding: str, **fields: Any) -> dict[str, Any]:
    headers = {"Content-Encoding": encoding, **fields.pop("headers", {})}
    return {"body_base64": b64encode(body).decode(), "headers": headers, **fields}


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (HTML, "identity"),
        (HTML, "none"),
        (HTML, "UTF-8"),
        (HTML, "text/html"),
        (gzip.compress(HTML), "gzip"),
        (gzip.compress(HTML), "GZIP"),
        (brotli.compress(HTML), "br"),
        (zstd.compress(HTML), "zstd"),
        (brotli.compress(HTML) + b"<!-- stored in a cache -->", "br"),
        (zstd.compress(HTML) + b"<!-- stored in a cache -->", "zstd"),
        (brotli.compress(gzip.compress(HTML)), "gzip, br"),
    ],
)
@deferred_f_from_coro_f
async def test_a_compressed_page_is_read_like_any_other(
    site: SiteFactory, body: bytes, encoding: str
) -> None:
    server = site({"pages": {"/": packed(body, encoding), "/next": {}}})
    crawled = await crawl_site(server.url())
    page = crawled.pages[server.url()]
    assert (page.error, page.title, page.bytes) == (None, "T", len(HTML))
    assert page.links == [server.url("/next")]
    accepted = {entry["headers"]["accept-encoding"] for entry in server.log()}
    assert accepted == {"gzip, deflate, br, zstd"}


@pytest.mark.parametrize(
    ("compress", "encoding"),
    [(gzip.compress, "gzip"), (brotli.compress, "br"), (zstd.compress, "zstd")],
)
@deferred_f_from_coro_f
async def test_a_body_that_ends_too_soon_is_fetched_again(
    site: SiteFactory, compress: Callable[[bytes], bytes], encoding: str
) -> None:
    # The connection's end ends the body: nothing else says that half of it is missing.
    cut = compress(HTML)[:1000].decode("latin-1")
    head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n"
    whole = packed(compress(HTML), encoding)
    server = site({"pages": {"/": whole | {"times": {"1": {"raw": head + cut}}}, "/next": {}}})
    crawled = await crawl_site(server.url())
    assert crawled.pages[server.url()].error is None
    assert Counter(server.paths()) == {"/": 2, "/next": 1}
    assert crawled.stats["retry/reason_count/truncated"] == 1


@deferred_f_from_coro_f
async def test_what_is_cut_short_every_time_is_truncated(site: SiteFactory) -> None:
    server = site({"pages": {"/": packed(gzip.compress(HTML)[:1000], "gzip")}})
    crawled = await crawl_site(server.url(), {"RETRY_TIMES": 2})
    assert crawled.pages[server.url()].error == "truncated"
    assert server.paths() == ["/"] * 3
    crawled = await crawl_site(server.url(), {"RETRY_ENABLED": False})
    assert crawled.pages[server.url()].error == "truncated"
    assert server.paths() == ["/"] * 4


@deferred_f_from_coro_f
async def test_who_wants_what_there_is_gets_it(site: SiteFactory) -> None:
    server = site({"pages": {"/": packed(gzip.compress(HTML)[:1000], "gzip"), "/next": {}}})
    crawled = await crawl_site(server.url(), {"DOWNLOAD_FAIL_ON_DATALOSS": False})
    page = crawled.pages[server.url()]
    assert (page.error, page.title, page.links) == (None, "T", [server.url("/next")])


@pytest.mark.parametrize(
    ("body", "encoding", "error"),
    [
        (HTML, "gzip", "unreadable: bad gzip"),
        (HTML, "br", "unreadable: bad br"),
        (HTML, "zstd", "unreadable: bad zstd"),
        (HTML, "deflate", "unreadable: bad deflate"),
        (HTML, "compress", "unreadable: encoding 'compress'"),
        (HTML, "bzip2, gzip, none", "unreadable: bad gzip"),
        (gzip.compress(HTML), "bzip2, gzip, none", "unreadable: encoding 'bzip2'"),
        (HTML, ", ".join(["gzip"] * 1000), "unreadable: 1000 encodings"),
    ],
)
@deferred_f_from_coro_f
async def test_what_can_not_be_unpacked_says_so(
    site: SiteFactory, body: bytes, encoding: str, error: str
) -> None:
    server = site({"pages": {"/": {"links": ["/odd", "/fine"]}, "/odd": packed(body, encoding)}})
    crawled = await crawl_site(server.url())
    assert crawled.pages[server.url("/odd")].error == error
    # It would be the same again.
    assert server.paths().count("/odd") == 1
    assert server.url("/fine") in crawled.pages


@deferred_f_from_coro_f
async def test_an_answer_that_is_no_page_counts_by_its_status(site: SiteFactory) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/gone", "/moved"]},
                "/gone": packed(HTML, "gzip", status=404),
                "/moved": packed(HTML, "gzip", status=301, headers={"Location": "/target"}),
                "/target": {},
            }
        }
    )
    crawled = await crawl_site(server.url())
    assert crawled.pages[server.url("/gone")].error == "unexpected status 404"
    assert crawled.pages[server.url("/target")].error is None


@deferred_f_from_coro_f
async def test_a_robots_txt_that_is_cut_at_its_limit_is_read_up_to_there(site: SiteFactory) -> None:
    rules = b"User-agent: *\nDisallow: /no\n" + b"".join(
        b"Disallow: /%d/%d\n" % (number, number * number) for number in range(50_000)
    )
    robots = packed(gzip.compress(rules), "gzip", content_type="text/plain")
    server = site({"robots": robots, "pages": {"/": {"links": ["/no", "/yes"]}, "/yes": {}}})
    crawled = await crawl_site(server.url(), {"POLITENESS_ROBOTS_MAX_BYTES": 100_000})
    assert sorted(server.paths()) == ["/", "/yes"]
    assert crawled.pages[server.url("/no")].error == "robots"
