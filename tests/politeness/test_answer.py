"""What is read without a parser, against the parser that reads all the rest."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp.http import HttpResponseParser
from aiohttp.http_exceptions import HttpProcessingError
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.politeness.answer import Chunks, Odd, read_head

OK = b"HTTP/1.1 200 OK\r\n"


class Reader:
    """As much of a protocol as aiohttp's parser asks for."""

    def pause_reading(self) -> None: ...
    def resume_reading(self, resume_parser: bool = True) -> None: ...


def parsed(data: bytes) -> Any:
    """What aiohttp's parser makes of it: one message, and its body if it is complete."""
    loop = asyncio.new_event_loop()
    try:
        parser: Any = HttpResponseParser(
            Reader(),  # type: ignore[arg-type]
            loop,
            2**16,
            max_line_size=2**16,
            max_field_size=2**16,
            max_headers=1024,
            read_until_eof=True,
            auto_decompress=False,
        )
        messages, _, _ = parser.feed_data(data)
        ((message, payload),) = messages
        body = b"".join(payload._buffer) if payload.is_eof() else None
        return message, body
    finally:
        loop.close()


def read(data: bytes) -> Any:
    """The same of ours. None for what is left to the parser, and where there is more than an
    answer, which the parser refuses if it all comes at once.
    """
    head = read_head(data)
    if head is None:
        return None
    if head.length is None:
        chunks = Chunks(head.end)
        try:
            body = chunks.read(data)
        except Odd:
            return None
        return None if body is not None and len(data) > chunks.end else (head, body)
    body = data[head.end :]
    return None if len(body) > head.length else (head, body if len(body) == head.length else None)


def check(data: bytes) -> bool:
    """Whether it was read here; then the parser must have read the same."""
    ours = read(data)
    if ours is None:
        return False
    head, body = ours
    message, parsed_body = parsed(data)
    assert (head.status, head.reason) == (message.code, message.reason)
    assert head.fields == message.raw_headers
    assert (message.version.major, message.version.minor) == (1, 1)
    assert head.is_last == message.should_close
    assert body == parsed_body
    return True


PLAIN = [
    OK + b"Content-Length: 2\r\n\r\nhi",
    OK + b"content-length:2\r\nConnection: Keep-Alive\r\n\r\nhi",
    OK + b"CONTENT-LENGTH: \t2\r\nX-Empty:\r\nX-Two: 1\r\nx-two: 2\r\n\r\nh",
    OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n",
    OK + b"Content-Length: 1\r\nX-Latin: \xe9 \xff\r\nX-Tab: a\tb\r\n\r\nx",
    b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 404 Not  Found!\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n00A\r\n0123456789\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0",
]
ODD = [
    OK + b"Content-Length: 2 \t\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nX-Blank: \r\n\r\nhi",
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Len",
    b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 Caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n",
    b"no such thing as HTTP\r\n\r\n",
    OK + b"\r\n",
    OK + b"\r\nuntil it ends",
    OK + b"Content-Length: 2\r\n\r\nhi!",
    OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
    OK + b"Content-Length: +2\r\n\r\nhi",
    OK + b"Content-Length: 0000000002\r\n\r\nhi",
    OK + b"Content-Length: 2\r\n folded\r\n\r\nhi",
    OK + b"Content-Length : 2\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nno colon\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nX-Null: \0\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nX-Return: a\rb\r\n\r\nhi",
    OK + b"Content-Length: 2\nX: y\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    OK + b"Content-Length: 2\r\nConnection: Upgrade, close\r\n\r\nhi",
    OK + b"Content-Length: 2\r\nUpgrade: h2\r\n\r\nhi",
    OK + b"Content-Length: 2\r\n" + b"X: y\r\n" * 1024 + b"\r\nhi",
    OK + b"Content-Length: 2\r\nX: " + b"y" * 70_000 + b"\r\n\r\nhi",
    OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\n\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi!!0\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\nnone",
    b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
]


@pytest.mark.parametrize("data", PLAIN)
def test_what_nearly_all_servers_send_is_read_as_the_parser_reads_it(data: bytes) -> None:
    assert check(data)


@pytest.mark.parametrize("data", ODD)
def test_whatever_else_there_is_is_left_to_the_parser(data: bytes) -> None:
    assert read(data) is None


WORDS = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK", b"HTTP/1.1 304 ", b"\r\n", b"\r\n", b"\r\n\r\n", b"\n", b"\r"),
        *(b"Content-Length", b": ", b":", b"2", b"0", b"hi", b" ", b"\t", b"close", b"\xe9", b"\0"),
        *(b"Transfer-Encoding: chunked", b"Connection: ", b"keep-alive", b",", b";", b"a", b"X"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"2\r\nhi\r\n",
        b"0\r\n\r\n",
    ]
)


@given(st.lists(WORDS, max_size=12), st.sampled_from([b"", *PLAIN]))
def test_nothing_is_read_as_the_parser_does_not(words: list[bytes], end: bytes) -> None:
    data = b"".join(words) + end
    try:
        check(data)
    except HttpProcessingError as error:
        raise AssertionError(f"the parser refuses {data!r}") from error


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    st.lists(st.integers(0, 300), max_size=10),
)
def test_chunks_may_be_cut_anywhere(chunks: list[bytes], cuts: list[int]) -> None:
    data = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    reading = Chunks(0)
    for cut in sorted(cuts):
        assert reading.read(data[:cut]) is None or cut >= len(data)
    assert reading.read(data) == b"".join(chunks)
