"""The short way of a plain GET, against aiohttp's own."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import yarl
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.politeness.client import Client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

# What is written as it is ends with its connection: it is not to be used again.
CLOSE = "Connection: close\r\n"
OK = f"HTTP/1.1 200 OK\r\n{CLOSE}Content-Length: 2\r\n\r\nhi"
PAGES: dict[str, dict[str, Any]] = {
    "/": {"links": ["/a"], "headers": {"Set-Cookie": "a=1", "X-Long": "x" * 20_000}},
    "/chunked": {"body": "x" * 200_000, "chunked": True},
    "/missing": {"status": 404},
    "/moved": {"redirect": "/"},
    "/slow": {"delay": 0.2},
    "/empty": {"raw": f"HTTP/1.1 204 No Content\r\n{CLOSE}\r\n"},
    "/unchanged": {"raw": f"HTTP/1.1 304 Not Modified\r\n{CLOSE}Content-Length: 7\r\n\r\n"},
    "/first-continue": {"raw": f"HTTP/1.1 100 Continue\r\n\r\n{OK}"},
    "/old": {"raw": "HTTP/1.0 200 OK\r\n\r\nuntil it ends"},
    "/short": {"raw": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"},
    "/nonsense": {"raw": "no such thing as HTTP\r\n\r\n"},
    "/too-long": {"raw": f"HTTP/1.1 200 OK\r\nX-Long: {'x' * 100_000}\r\n\r\n"},
    "/nothing": {"raw": ""},
    "/drop": {"drop": True},
    "/hang": {"hang": True},
    "/stall": {"body": "x" * 100, "stall_after": 10},
}


SSL = ssl.create_default_context()


@asynccontextmanager
async def made_client() -> AsyncIterator[Client]:
    """None of its connections is left behind: they are given back, or closed."""
    connector = aiohttp.TCPConnector(limit=0)
    client = Client(connector)
    try:
        yield client
        assert not connector._acquired
    finally:
        await client.close()


async def outcome(client: Client, url: str | yarl.URL) -> Any:
    """The answer, or what was raised."""
    try:
        async with await client.request(
            "GET",
            url,
            data=b"",
            headers=[("User-Agent", "crawler"), ("X-Two", "1"), ("X-Two", "2")],
            timeout=aiohttp.ClientTimeout(total=0.5),
            ssl=SSL,
            allow_redirects=False,
            proxy=None,
        ) as response:
            body = await response.content.read()
            headers = [header for header in response.raw_headers if header[0] != b"Date"]
            return response.status, headers, body
    except (aiohttp.ClientError, TimeoutError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("path", [*PAGES, "/a?b=c%20d;e", "//"])
@deferred_f_from_coro_f
async def test_the_answers_and_the_errors_are_the_same(site: SiteFactory, path: str) -> None:
    server = site({"pages": PAGES})
    url = server.url(path)
    short = yarl.URL(url, encoded=True)
    async with made_client() as client:
        outcomes = [await outcome(client, one) for one in (short, url, short)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    headers = [entry["headers"] for entry in server.log()]
    assert headers[0] == headers[1] == headers[2]
    assert "Accept" not in headers[0]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://no.such.host.invalid/"])
@deferred_f_from_coro_f
async def test_so_are_hosts_that_are_not_there(url: str) -> None:
    async with made_client() as client:
        short, long = [await outcome(client, one) for one in (yarl.URL(url), url)]
    assert short == long
    assert issubclass(short[0], aiohttp.ClientConnectorError)


@deferred_f_from_coro_f
async def test_who_is_closed_asks_nobody(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    client = Client(aiohttp.TCPConnector())
    await client.close()
    for url in (server.url(), yarl.URL(server.url())):
        with pytest.raises(RuntimeError, match="Session is closed"):
            await outcome(client, url)
    assert server.log() == []


@deferred_f_from_coro_f
async def test_who_is_cancelled_leaves_no_connection_behind(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    async with made_client() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await outcome(client, yarl.URL(server.url("/hang")))
    assert server.paths() == ["/hang"]
