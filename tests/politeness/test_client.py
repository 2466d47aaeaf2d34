"""The short way of a plain GET, against aiohttp's own."""

from __future__ import annotations

import asyncio
import gc
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import yarl
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.politeness.client import Client
from crawlproject.politeness.exchange import Answer, Exchange, Protocol

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
    "/chunked-in-pieces": {"body": "x" * 300_000, "chunked": True},
    "/long": {"body": "x" * 300_000},
    "/trailers": {
        "raw": f"HTTP/1.1 200 OK\r\n{CLOSE}Transfer-Encoding: chunked\r\n\r\n"
        "2\r\nhi\r\n0\r\nX-Trailer: 1\r\n\r\n"
    },
    "/bad-chunks": {
        "raw": f"HTTP/1.1 200 OK\r\n{CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nno"
    },
    "/short-chunks": {
        "raw": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n5\r\nto"
    },
    "/bare-ends-of-lines": {
        "raw": f"HTTP/1.1 200 OK\r\n{CLOSE}Transfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n"
    },
    "/many-headers": {"raw": "HTTP/1.1 200 OK\r\n" + "X: y\r\n" * 2_000 + "\r\n"},
    "/drop": {"drop": True},
    "/hang": {"hang": True},
    "/stall": {"body": "x" * 100, "stall_after": 10},
}


SSL = ssl.create_default_context()
SECONDS = 0.5

HEADERS = {b"User-Agent": [b"crawler"], b"X-Two": [b"1", b"2"]}


@asynccontextmanager
async def made_client() -> AsyncIterator[Client]:
    """None of its connections is left behind: they are given back, or closed."""
    connector = aiohttp.TCPConnector(limit=0)
    client = Client(connector, SSL)
    try:
        yield client
        assert not connector._acquired
    finally:
        await client.close()


def at_once(waiting: asyncio.Future[Answer | None], answer: Answer) -> None:
    waiting.set_result(answer)


async def outcome(client: Client, url: str, *, short: bool) -> Any:
    """The answer, or what was raised."""
    try:
        answer: Answer | aiohttp.ClientResponse
        if short:
            plain = client.plain(url, HEADERS)
            assert plain is not None
            answer = await client.get(plain, SECONDS, 0, at_once)
            if isinstance(answer, Answer):
                return answer.head.status, _dateless(answer.head.fields), answer.body
        else:
            headers = [(name, value) for name in HEADERS for value in HEADERS[name]]
            answer = await client.request(
                "GET",
                yarl.URL(url, encoded=True),
                data=b"",
                headers=[(name.decode(), value.decode()) for name, value in headers],
                timeout=aiohttp.ClientTimeout(total=SECONDS),
                ssl=SSL,
                allow_redirects=False,
                proxy=None,
            )
        async with answer:
            body = await answer.content.read()
            return answer.status, _dateless(answer.raw_headers), body
    except (aiohttp.ClientError, TimeoutError) as error:
        return type(error), str(error)


def _dateless(fields: tuple[tuple[bytes, bytes], ...]) -> list[tuple[bytes, bytes]]:
    return [field for field in fields if field[0] != b"Date"]


@pytest.mark.parametrize("path", [*PAGES, "/a?b=c%20d;e", "//", "/a//b/../c"])
@deferred_f_from_coro_f
async def test_the_answers_and_the_errors_are_the_same(site: SiteFactory, path: str) -> None:
    server = site({"pages": PAGES})
    url = server.url(path)
    async with made_client() as client:
        # The first has a connection of its own, the third may have that of the second.
        outcomes = [await outcome(client, url, short=short) for short in (True, False, True)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    headers = [entry["headers"] for entry in server.log()]
    assert headers[0] == headers[1] == headers[2]
    assert "Accept" not in headers[0]


@pytest.mark.parametrize(
    "answer",
    [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    ],
)
@pytest.mark.parametrize("more", ["", "!", "\r\n", "<!-- stored in a cache -->", OK])
@pytest.mark.parametrize("cut", [0, 1, 2])
@deferred_f_from_coro_f
async def test_what_is_behind_an_answer_costs_a_connection_and_nothing_else(
    site: SiteFactory, answer: str, more: str, cut: int
) -> None:
    server = site({"pages": PAGES})
    async with made_client() as client:
        plain = client.plain(server.url("/hang"), {})
        assert plain is not None
        connection = await client._connector.connect(
            plain.origin.request, [], aiohttp.ClientTimeout()
        )
        protocol = connection.protocol
        assert isinstance(protocol, Protocol)
        exchange = Exchange(asyncio.get_running_loop(), SECONDS, 0, asyncio.Future.set_result)
        exchange.begin(connection, plain.head)
        # The server is silent: these are the pieces of its answer.
        data, end = (answer + more).encode(), len(answer) - cut
        pieces = [data[:end], data[end:]] if cut else [data]
        for piece in pieces:
            protocol.data_received(piece)
        received = await exchange.answer
        assert received is not None
        assert received.body == b"hi"
        assert protocol.is_connected() == (not more)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://no.such.host.invalid/"])
@deferred_f_from_coro_f
async def test_so_are_hosts_that_are_not_there(url: str) -> None:
    async with made_client() as client:
        short, long = [await outcome(client, url, short=short) for short in (True, False)]
    assert short == long
    assert issubclass(short[0], aiohttp.ClientConnectorError)


@deferred_f_from_coro_f
async def test_who_is_closed_asks_nobody(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    client = Client(aiohttp.TCPConnector(), SSL)
    await client.close()
    for short in (True, False):
        with pytest.raises(RuntimeError, match="Session is closed"):
            await outcome(client, server.url(), short=short)
    assert server.log() == []


@deferred_f_from_coro_f
async def test_who_is_cancelled_leaves_no_connection_behind(site: SiteFactory) -> None:
    server = site({"pages": PAGES})
    async with made_client() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await outcome(client, server.url("/hang"), short=True)
    assert server.paths() == ["/hang"]


@pytest.mark.parametrize("path", ["/hang", "/stall"])
@deferred_f_from_coro_f
async def test_nothing_is_kept_of_a_request_whose_time_is_up(site: SiteFactory, path: str) -> None:
    server = site({"pages": PAGES})
    gc.collect()
    gc.disable()
    try:
        async with made_client() as client:
            kind, _ = await outcome(client, server.url(path), short=True)
            # Its connection is lost in a later turn of the loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            kept = [one for one in gc.get_objects() if isinstance(one, Exchange | Protocol)]
    finally:
        gc.enable()
    assert issubclass(kind, TimeoutError)
    assert kept == []


@pytest.mark.parametrize(
    "url",
    [
        *("http://me:secret@site.test/", "http://[::1]/", "http://SITE.test/", "ftp://site.test/"),
        *("http://site.test/a b", "http://site.test/ü", "http://site.test/#there"),
        *("http://site.test/a?", "http://site.test", "http://site.test?a=b", "http://site.test/\n"),
    ],
)
@deferred_f_from_coro_f
async def test_a_url_that_is_not_sent_as_it_is_goes_the_long_way(url: str) -> None:
    async with made_client() as client:
        assert client.plain(url, {}) is None


@pytest.mark.parametrize("value", [b"a\r\nX-Injected: b", b"a\nb", b"a\rb", b"\0", b"\xc3\xbc"])
@deferred_f_from_coro_f
async def test_so_does_a_header_that_is_more_than_a_line_of_plain_text(value: bytes) -> None:
    async with made_client() as client:
        assert client.plain("http://site.test/", {b"X-Value": [value]}) is None
        assert client.plain("http://site.test/", {b"X" + value: [b"v"]}) is None


@deferred_f_from_coro_f
async def test_each_request_says_what_its_own_headers_are() -> None:
    async with made_client() as client:
        headers = {b"X-Two": [b"1"]}
        heads = []
        for host, value in (("a.test", b"2"), ("a.test", b"3"), ("b.test", b"4"), ("a.test", b"5")):
            for _ in range(2):
                plain = client.plain(f"http://{host}/", headers)
                assert plain is not None
                lines = [b"%b: %b\r\n" % field for field in plain.fields]
                assert plain.head == b"GET / HTTP/1.1\r\n%b\r\n" % b"".join(lines)
                heads.append(plain.fields)
            # The same list, as a middleware adds to it.
            headers[b"X-Two"].append(value)
    said = [[value for _, value in fields] for fields in heads]
    assert said[::2] == said[1::2]
    assert said[::2] == [
        [b"a.test", b"1"],
        [b"a.test", b"1", b"2"],
        [b"b.test", b"1", b"2", b"3"],
        [b"a.test", b"1", b"2", b"3", b"4"],
    ]
