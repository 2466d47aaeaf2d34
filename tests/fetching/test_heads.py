"""Heads of responses: what is kept of them, how they frame the body, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.failures import NotHttp
from crawlproject.fetching.heads import parse_head
from crawlproject.fetching.leniency import parse_length, repair_head
from tests.counting import CountedBytes, counted
from tests.fetching.variants import OK

if TYPE_CHECKING:
    from crawlproject.fetching.heads import Head


def parsed(*lines: bytes, start: bytes = OK, is_head: bool = False) -> Head:
    raw = start + b"".join([line + b"\r\n" for line in lines]) + b"\r\n"
    return parse_head(raw, is_head=is_head)


@pytest.mark.parametrize(
    ("line", "status", "reason", "protocol"),
    [
        (b"HTTP/1.1 200 OK", 200, "OK", "HTTP/1.1"),
        (b"HTTP/1.0 404 Not Found", 404, "Not Found", "HTTP/1.0"),
        (b"HTTP/1.1 200", 200, "", "HTTP/1.1"),
        (b"HTTP/1.1 200 ", 200, "", "HTTP/1.1"),
        (b"HTTP/1.1 200 Caf\xe9", 200, "Caf\xe9", "HTTP/1.1"),
        (b"HTTP/1.1\t 200\tOK", 200, "OK", "HTTP/1.1"),
        (b"HTTP/1.1 200OK", 200, "OK", "HTTP/1.1"),
        (b"HTTP/1.1 200-OK", 200, "-OK", "HTTP/1.1"),
        (b"http/1.1 301 moved", 301, "moved", "HTTP/1.1"),
        (b"HTTP/1 200 OK", 200, "OK", "HTTP/1.0"),
        (b"HTTP/1.2 200 OK", 200, "OK", "HTTP/1.1"),
        (b"HTTP/1.10 200 OK", 200, "OK", "HTTP/1.1"),
        (b"HTTP/2 200", 200, "", "HTTP/2.0"),
        (b"HTTP/2.0 200 OK", 200, "OK", "HTTP/2.0"),
        (b"HTTP/0.9 200 OK", 200, "OK", "HTTP/0.9"),
        (b"HTTP/1.1 999 Denied", 999, "Denied", "HTTP/1.1"),
        (b"HTTP/1.1 200 a\rb\x01c", 200, "a b c", "HTTP/1.1"),
    ],
)
def test_status_line(line: bytes, status: int, reason: str, protocol: str) -> None:
    head = parsed(b"Content-Length: 2", start=line + b"\r\n")
    assert (head.status, head.reason.strip(), head.protocol) == (status, reason, protocol)
    assert head.fields == ((b"Content-Length", b"2"),)


@pytest.mark.parametrize(
    "line",
    [
        *(b"HTTP/1.1", b"HTTP/1.1 ", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1 abc"),
        *(b"HTTP/1.1 099 OK", b"HTTP/1.1 000 OK", b"HTTP/3.0 200 OK", b"HTTP/11 200 OK"),
        *(b"HTTP/1.1 -200 OK", b"HTTP/1.1 +20 OK", b"HTTP/1.1 2\xb200", b"HTTP/1.x 200 OK"),
    ],
)
def test_what_is_no_status_line_is_refused(line: bytes) -> None:
    with pytest.raises(NotHttp):
        parsed(b"Content-Length: 2", start=line + b"\r\n")


@pytest.mark.parametrize(
    "head",
    [
        *(b"HTTP/1.1 200 O\0K\r\n\r\n", OK + b"X\0: y\r\n\r\n", OK + b"X: \0\r\n\r\n"),
        *(OK + b"\0\r\n\r\n", OK + b"X: y\r\n \0\r\n\r\n", OK + b"X: y\0\r\n\r\n"),
        OK + b"Content-Length: 2\0\r\n\r\n",
    ],
)
def test_nul_is_refused_anywhere(head: bytes) -> None:
    with pytest.raises(NotHttp):
        parse_head(head)


LENGTHS: list[tuple[list[bytes], int | None]] = [
    ([b"Content-Length: 2"], 2),
    ([b"content-length:2"], 2),
    ([b"Content-Length: 002 "], 2),
    ([b"Content-Length: 2", b"Content-Length: 2"], 2),
    ([b"Content-Length: 2, 02"], 2),
    ([b"Content-Length: 2", b"Content-Length: x"], None),
    ([b"Content-Length: 2,"], None),
    ([b"Content-Length: +2"], None),
    ([b"Content-Length: 2.0"], None),
    ([b"Content-Length: 0x2"], None),
    ([b"Content-Length: \xb2"], None),
    ([b"Content-Length:"], None),
    ([b"Content-Length: 9223372036854775807"], 2**63 - 1),
    ([b"Content-Length: 9223372036854775808"], None),
    ([b"Content-Length: 18446744073709551615"], None),
    ([b"Content-Length: 18446744073709551618"], None),
    ([b"Content-Length: " + b"9" * 10_000], None),
    ([b"Content-Length: " + b"0" * 10_000 + b"2"], 2),
    ([b"Content-Length:", b" 2"], 2),
    ([], None),
]


@pytest.mark.parametrize(("lines", "length"), LENGTHS)
def test_length_of_the_body(lines: list[bytes], length: int | None) -> None:
    head = parsed(*lines)
    assert (head.length, head.is_chunked, head.codings) == (length, False, ())
    # If nothing says where the body ends, the connection does.
    assert head.is_reusable is (length is not None)


@given(st.integers(0, 2**70), st.integers(0, 60))
def test_length_is_the_number_or_too_large(number: int, zeros: int) -> None:
    expected = number if number < 2**63 else None
    assert parse_length(b"0" * zeros + b"%d" % number) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 2", b"Content-Length: 3"],
        [b"Content-Length: 2, 3"],
        [b"Content-Length: 2", b"Content-Length: %d" % 2**80],
    ],
)
def test_different_lengths_are_refused(lines: list[bytes]) -> None:
    with pytest.raises(NotHttp, match="different"):
        parsed(*lines)
    # The chunks say where the body ends.
    assert parsed(*lines, b"Transfer-Encoding: chunked").is_chunked


TE = b"Transfer-Encoding: "
LENGTH = b"Content-Length: 9"


@pytest.mark.parametrize(
    ("lines", "is_chunked", "codings", "length", "is_reusable"),
    [
        ([TE + b"chunked"], True, (), None, True),
        ([TE + b" CHUNKED "], True, (), None, True),
        ([TE + b"chunked, Chunked"], True, (), None, True),
        ([TE + b"chunked", TE + b"chunked"], True, (), None, True),
        ([TE + b"identity"], False, (), None, False),
        ([TE + b"identity", LENGTH], False, (), 9, True),
        ([TE, LENGTH], False, (), 9, True),
        ([TE + b"identity, chunked"], True, (), None, True),
        ([TE + b"identity, chunked", LENGTH], True, (), None, False),
        ([TE + b"chunked", LENGTH], True, (), None, False),
        ([LENGTH, TE + b"chunked"], True, (), None, False),
        ([TE + b"gzip, chunked"], True, ("gzip",), None, True),
        ([TE + b"gzip", TE + b"deflate, chunked"], True, ("gzip", "deflate"), None, True),
        ([TE + b"gzip"], False, ("gzip",), None, False),
        ([TE + b"gzip", LENGTH], False, ("gzip",), 9, False),
        ([TE + b"compress, chunked"], True, ("compress",), None, True),
        ([TE + b"none", LENGTH], False, (), 9, False),
        ([TE + b"none, chunked"], True, (), None, False),
        ([TE + b"xchunked", LENGTH], False, (), 9, False),
        ([TE + b"chunked;q=1"], False, (), None, False),
    ],
)
def test_transfer_codings(
    lines: list[bytes],
    is_chunked: bool,
    codings: tuple[str, ...],
    length: int | None,
    is_reusable: bool,
) -> None:
    head = parsed(*lines)
    assert (head.is_chunked, head.codings, head.length) == (is_chunked, codings, length)
    assert head.is_reusable is is_reusable


@pytest.mark.parametrize("lines", [[], [LENGTH], [TE + b"chunked"], [TE + b"gzip"], [TE + b"x"]])
def test_some_responses_have_no_body_whatever_their_head_says(lines: list[bytes]) -> None:
    for status in (b"204", b"304", b"100", b"103"):
        head = parsed(*lines, start=b"HTTP/1.1 %b OK\r\n" % status)
        assert (head.length, head.is_chunked, head.codings) == (0, False, ())
    head = parsed(*lines, is_head=True)
    assert (head.length, head.is_chunked, head.codings) == (0, False, ())


@pytest.mark.parametrize(
    ("start", "connection", "is_reusable"),
    [
        (b"HTTP/1.1", None, True),
        (b"HTTP/1.1", b"keep-alive", True),
        (b"HTTP/1.1", b"Keep-Alive", True),
        (b"HTTP/1.1", b"close", False),
        (b"HTTP/1.1", b"CLOSE", False),
        (b"HTTP/1.1", b"keep-alive, close", False),
        (b"HTTP/1.1", b"upgrade", True),
        (b"HTTP/1.0", None, False),
        (b"HTTP/1.0", b"keep-alive", True),
        (b"HTTP/1.0", b"x, Keep-Alive", True),
        (b"HTTP/1.0", b"close", False),
        (b"HTTP/1", None, False),
        (b"HTTP/0.9", b"keep-alive", False),
    ],
)
def test_connection_is_kept_as_its_header_says(
    start: bytes, connection: bytes | None, is_reusable: bool
) -> None:
    lines = [LENGTH] if connection is None else [LENGTH, b"Connection: " + connection]
    assert parsed(*lines, start=start + b" 200 OK\r\n").is_reusable is is_reusable


@pytest.mark.parametrize(
    ("keep_alive", "seconds"),
    [
        ([], inf),
        ([b"timeout=5"], 4),
        ([b"timeout=5, max=100"], 4),
        ([b"max=100, Timeout = 5"], 4),
        ([b'timeout="5"'], 4),
        ([b"max=100", b"timeout=5"], 4),
        ([b"timeout=1"], 0.5),
        ([b"timeout=0"], 0),
        ([b"max=100"], inf),
        ([b"timeout"], inf),
        ([b"timeout=x"], inf),
        ([b"xtimeout=5"], inf),
        ([b"timeout=" + b"9" * 5_000], 999_999_998),
        ([b""], inf),
    ],
)
def test_connection_is_reused_for_less_than_the_server_keeps_it(
    keep_alive: list[bytes], seconds: float
) -> None:
    head = parsed(LENGTH, *[b"Keep-Alive: " + value for value in keep_alive])
    assert head.reusable_seconds == seconds


def test_number_of_headers_is_limited() -> None:
    assert len(parsed(*[b"X: y"] * 1_024).fields) == 1_024
    for odd in (b"X: y", b"X : y", b"X: y\r\n folded"):
        with pytest.raises(NotHttp, match="more than 1024 headers"):
            parsed(odd, *[b"X: y"] * 1_024)


UNITS = [b"X: y\r\n", b" folded\r\n", b"X : y\r\n", b": \r\n", b"2, ", b"\r"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("before", [b"A: b\r\n", b"Content-Length: 2", b"Transfer-Encoding: a"])
def test_rewriting_a_head_takes_work_in_proportion_to_its_size(unit: bytes, before: bytes) -> None:
    def work(count: int) -> int:
        head = CountedBytes(OK + before + unit * count + b"\r\n\r\n")

        def rewrite() -> None:
            with suppress(NotHttp):
                repair_head(head)

        return counted(rewrite)

    work(10)
    assert work(400) <= 8 * work(100) + 1_000


NAMES = st.sampled_from([b"X", b"x-y", b"Content-Length", b"Transfer-Encoding", b""])
VALUES = st.sampled_from([b"", b"2", b"02", b"chunked", b"identity", b"\xe9", b"a:b", b"\t2 "])
ENDS = st.sampled_from([b"\r\n", b"\n"])


@given(st.lists(st.tuples(NAMES, st.sampled_from([b":", b": ", b" :"]), VALUES, ENDS), max_size=6))
def test_line_ends_never_change_what_a_head_means(
    lines: list[tuple[bytes, bytes, bytes, bytes]],
) -> None:
    def meaning(head: bytes) -> object:
        try:
            found = parse_head(head)
        except NotHttp:
            return NotHttp
        # A head that is rewritten has its lengths and codings in one spelling, behind the others.
        framing = (b"Content-Length", b"Transfer-Encoding")
        fields = tuple(field for field in found.fields if field[0].title() not in framing)
        return found._replace(fields=fields, headers={})

    mixed = b"".join([b"".join(line) for line in lines])
    strict = b"".join([b"".join(line[:3]) + b"\r\n" for line in lines])
    assert meaning(OK + mixed + b"\r\n") == meaning(OK + strict + b"\r\n")
