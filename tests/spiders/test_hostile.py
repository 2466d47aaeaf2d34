"""What a hostile or broken site can do: cost one page."""

from __future__ import annotations

import gzip
import ssl
import threading
import tracemalloc
from base64 import b64encode
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from tests.certificates import self_signed
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

CHUNKED = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(b"\0" * 20_000_000)


@deferred_f_from_coro_f
async def test_bodies_over_the_limit_are_too_large_and_the_crawl_goes_on(
    site: SiteFactory,
) -> None:
    server = site(
        {
            "pages": {
                "/": {"links": ["/announced", "/endless", "/bomb", "/fine"]},
                "/announced": {"body": "x" * 300_000},
                "/endless": {"endless": True},
                "/bomb": {
                    "body_base64": b64encode(BOMB).decode(),
                    "headers": {"Content-Encoding": "gzip"},
                },
                "/fine": {"links": []},
            }
        }
    )
    crawled = await crawl_site(server.url(), {"DOWNLOAD_MAXSIZE": 200_000, "DOWNLOAD_TIMEOUT": 20})
    errors = {url[len(server.url("")) :]: page.error for url, page in crawled.pages.items()}
    assert errors == {
        "/": None,
        "/announced": "too large",
        "/endless": "too large",
        "/bomb": "too large",
        "/fine": None,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\x01\x02\xff\xfe" * 1000,
        b"<a href='/ok'>" + b"<div>" * 200_000,
        b"<title>\x00\x1b[31mred\x07</title><a href='/ok'>",
        b"<a href=/ok " + b" ".join(b"x%d=y" % n for n in range(1_000_000)) + b">",
        b"<a href='http://[::1'></a><a href='//'></a><a href='http://a b/'></a><a href='/ok'>",
        b"",
        b"<base href='javascript:alert(1)'><a href='/ok'>x",
        b"<meta charset=utf-7><a href='/ok'>+ADw-",
        b"\xff\xfe<\x00a\x00>\x00",
        Random(0).randbytes(1_000_000),
        b"<a href=/ok>\0</a>" + b"\0" * 1_000_000,
        b"<title>" + b"\x1b]0;owned\x07\x9b\r\n\t" * 10_000 + b"</title><a href='/ok'>",
    ],
    ids=range(12),
)
@deferred_f_from_coro_f
async def test_odd_html_is_a_page_like_any_other(site: SiteFactory, body: bytes) -> None:
    server = site(
        {"pages": {"/": {"body_base64": b64encode(body).decode(), "content_type": "text/html"}}}
    )
    crawled = await crawl_site(server.url())
    page = crawled.pages[server.url("/")]
    assert (page.status_code, page.error) == (200, None)
    if b"/ok" in body:
        assert server.url("/ok") in page.links
    assert page.title is None or page.title.isprintable()


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("SSH-2.0-OpenSSH_9.2\r\n", "unreadable: not HTTP"),
        (CHUNKED + "zz\r\n", "unreadable: not HTTP"),
        (CHUNKED + "3\r\nabc\r\nzz\r\n", "unreadable: not HTTP"),
        (CHUNKED + "-3\r\nabc\r\n0\r\n\r\n", "unreadable: not HTTP"),
        (CHUNKED + "3\r\nabcdef\r\n0\r\n\r\n", "unreadable: not HTTP"),
        (CHUNKED + "ffffffffffffffffffff\r\nabc\r\n0\r\n\r\n", "unreadable: not HTTP"),
        (CHUNKED + "10\r\nabc", "truncated"),
        # All of its chunks, but not the one that ends it.
        (CHUNKED + "3\r\nabc\r\n", "truncated"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "truncated"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello",
            "unreadable: not HTTP",
        ),
        ("HTTP/1.1 200 OK\r\nX: " + "x" * 1_000_000 + "\r\n\r\n", "unreadable: not HTTP"),
        ("HTTP/1.1 200 OK\r\n" + "X: x\r\n" * 100_000 + "\r\n", "unreadable: not HTTP"),
    ],
    ids=range(12),
)
@deferred_f_from_coro_f
async def test_answers_that_are_no_http_are_tried_again_and_then_failed_pages(
    site: SiteFactory, raw: str, error: str
) -> None:
    pages = {
        "/": {"links": ["/odd", "/glitch"]},
        "/odd": {"raw": raw},
        "/glitch": {"links": ["/behind"], "times": {"1": {"raw": raw}}},
        "/behind": {},
    }
    server = site({"pages": pages})
    crawled = await crawl_site(server.url(), {"RETRY_TIMES": 1})
    errors = {url.removeprefix(server.url("")): page.error for url, page in crawled.pages.items()}
    assert errors == {"/": None, "/odd": error, "/glitch": None, "/behind": None}
    asked = Counter(server.paths())
    assert asked == {"/": 1, "/odd": 2, "/glitch": 2, "/behind": 1}


@deferred_f_from_coro_f
async def test_a_page_of_20_000_links_is_admitted_in_flat_memory(site: SiteFactory) -> None:
    server = site({"generated": {"kind": "wide", "pages": 20_000}})
    await crawl_site(server.url(), depth="0")
    tracemalloc.start()
    try:
        crawled = await crawl_site(server.url(), max_pages="30")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(crawled.pages) == 30
    assert crawled.frontier.counts().queued == 20_001 - 30
    # A page of 1 MB, its links, and 20,000 entries of the frontier.
    assert peak < 40_000_000


class _Secure(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def untrusted(tmp_path: Path) -> Iterator[str]:
    """A server whose certificate nobody vouches for."""
    pem, _ = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server = HTTPServer(("127.0.0.1", 0), _Secure)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://localhost:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@deferred_f_from_coro_f
async def test_a_certificate_nobody_vouches_for_is_refused(untrusted: str) -> None:
    crawled = await crawl_site(untrusted, {"RETRY_TIMES": 0})
    assert crawled.pages[untrusted].error == "tls"
