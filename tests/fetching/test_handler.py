"""What a server gets, and when its answer has ended, however it ends it."""

from __future__ import annotations

import asyncio
import gzip
import time
from base64 import b64encode
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request, signals
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.spiders.site import SiteSpider
from tests.crawling import crawl_site, scrapy
from tests.fetched import fetching, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from scrapy.http import Response

    from tests.site.fixture import Site

DELAY = 0.1
PAGE = b'<a href="/a">a</a> <a href="/b">b</a>'
FRAMED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
UNFRAMED = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"


@deferred_f_from_coro_f
async def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    starts, ends = [], []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        starts.append(time.monotonic())
        writer.write(UNFRAMED + PAGE)
        await asyncio.sleep(2 * DELAY)
        ends.append(time.monotonic())
        writer.close()

    async with serving(answer) as url:
        crawled = await crawl_site(url, {"ROBOTSTXT_OBEY": False}, delay=str(DELAY))
    assert len(crawled.pages) == 3
    gaps = [start - end for start, end in zip(starts[1:], ends[:-1], strict=True)]
    assert min(gaps) >= DELAY


@pytest.mark.parametrize("fragment", ["#top", "#!page=1"])
@deferred_f_from_coro_f
async def test_the_url_of_a_response_has_no_fragment(fragment: str) -> None:
    """As in Scrapy: it was not sent. The request keeps it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(FRAMED % (len(PAGE), PAGE))
        writer.close()

    async with serving(answer) as url, fetching() as fetcher:
        request = Request(f"{url}{fragment}", meta={"download_timeout": 60})
        response = await fetcher.handler.download_request(request)
    assert response.url == url
    assert request.url.startswith(f"{url}#")


@deferred_f_from_coro_f
async def test_an_answer_that_came_unasked_has_not_ended_before_its_request() -> None:
    starts: list[float] = []

    class Watched(SiteSpider):
        name = "watched"

        async def start(self) -> AsyncIterator[Any]:
            self.crawler.signals.connect(self.started, signals.request_reached_downloader)
            async for output in super().start():
                yield output

        def started(self, request: Request) -> None:
            starts.append(time.monotonic())

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            writer.write(FRAMED % (len(PAGE), PAGE))
            await asyncio.sleep(DELAY / 2)
            writer.write(FRAMED % (len(PAGE), PAGE))
        writer.close()

    async with serving(answer) as url:
        settings = {"ROBOTSTXT_OBEY": False}
        crawled = await crawl_site(url, settings, spider=Watched, delay=str(DELAY))
    assert len(crawled.pages) == 3
    gaps = [later - sooner for sooner, later in pairwise(starts)]
    assert min(gaps) >= DELAY


@deferred_f_from_coro_f
async def test_a_request_without_a_body_announces_none() -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        body = await reader.readexactly(4) if b"POST" in asked[-1] else b""
        asked[-1] += body
        writer.write(FRAMED % (len(body), body))
        writer.close()

    class Posting(SiteSpider):
        name = "posting"

        async def parse_with_rules(self, response: Any, *args: Any, **kwargs: Any) -> Any:
            if response.request.method == "GET":
                yield response.request.replace(
                    method="POST", body="text", dont_filter=True, callback=self.posted
                )
            async for output in super().parse_with_rules(response, *args, **kwargs):
                yield output

        def posted(self, response: Any) -> None:
            pass

    async with serving(answer) as url:
        await crawl_site(url, {"ROBOTSTXT_OBEY": False}, spider=Posting)
    get, post = asked
    assert b"content-length" not in get.lower()
    assert b"content-length: 4\r\n" in post.lower()
    assert post.endswith(b"\r\n\r\ntext")


GZIPPED = b64encode(gzip.compress(b"<p>text")).decode()
WHOLE: dict[str, dict[str, Any]] = {
    "/": {"links": ["/text", "/large", "/empty", "/nothing", "/chunked", "/compressed", "/odd"]},
    "/text": {"body": "no HTML", "content_type": "text/plain", "headers": {"X-Two": "1, 2"}},
    "/large": {"body": "x" * 3_000},
    "/empty": {"body": ""},
    "/nothing": {"raw": "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
    "/chunked": {"body": "x" * 1_000, "chunked": True},
    "/compressed": {"body_base64": GZIPPED, "headers": {"Content-Encoding": "gzip"}},
    "/odd": {"raw": "HTTP/1.0 299 Odd\r\nx-a: 1\r\nX-A: 2\r\n\r\nuntil it ends"},
}


async def answers(server: Site, *, heard: bool) -> dict[str, Any]:
    """What came of each page, and how, when somebody looks at pieces of answers or nobody does."""
    found: dict[str, Any] = {}

    class Watched(SiteSpider):
        name = "watched"

        async def start(self) -> AsyncIterator[Any]:
            self.crawler.signals.connect(self.received, signals.response_received)
            if heard:
                self.crawler.signals.connect(self.piece, signals.bytes_received)
            async for output in super().start():
                yield output

        def piece(self, data: bytes) -> None:
            found.setdefault("pieces", []).append(data)

        def received(self, response: Response) -> None:
            headers = {**response.headers}
            headers.pop(b"Date", None)
            path = urlsplit(response.url).path
            address, protocol = response.ip_address, response.protocol
            about = (response.status, headers, address, protocol, response.flags)
            found[path] = type(response), *about, response.body, response.certificate

    limits = {"DOWNLOAD_MAXSIZE": 2_000, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(server.url(), limits, spider=Watched, delay="0")
    found["errors"] = {page.url: page.error for page in crawled.pages.values()}
    return found


@deferred_f_from_coro_f
async def test_an_answer_is_the_same_whether_somebody_looks_at_its_pieces_or_not(
    site: Callable[..., Site],
) -> None:
    server = site({"pages": WHOLE})
    whole = await answers(server, heard=False)
    in_pieces = await answers(server, heard=True)
    assert in_pieces.pop("pieces")
    assert whole == in_pieces
    assert whole.keys() == {*WHOLE, "errors"} - {"/large"}
    assert whole["errors"][server.url("/large")] is not None


def test_scrapys_shell_fetches_with_it(site: Callable[..., Site], tmp_path: Path) -> None:
    server = site({"pages": {"/": {"title": "At home"}}})
    code = "response.css('title::text').get()"
    done = scrapy("shell", server.url(), "-c", code, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "At home"), done.stderr
