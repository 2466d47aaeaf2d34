"""Answers that come in pieces, or do not come to an end."""

from __future__ import annotations

import asyncio
import gc
import ssl
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.politeness.client import Client
from crawlproject.politeness.exchange import Answer
from tests.certificates import self_signed
from tests.politeness.test_client import OK, SSL, at_once, made_client, outcome
from tests.politeness.test_handler import serving

if TYPE_CHECKING:
    from pathlib import Path

KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Server:
    """Writes the given pieces for each request, one at a time, and does not end by itself."""

    def __init__(self, *pieces: bytes, endless: bool = False) -> None:
        self.pieces = pieces
        self.endless = endless
        self.asked: list[bytes] = []
        self.connections = 0
        self.written = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.append(head)
                for piece in self.pieces:
                    writer.write(piece)
                    await writer.drain()
                    # A packet of its own, as far as the kernel cares.
                    await asyncio.sleep(0.001)
                while self.endless:
                    writer.write(b"x" * 65536)
                    self.written += 65536
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


async def get(client: Client, url: str, *, seconds: float = 5, most: int = 0) -> Any:
    plain = client.plain(url, {})
    assert plain is not None
    return await client.get(plain, seconds, most, at_once)


def single(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


PIECES = {
    "all at once": [KEPT],
    "byte by byte": single(KEPT),
    "head and body": [KEPT[:-2], KEPT[-2:]],
    "within the head": [KEPT[:20], KEPT[20:]],
    "within the body": [KEPT[:-1], KEPT[-1:]],
    "chunks": [CHUNKED, b"2\r", b"\nh", b"i\r\n", b"0", b"\r\n\r", b"\n"],
    "chunks byte by byte": [CHUNKED, *single(b"1\r\nh\r\n1\r\ni\r\n0\r\n\r\n")],
    "trailers": [CHUNKED + b"2\r\nhi\r\n0\r\n", b"X-Trailer: 1\r\n", b"\r\n"],
    "first another": [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", KEPT],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
@deferred_f_from_coro_f
async def test_an_answer_may_be_cut_anywhere_and_its_connection_is_kept(
    pieces: list[bytes],
) -> None:
    server = Server(*pieces)
    async with serving(server) as url, made_client() as client:
        for short in (True, True, False, True):
            status, _, body = await outcome(client, url, short=short)
            assert (status, body) == (200, b"hi")
    assert (server.connections, len(server.asked)) == (1, 4)
    assert len(set(server.asked)) == 1


@deferred_f_from_coro_f
async def test_an_answer_is_not_waited_for_longer_than_is_allowed() -> None:
    for pieces in ([], [KEPT[:9]], [KEPT[:-1]], [CHUNKED + b"2\r\nh"]):
        server = Server(*pieces)
        async with serving(server) as url, made_client() as client:
            short, long = [await outcome(client, url, short=short) for short in (True, False)]
        assert short == long
        assert short[0] is TimeoutError
        # None is used again.
        assert server.connections == 2


@deferred_f_from_coro_f
async def test_nor_is_a_connection() -> None:
    class Silent(AbstractResolver):
        async def resolve(self, *_: Any, **__: Any) -> Any:
            await asyncio.get_running_loop().create_future()

        async def close(self) -> None:
            pass

    complaints: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, about: complaints.append(about))
    client = Client(TCPConnector(resolver=Silent()), SSL)
    with pytest.raises(TimeoutError):
        await get(client, "http://site.test/", seconds=0.05)
    await client.close()
    gc.collect()
    loop.set_exception_handler(None)
    assert complaints == []


@deferred_f_from_coro_f
async def test_what_comes_unasked_is_not_the_answer_to_the_next_request() -> None:
    bodies = [b"1", b"2"]
    # Of the connection that is kept.
    writers = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + bodies.pop(0))
        await reader.read()
        writer.close()

    async with serving(answer) as url, made_client() as client:
        first = await get(client, url)
        ((kept, _),) = next(iter(client._connector._conns.values()))
        writers[0].write(KEPT)
        for _ in range(1000):
            if not kept.is_connected():
                break
            await asyncio.sleep(0.001)
        second = await get(client, url)
    assert (first.body, second.body) == (b"1", b"2")
    assert len(writers) == 2


@deferred_f_from_coro_f
async def test_a_long_answer_waits_at_its_server_until_it_is_read() -> None:
    for length in (b"Content-Length: 999999999\r\n", b""):
        server = Server(b"HTTP/1.1 200 OK\r\n%b\r\n" % length, endless=True)
        async with serving(server) as url, made_client() as client:
            response = await get(client, url)
            assert not isinstance(response, Answer)
            written = -1
            while written < server.written:
                written = server.written
                await asyncio.sleep(0.05)
            assert response.content._size < 2**20
            response.close()


@deferred_f_from_coro_f
async def test_one_with_more_bytes_than_are_wanted_is_left_to_who_judges_it() -> None:
    chunks = b"5\r\nhello\r\n" * 2 + b"0\r\n\r\n"
    plain = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + b"hello" * 2
    for data in (plain, CHUNKED + chunks):
        async with serving(Server(data)) as url, made_client() as client:
            for most, is_whole in ((5, False), (9, False), (100, True), (0, True)):
                answer = await get(client, url, most=most)
                assert isinstance(answer, Answer) is is_whole
                if isinstance(answer, Answer):
                    assert answer.body == b"hello" * 2
                else:
                    assert await answer.read() == b"hello" * 2


@deferred_f_from_coro_f
async def test_a_connection_that_its_server_ends_is_not_used_again() -> None:
    server = Server(OK.encode())
    async with serving(server) as url, made_client() as client:
        for _ in range(2):
            assert (await get(client, url)).body == b"hi"
    assert server.connections == 2


@deferred_f_from_coro_f
async def test_over_tls_an_answer_knows_its_certificate(tmp_path: Path) -> None:
    path, certificate = self_signed(tmp_path)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(path)
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    server = Server(KEPT)
    listening = await asyncio.start_server(server, "127.0.0.1", 0, ssl=server_side)
    client = Client(TCPConnector(), trusting)
    async with listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        answers = [await get(client, url) for _ in range(2)]
        await client.close()
    assert [answer.body for answer in answers] == [b"hi"] * 2
    assert [answer.certificate for answer in answers] == [certificate] * 2
    assert [str(answer.address) for answer in answers] == ["127.0.0.1"] * 2
    assert server.connections == 1
