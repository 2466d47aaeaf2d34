"""The download handler on real connections: which are reused, and what they never mix up."""

from __future__ import annotations

import asyncio
import gc
import gzip
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.failures import error_of
from crawlproject.fetching import pool
from crawlproject.fetching.connection import Connection, Exchange
from crawlproject.fetching.http1 import ResponseReader
from crawlproject.frontier.leases import FETCH_ENDED, ON_THE_WIRE
from tests.certificates import self_signed
from tests.fetched import Fetcher, Script, fetching, serving
from tests.fetching.variants import CHUNKED, LEFTOVERS, OK, VARIANTS, Variant
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy.http import Response

KEPT = OK + b"Content-Length: 2\r\n\r\nhi"
FIRST = OK + b"Content-Length: 5\r\n\r\nfirst"
CERTIFICATES = {"DOWNLOAD_VERIFY_CERTIFICATES": False}


def single(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


@pytest.mark.parametrize("by_byte", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@deferred_f_from_coro_f
async def test_what_browsers_read_is_read(variant: Variant, by_byte: bool) -> None:
    pieces = single(variant.data) if by_byte and len(variant.data) < 2_000 else [variant.data]
    server = Script(*pieces, closes=variant.closes)
    async with serving(server) as url, fetching() as fetcher:
        for _ in range(2):
            if variant.body is None:
                with pytest.raises(DownloadFailedError) as raised:
                    await fetcher.get(url)
                assert error_of(raised.value) == "unreadable: not HTTP"
            else:
                response = await fetcher.get(url)
                assert (response.status, response.body) == (variant.status, variant.body)
                assert response.flags == []
    is_kept = variant.is_kept and variant.body is not None
    assert (server.connections, len(server.requests)) == (1 if is_kept else 2, 2)


@contextmanager
def threaded(variant: Variant) -> Iterator[int]:
    """A server in a thread, for a client that is another process; its port."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(variant.data)
            # For curl some of them end here, which have ended before for browsers.
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65_536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_curl_reads_the_same_except_where_the_table_says_so(variant: Variant) -> None:
    with threaded(variant) as port:
        command = ["curl", "-s", "--noproxy", "*", "--tr-encoding", f"http://127.0.0.1:{port}/"]
        done = subprocess.run(command, capture_output=True, check=False)
    body = None if done.returncode else done.stdout
    assert body == (variant.body if variant.curl == "the same" else variant.curl)


class Unasked:
    """Sends something behind the first response of a connection, at a moment of its choice."""

    def __init__(self, first: bytes, leftover: bytes, *, late: bool) -> None:
        self.first = first
        self.leftover = leftover
        self.late = late
        self.connections = 0
        self.send = asyncio.Event()
        self.is_sent = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        mine = self.connections
        try:
            await reader.readuntil(b"\r\n\r\n")
            if mine > 1:
                writer.write(KEPT)
                await reader.read()
                return
            if not self.late:
                writer.write(self.first + self.leftover)
            else:
                writer.write(self.first)
                await self.send.wait()
                writer.write(self.leftover)
                await writer.drain()
                self.is_sent.set()
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


FIRSTS = {"length": FIRST, "chunks": CHUNKED + b"5\r\nfirst\r\n0\r\n\r\n"}


@pytest.mark.parametrize("first", FIRSTS.values(), ids=FIRSTS)
@pytest.mark.parametrize("leftover", LEFTOVERS.values(), ids=LEFTOVERS)
@deferred_f_from_coro_f
async def test_bytes_behind_a_response_are_never_the_next_response(
    first: bytes, leftover: bytes
) -> None:
    server = Unasked(first, leftover, late=False)
    async with serving(server) as url, fetching() as fetcher:
        bodies = [(await fetcher.get(url)).body for _ in range(2)]
    assert bodies == [b"first", b"hi"]
    assert server.connections == 2


@pytest.mark.parametrize("first", FIRSTS.values(), ids=FIRSTS)
@pytest.mark.parametrize("leftover", LEFTOVERS.values(), ids=LEFTOVERS)
@deferred_f_from_coro_f
async def test_nor_are_bytes_that_come_while_no_request_is_in_flight(
    first: bytes, leftover: bytes
) -> None:
    server = Unasked(first, leftover, late=True)
    async with serving(server) as url, fetching() as fetcher:
        bodies = [(await fetcher.get(url)).body]
        (kept,) = fetcher.handler._pool._open
        server.send.set()
        await server.is_sent.wait()
        # In the kernel, and perhaps not yet read: either way it is not used again.
        await until(lambda: kept._transport is None or bool(kept._poll.poll(0)))
        bodies.append((await fetcher.get(url)).body)
    assert bodies == [b"first", b"hi"]
    assert server.connections == 2


@deferred_f_from_coro_f
async def test_bytes_that_the_kernel_holds_when_a_connection_is_taken_close_it() -> None:
    """Without a turn of the event loop in between, which would have read them."""
    server = Script(FIRST)
    async with serving(server) as url, fetching() as fetcher:
        await fetcher.get(url)
        (kept,) = fetcher.handler._pool._open
        assert kept.is_usable()
        other = server.writers[0].transport.get_extra_info("socket")
        with socket.socket(fileno=socket.dup(other.fileno())) as beside:
            beside.sendall(KEPT)
        while not kept._poll.poll(0):
            pass
        assert not kept.is_usable()
        assert (await fetcher.get(url)).body == b"first"
    assert server.connections == 2


@deferred_f_from_coro_f
async def test_a_request_is_never_sent_twice() -> None:
    requests = []

    async def drop_the_second(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(KEPT)
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    async with serving(drop_the_second) as url, fetching() as fetcher:
        await fetcher.get(url)
        with pytest.raises(DownloadFailedError) as raised:
            await fetcher.get(url)
    assert error_of(raised.value) == "connection lost"
    assert len(requests) == 2


@pytest.mark.parametrize("pieces", [[], [KEPT[:9]], [KEPT[:-1]], [CHUNKED + b"2\r\nh"]])
@deferred_f_from_coro_f
async def test_a_response_is_not_waited_for_longer_than_allowed(pieces: list[bytes]) -> None:
    server = Script(*pieces)
    async with serving(server) as url, fetching() as fetcher:
        for _ in range(2):
            with pytest.raises(DownloadTimeoutError):
                await fetcher.get(url, meta={"download_timeout": 0.05})
    # None is used again.
    assert server.connections == 2


@deferred_f_from_coro_f
async def test_the_time_limit_includes_the_lookup_and_the_handshake() -> None:
    async with serving(Script()) as url, fetching(**CERTIFICATES) as fetcher:
        with pytest.raises(DownloadTimeoutError):
            await fetcher.get(url.replace("http:", "https:"), meta={"download_timeout": 0.05})

        async def silent(host: str) -> Any:
            await asyncio.get_running_loop().create_future()

        fetcher.handler._guard.names = type("Silent", (), {"resolve": staticmethod(silent)})()
        with pytest.raises(DownloadTimeoutError):
            await fetcher.get("http://site.test/", meta={"download_timeout": 0.05})


@deferred_f_from_coro_f
async def test_nothing_is_kept_of_a_request_whose_time_is_up() -> None:
    gc.collect()
    gc.disable()
    try:
        async with serving(Script(KEPT[:-1])) as url, fetching() as fetcher:
            with pytest.raises(DownloadTimeoutError):
                await fetcher.get(url, meta={"download_timeout": 0.05})
            await until(lambda: not fetcher.open_connections)
            kept = [one for one in gc.get_objects() if isinstance(one, Exchange | Connection)]
    finally:
        gc.enable()
    assert kept == []


@deferred_f_from_coro_f
async def test_a_cancelled_request_closes_its_connection() -> None:
    server = Script()
    async with serving(server) as url, fetching() as fetcher:
        request = asyncio.ensure_future(fetcher.get(url))
        await until(lambda: bool(server.requests))
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await until(lambda: not fetcher.open_connections)


@deferred_f_from_coro_f
async def test_a_closed_handler_connects_to_nobody() -> None:
    server = Script(KEPT)
    async with serving(server) as url, fetching() as fetcher:
        await fetcher.handler.close()
        with pytest.raises(RuntimeError, match="closed"):
            await fetcher.get(url)
    assert server.requests == []


@deferred_f_from_coro_f
async def test_a_host_that_is_not_there_is_named_as_scrapy_does() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with fetching() as fetcher:
        with pytest.raises(DownloadConnectionRefusedError) as refused:
            await fetcher.get(f"http://127.0.0.1:{port}/")
        with pytest.raises(CannotResolveHostError) as unknown:
            await fetcher.get("http://no.such.host.invalid/")
        for url in ("http:///path", "http://site.test:0/", "http://:80/"):
            with pytest.raises(UnsupportedURLSchemeError):
                await fetcher.get(url)
    assert error_of(refused.value) == "connection refused"
    assert error_of(unknown.value) == "dns"


@pytest.mark.parametrize(
    ("data", "closes"),
    [
        (OK + b"Content-Length: 9\r\n\r\nhi", True),
        (CHUNKED + b"2\r\nhi\r\n", True),
        (CHUNKED + b"2\r\nhi\r\nzz\r\n", False),
    ],
)
@deferred_f_from_coro_f
async def test_an_incomplete_body_is_data_loss_as_scrapy_has_it(data: bytes, closes: bool) -> None:
    async with serving(Script(data, closes=closes)) as url, fetching() as fetcher:
        with pytest.raises(ResponseDataLossError):
            await fetcher.get(url)
        response = await fetcher.get(url, meta={"download_fail_on_dataloss": False})
    assert (response.body, response.flags) == (b"hi", ["dataloss"])
    async with (
        serving(Script(data, closes=closes)) as url,
        fetching(DOWNLOAD_FAIL_ON_DATALOSS=False) as fetcher,
    ):
        assert (await fetcher.get(url)).flags == ["dataloss"]


TEN = {
    "length": OK + b"Content-Length: 10\r\n\r\n" + b"hello" * 2,
    "chunks": CHUNKED + b"5\r\nhello\r\n" * 2 + b"0\r\n\r\n",
}


@pytest.mark.parametrize("data", TEN.values(), ids=TEN)
@deferred_f_from_coro_f
async def test_a_body_above_the_limit_is_cancelled(data: bytes) -> None:
    async with serving(Script(data)) as url, fetching(DOWNLOAD_MAXSIZE=9) as fetcher:
        with pytest.raises(DownloadCancelledError, match="10 bytes, the limit is 9"):
            await fetcher.get(url)
        for limit in (10, 0):
            response = await fetcher.get(url, meta={"download_maxsize": limit})
            assert response.body == b"hello" * 2


@deferred_f_from_coro_f
async def test_a_body_in_tiny_chunks_takes_little_more_memory_than_its_bytes() -> None:
    body = b"ab" * 500_000
    data = CHUNKED + b"2\r\nab\r\n" * 500_000 + b"0\r\n\r\n"
    async with serving(Script(data)) as url, fetching() as fetcher:
        tracemalloc.start()
        try:
            response = await fetcher.get(url)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert response.body == body
    # Half a million objects would take twenty.
    assert peak < 8_000_000 + len(data)


@deferred_f_from_coro_f
async def test_what_a_transfer_coding_unpacks_to_is_limited_too() -> None:
    data = gzip.compress(b"x" * 1_000_000)
    head = OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n"
    whole = head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
    cut = head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data) // 2, data[: len(data) // 2])
    noise = head + b"5\r\nnoise\r\n0\r\n\r\n"
    async with fetching(DOWNLOAD_MAXSIZE=100_000) as fetcher:
        async with serving(Script(whole)) as url:
            with pytest.raises(DownloadCancelledError):
                await fetcher.get(url)
            assert len((await fetcher.get(url, meta={"download_maxsize": 0})).body) == 1_000_000
        async with serving(Script(cut)) as url:
            with pytest.raises(ResponseDataLossError):
                await fetcher.get(url, meta={"download_maxsize": 0})
        async with serving(Script(noise)) as url:
            with pytest.raises(DownloadFailedError) as raised:
                await fetcher.get(url)
    assert error_of(raised.value) == "unreadable: not HTTP"


@pytest.mark.parametrize("length", [b"Content-Length: 999999999\r\n", b""])
@deferred_f_from_coro_f
async def test_a_long_response_waits_at_its_server_until_there_is_time_for_it(
    length: bytes,
) -> None:
    written = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + length + b"\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                written += 65_536
                await writer.drain()
        except ConnectionError:
            writer.close()

    # Of a downloader that has no time.
    turns: list[tuple[asyncio.Future[Any], Any]] = []
    async with serving(endless) as url, fetching(DOWNLOAD_MAXSIZE=0) as fetcher:
        fetcher.handler._deliver = lambda *turn: turns.append(turn)  # type: ignore[method-assign]
        request = asyncio.ensure_future(fetcher.get(url))
        await until(lambda: bool(turns))
        # Until nothing more goes into the buffers of the kernel.
        before = -1
        while before < written:
            before = written
            for _ in range(1_000):
                await asyncio.sleep(0)
        (connection,) = fetcher.handler._pool._open
        exchange = connection._exchange
        assert exchange is not None
        assert exchange._reader.size < 2**20
        # Its turn comes, and it goes on.
        turns.pop()[0].set_result(None)
        await until(lambda: exchange._reader.size >= 2**22)
        request.cancel()


@deferred_f_from_coro_f
async def test_methods_bodies_and_headers_arrive_as_they_are() -> None:
    requests = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                has_body = b"Content-Length: 4\r\n" in head
                requests.append(head + (await reader.readexactly(4) if has_body else b""))
                is_head = head.startswith(b"HEAD")
                writer.write(OK + b"Content-Length: 7\r\n\r\n" if is_head else KEPT)
        except asyncio.IncompleteReadError:
            writer.close()

    async with serving(echo) as url, fetching() as fetcher:
        await fetcher.get(url, headers={"X-Two": ["1", "2"], "X-Name": "\u00e9"})
        await fetcher.get(url, method="POST", body="text", headers={"Content-Length": "99"})
        await fetcher.get(url, method="POST")
        head = await fetcher.get(url, method="HEAD")
        await fetcher.get(url, headers={"Host": "other.test", "Proxy-Authorization": "secret"})
        await fetcher.get(url.replace("//", "//me:p%40ss@"))
        await fetcher.get(url + "a?b=c%20d;e#there")
        await fetcher.get(url + "a b\u00e9?", meta={"verbatim_url": True})
        await fetcher.get(url.rstrip("/") + "?x", meta={"verbatim_url": True})
    host = url.removeprefix("http://").rstrip("/").encode()
    assert requests == [
        b"GET / HTTP/1.1\r\nHost: %b\r\nX-Two: 1\r\nX-Two: 2\r\nX-Name: \xc3\xa9\r\n\r\n" % host,
        b"POST / HTTP/1.1\r\nHost: %b\r\nContent-Length: 4\r\n\r\ntext" % host,
        b"POST / HTTP/1.1\r\nHost: %b\r\nContent-Length: 0\r\n\r\n" % host,
        b"HEAD / HTTP/1.1\r\nHost: %b\r\n\r\n" % host,
        b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: %b\r\nAuthorization: Basic bWU6cEBzcw==\r\n\r\n" % host,
        b"GET /a?b=c%%20d;e HTTP/1.1\r\nHost: %b\r\n\r\n" % host,
        b"GET /a%%20b%%C3%%A9? HTTP/1.1\r\nHost: %b\r\n\r\n" % host,
        b"GET /?x HTTP/1.1\r\nHost: %b\r\n\r\n" % host,
    ]
    assert (head.body, head.headers[b"Content-Length"]) == (b"", b"7")


@pytest.mark.parametrize("value", [b"a\r\nX-Injected: b", b"a\nb", b"a\rb", b"\0"])
@deferred_f_from_coro_f
async def test_no_header_line_or_method_can_be_injected(value: bytes) -> None:
    server = Script(KEPT)
    async with serving(server) as url, fetching() as fetcher:
        for headers in ({b"X-Value": value}, {b"X" + value: b"v"}):
            with pytest.raises(ValueError, match="header"):
                await fetcher.get(url, headers=headers)
        with pytest.raises(ValueError, match="method"):
            await fetcher.get(url, method="G\r\nX: y")
        with pytest.raises(ValueError, match="method"):
            await fetcher.get(url, method="")
        await fetcher.get(url + "\r\nX: y", meta={"verbatim_url": True})
    assert b"\r\nX: y" not in b"".join(server.requests)


@deferred_f_from_coro_f
async def test_each_request_has_its_own_headers_though_their_lines_are_kept() -> None:
    server = Script(KEPT)
    async with serving(server) as url, fetching() as fetcher:
        values = ["1"]
        for value in ("2", "3", "4"):
            await fetcher.get(url, headers={"X": values})
            # The same list, as a middleware adds to it.
            values.append(value)
    sent = [head.count(b"X: ") for head in server.requests]
    assert sent == [1, 2, 3]


def stopping(fetcher: Fetcher, signal: object, *, fail: bool) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    def stop(request: Request, **values: Any) -> None:
        told.append(values)
        raise StopDownload(fail=fail)

    fetcher.crawler.signals.connect(stop, signal)
    told.append({"keep": stop})
    return told


@pytest.mark.parametrize("fail", [True, False])
@deferred_f_from_coro_f
async def test_signals_are_sent_and_a_download_can_be_stopped(fail: bool) -> None:
    server = Script(OK + b"X: y\r\nContent-Length: 9\r\n\r\n", b"hi")

    async def fetched(fetcher: Fetcher, url: str) -> Response:
        if not fail:
            return await fetcher.get(url)
        with pytest.raises(StopDownload) as stopped:
            await fetcher.get(url)
        assert stopped.value.response is not None
        return stopped.value.response

    async with serving(server) as url, fetching() as fetcher:
        told = stopping(fetcher, signals.headers_received, fail=fail)
        response = await fetched(fetcher, url)
        assert (response.body, response.flags) == (b"", ["download_stopped"])
        assert told[1]["body_length"] == 9
        assert told[1]["headers"][b"X"] == b"y"
    async with serving(server) as url, fetching() as fetcher:
        told = stopping(fetcher, signals.bytes_received, fail=fail)
        response = await fetched(fetcher, url)
        assert response.flags == ["download_stopped"]
        assert response.body == told[1]["data"] != b""
    assert server.connections == 2


@deferred_f_from_coro_f
async def test_a_response_knows_where_it_came_from_and_when(tmp_path: Path) -> None:
    path, certificate = self_signed(tmp_path)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(path)
    server = Script(KEPT)
    async with serving(server, server_side) as url:
        async with fetching(**CERTIFICATES) as fetcher:
            responses = []
            for _ in range(2):
                meta: dict[str, Any] = {"download_timeout": 60}
                request = Request(url, meta=meta)
                responses.append(await fetcher.handler.download_request(request))
                assert request.meta["download_latency"] > 0
                assert request.meta[FETCH_ENDED] > 0
                assert request.meta[ON_THE_WIRE].reason == "OK"
                assert request.meta[ON_THE_WIRE].response_headers == ((b"Content-Length", b"2"),)
        assert server.connections == 1
        async with fetching() as fetcher:
            with pytest.raises(DownloadFailedError) as raised:
                await fetcher.get(url)
        assert error_of(raised.value) == "tls"
    assert [response.body for response in responses] == [b"hi"] * 2
    assert [response.certificate for response in responses] == [certificate] * 2
    assert [str(response.ip_address) for response in responses] == ["127.0.0.1"] * 2
    assert [response.protocol for response in responses] == ["HTTP/1.1"] * 2


@deferred_f_from_coro_f
async def test_idle_connections_are_few_and_not_kept_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_MAX_IDLE", 3)
    servers = [Script(KEPT) for _ in range(5)]
    async with fetching() as fetcher:
        for server in servers:
            async with serving(server) as url:
                await fetcher.get(url)
        assert len(fetcher.handler._pool._idle) == 3
        monkeypatch.setattr(pool, "_IDLE_SECONDS", 0)
        fetcher.handler._pool._close_idle()
        assert not fetcher.handler._pool._idle
        await until(lambda: not fetcher.open_connections)


@pytest.mark.parametrize("is_tls", [False, True])
@deferred_f_from_coro_f
async def test_a_server_that_responds_before_the_request_is_sent_is_not_asked_again(
    tmp_path: Path, is_tls: bool
) -> None:
    connections = 0
    server_side = None
    if is_tls:
        path, _ = self_signed(tmp_path)
        server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_side.load_cert_chain(path)

    async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(KEPT)
        await reader.read()
        writer.close()

    async with serving(hasty, server_side) as url, fetching(**CERTIFICATES) as fetcher:
        assert (await fetcher.get(url, method="POST", body=b"x" * 50_000_000)).body == b"hi"
        assert (await fetcher.get(url)).body == b"hi"
    assert connections == 2


@deferred_f_from_coro_f
async def test_requests_come_from_the_address_that_is_asked_for() -> None:
    peers = []

    async def noting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        peers.append(writer.get_extra_info("peername")[0])
        writer.write(KEPT)
        await reader.read()
        writer.close()

    async with serving(noting) as url, fetching(DOWNLOAD_BIND_ADDRESS="127.0.0.5") as fetcher:
        await fetcher.get(url)
        await fetcher.get(url, meta={"bindaddress": ("127.0.0.6", 0)})
        await fetcher.get(url, meta={"bindaddress": b"127.0.0.7"})
    assert peers == ["127.0.0.5", "127.0.0.6", "127.0.0.7"]


@deferred_f_from_coro_f
async def test_the_server_says_for_how_long_a_connection_is_reused() -> None:
    seconds = 0.0
    kept = OK + b"Keep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nhi"
    server = Script(kept)
    async with serving(server) as url, fetching() as fetcher:
        fetcher.handler._pool._clock = lambda: seconds
        for wait, connections in ((0, 1), (3.9, 1), (3.9, 1), (4, 2), (60, 3)):
            seconds += wait
            await fetcher.get(url)
            assert server.connections == connections
        await until(lambda: fetcher.open_connections == 1)


@deferred_f_from_coro_f
async def test_a_longer_time_than_ours_does_not_count() -> None:
    seconds = 0.0
    server = Script(OK + b"Keep-Alive: timeout=3600\r\nContent-Length: 2\r\n\r\nhi")
    async with serving(server) as url, fetching() as fetcher:
        fetcher.handler._pool._clock = lambda: seconds
        for _ in range(2):
            await fetcher.get(url)
            seconds += pool._IDLE_SECONDS
    assert server.connections == 2


@pytest.mark.parametrize("sent", [b"", KEPT[:9], KEPT[:-1], CHUNKED + b"2\r\nhi\r\n"])
@deferred_f_from_coro_f
async def test_requests_in_flight_fail_when_the_handler_closes(sent: bytes) -> None:
    server = Script(sent)
    async with serving(server) as url, fetching() as fetcher:
        requests = [asyncio.ensure_future(fetcher.get(url)) for _ in range(2)]
        await until(lambda: len(server.requests) == 2)
        await fetcher.handler.close()
        assert not fetcher.open_connections
        for request in requests:
            with pytest.raises(DownloadFailedError) as raised:
                await request
            assert error_of(raised.value) == "connection lost"


# Other bytes in each place, so that no piece can stand for another.
LARGE = b"".join(b"%07d\n" % number for number in range(125_000))
LARGE_RESPONSES = {
    "length": OK + b"Content-Length: 1000000\r\n\r\n" + LARGE,
    "chunks": CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(LARGE), LARGE),
    "small chunks": CHUNKED
    + b"".join(b"fa0\r\n%b\r\n" % LARGE[at : at + 4_000] for at in range(0, 1_000_000, 4_000))
    + b"0\r\n\r\n",
    "until it ends": OK + b"\r\n" + LARGE,
}
FRAMED = {name: response for name, response in LARGE_RESPONSES.items() if name != "until it ends"}


class Line:
    """A downloader that has time for a response when the test says so."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.turns: list[tuple[asyncio.Future[Any], Any]] = []
        fetcher.handler._deliver = lambda *turn: self.turns.append(turn)  # type: ignore[method-assign]

    async def next(self) -> None:
        await until(lambda: bool(self.turns))
        waiting, value = self.turns.pop()
        waiting.set_result(value)


@pytest.mark.parametrize("name", LARGE_RESPONSES)
@deferred_f_from_coro_f
async def test_the_time_limit_does_not_run_while_reading_is_paused(name: str) -> None:
    server = Script(LARGE_RESPONSES[name], closes=name == "until it ends")
    async with serving(server) as url, fetching() as fetcher:
        line = Line(fetcher)
        request = asyncio.ensure_future(fetcher.get(url, meta={"download_timeout": 30}))
        await until(lambda: bool(line.turns))
        (connection,) = fetcher.handler._pool._open
        exchange = connection._exchange
        assert exchange is not None
        deadline = exchange._deadline
        assert deadline is not None
        # The timer is stopped, and starts again with what was left.
        assert exchange._timer is None
        await line.next()
        await until(lambda: exchange._timer is not None or request.done())
        assert exchange._deadline is not None
        assert exchange._deadline > deadline
        response = await request
    assert (response.body, response.flags) == (LARGE, [])


@deferred_f_from_coro_f
async def test_the_time_limit_counts_again_after_the_pause() -> None:
    server = Script(OK + b"Content-Length: 1000000\r\n\r\nx")
    async with serving(server) as url, fetching() as fetcher:
        line = Line(fetcher)
        request = asyncio.ensure_future(fetcher.get(url))
        await until(lambda: bool(line.turns))
        (connection,) = fetcher.handler._pool._open
        exchange = connection._exchange
        assert exchange is not None
        await line.next()
        await until(lambda: exchange._timer is not None)
        # As its event loop does when the time has come.
        exchange._time_out()
        with pytest.raises(DownloadTimeoutError):
            await request
        await until(lambda: not fetcher.open_connections)


@pytest.mark.parametrize("name", FRAMED)
@deferred_f_from_coro_f
async def test_a_response_that_was_paused_leaves_its_connection_usable(name: str) -> None:
    server = Script(FRAMED[name])
    async with serving(server) as url, fetching() as fetcher:
        line = Line(fetcher)
        for _ in range(2):
            request = asyncio.ensure_future(fetcher.get(url))
            await line.next()
            assert (await request).body == LARGE
    assert server.connections == 1


@deferred_f_from_coro_f
async def test_a_paused_request_can_be_cancelled_and_its_turn_come_later() -> None:
    server = Script(OK + b"Content-Length: 1000000\r\n\r\nx")
    async with serving(server) as url, fetching() as fetcher:
        line = Line(fetcher)
        request = asyncio.ensure_future(fetcher.get(url))
        await until(lambda: bool(line.turns))
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await until(lambda: not fetcher.open_connections)
        await line.next()


@pytest.mark.parametrize("name", LARGE_RESPONSES)
@deferred_f_from_coro_f
async def test_a_listener_is_told_each_byte_once_of_a_response_that_was_paused(name: str) -> None:
    told: list[bytes] = []

    def piece(data: bytes) -> None:
        told.append(data)

    server = Script(LARGE_RESPONSES[name], closes=name == "until it ends")
    async with serving(server) as url, fetching() as fetcher:
        fetcher.crawler.signals.connect(piece, signals.bytes_received)
        response = await fetcher.get(url)
    assert response.body == LARGE
    assert len(told) > 1
    assert b"".join(told) == LARGE


@pytest.mark.parametrize("name", LARGE_RESPONSES)
@pytest.mark.parametrize("stops_at", [1, 300_000, 600_000])
@deferred_f_from_coro_f
async def test_a_stopped_response_has_what_its_listener_was_told(name: str, stops_at: int) -> None:
    told: list[bytes] = []

    def piece(data: bytes) -> None:
        told.append(data)
        if sum(map(len, told)) >= stops_at:
            raise StopDownload(fail=False)

    server = Script(LARGE_RESPONSES[name])
    async with serving(server) as url, fetching() as fetcher:
        fetcher.crawler.signals.connect(piece, signals.bytes_received)
        response = await fetcher.get(url)
    assert response.flags == ["download_stopped"]
    assert response.body == b"".join(told)


@deferred_f_from_coro_f
async def test_a_defect_of_ours_fails_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    class Defect(Exception):
        pass

    def feed(self: ResponseReader, data: bytes) -> None:
        raise Defect

    server = Script(KEPT)
    async with serving(server) as url, fetching() as fetcher:
        with monkeypatch.context() as patch:
            patch.setattr(ResponseReader, "feed", feed)
            with pytest.raises(Defect):
                await fetcher.get(url)
        await until(lambda: not fetcher.open_connections)
        assert (await fetcher.get(url)).body == b"hi"


@pytest.mark.parametrize(
    ("data", "body", "flags"),
    [
        (OK + b"\r\nhi", b"hi", []),
        (OK + b"Content-Length: 2\r\n\r\nhi", b"hi", []),
        (CHUNKED + b"2\r\nhi\r\n0\r\n", b"hi", []),
        (OK + b"Content-Length: 9\r\n\r\nhi", b"hi", ["dataloss"]),
        (CHUNKED + b"2\r\nhi\r\n", b"hi", ["dataloss"]),
    ],
)
@deferred_f_from_coro_f
async def test_tls_may_end_without_a_close_notify(
    tmp_path: Path, data: bytes, body: bytes, flags: list[str]
) -> None:
    """Many servers end so, and browsers read it. What is framed is complete only at its end."""
    path, _ = self_signed(tmp_path)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(path)

    async def abrupt(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        await writer.drain()
        writer.transport.get_extra_info("socket").shutdown(socket.SHUT_WR)
        await reader.read()
        writer.transport.abort()

    lossy = {**CERTIFICATES, "DOWNLOAD_FAIL_ON_DATALOSS": False}
    async with serving(abrupt, server_side) as url, fetching(**lossy) as fetcher:
        response = await fetcher.get(url)
    assert (response.body, response.flags) == (body, flags)


@pytest.mark.parametrize("data", [OK + b"\r\nhi", CHUNKED + b"2\r\nhi\r\n0\r\n", OK[:9], b""])
@deferred_f_from_coro_f
async def test_a_reset_never_ends_a_body(data: bytes) -> None:
    is_read = asyncio.Event()

    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        await is_read.wait()
        linger = struct.pack("ii", 1, 0)
        raw = writer.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with serving(reset) as url, fetching() as fetcher:
        request = asyncio.ensure_future(fetcher.get(url))
        await until(lambda: bool(fetcher.open_connections))
        (connection,) = fetcher.handler._pool._open
        exchange = connection._exchange
        assert exchange is not None
        await until(lambda: bool(exchange._began_at) or not data)
        is_read.set()
        with pytest.raises(ResponseDataLossError if b"\r\n\r\n" in data else DownloadFailedError):
            await request


@pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 100 Continue\r\n\r\n"])
@deferred_f_from_coro_f
async def test_a_response_to_head_with_a_body_closes_the_connection(interim: bytes) -> None:
    server = Script(interim + KEPT)
    async with serving(server) as url, fetching() as fetcher:
        for _ in range(2):
            response = await fetcher.get(url, method="HEAD")
            assert (response.body, response.headers[b"Content-Length"]) == (b"", b"2")
    assert server.connections == 2
