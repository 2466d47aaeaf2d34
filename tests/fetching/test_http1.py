"""Responses as they arrive: whole, byte by byte, and cut at every place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.failures import NotHttp
from crawlproject.fetching.decoding import unpack
from crawlproject.fetching.http1 import MAX_HEAD_BYTES, ResponseReader
from tests.fetching.variants import CHUNKED, HI, LEFTOVERS, OK, VARIANTS, Variant


def read(pieces: list[bytes], *, closes: bool = False, is_head: bool = False) -> ResponseReader:
    reader = ResponseReader(is_head=is_head)
    for piece in pieces:
        reader.feed(piece)
    if closes:
        reader.end()
    return reader


def deliveries(data: bytes) -> list[list[bytes]]:
    """At once, byte by byte, and cut at every place of a short one, or in the middle."""
    single = [data[place : place + 1] for place in range(len(data))]
    places = range(1, len(data)) if len(data) < 300 else [len(data) // 2]
    return [[data], single, *([data[:place], data[place:]] for place in places)]


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_a_response_means_the_same_however_it_arrives(variant: Variant) -> None:
    for pieces in deliveries(variant.data):
        if variant.body is None:
            with pytest.raises(NotHttp):
                read(pieces)
            continue
        reader = read(pieces, closes=variant.closes)
        head = reader.head
        assert head is not None
        assert reader.is_complete
        assert head.status == variant.status
        assert unpack(reader.body(), head.codings) == variant.body
        is_kept = head.is_reusable and head.reusable_seconds > 0 and not reader.has_leftover
        # Whatever the head says, a connection that has ended is not kept.
        assert (is_kept and not variant.closes) is variant.is_kept
        assert reader.size == len(reader.body())


FRAMED = ["plain", "chunked", "trailers", "204", "304", "100", "gzip, chunked", "bare line feeds"]


@pytest.mark.parametrize("name", FRAMED)
@pytest.mark.parametrize("leftover", LEFTOVERS.values(), ids=LEFTOVERS)
def test_what_follows_a_response_is_noticed_and_not_part_of_it(name: str, leftover: bytes) -> None:
    variant = VARIANTS[name]
    for pieces in deliveries(variant.data + leftover):
        reader = read(pieces)
        assert reader.head is not None
        assert reader.is_complete
        assert reader.has_leftover
        assert reader.head.status == variant.status
        assert unpack(reader.body(), reader.head.codings) == variant.body


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        (b"A : 1\r\n: 2\r\nB\xe9: 3\r\nC\r\nD:  4 \r\n", [(b"A", b"1"), (b"D", b"4")]),
        (b"A: 1\r\n 2\r\n\t3\r\nb: \x01x\r\n", [(b"A", b"1 2 3"), (b"b", b"x")]),
        (b" folded\r\nA: 1\r\n", [(b"A", b"1")]),
        (b"\xe9: dropped\r\n with its next line\r\nA: 1\r\n", [(b"A", b"1")]),
        (b"A: a\rb\r\n", [(b"A", b"a b")]),
        (b"X-A: 1\r\nx-a: 2\r\n", [(b"X-A", b"1"), (b"x-a", b"2")]),
        (b"Set-Cookie: \xc3\xa9=1; a:b\r\n", [(b"Set-Cookie", b"\xc3\xa9=1; a:b")]),
    ],
)
def test_headers_keep_their_bytes_and_bad_ones_are_dropped(
    data: bytes, fields: list[tuple[bytes, bytes]]
) -> None:
    reader = read([OK + b"Content-Length: 0\r\n" + data + b"\r\n"])
    assert reader.head is not None
    found = [field for field in reader.head.fields if field[0] != b"Content-Length"]
    assert found == fields


def test_a_response_to_head_has_no_body() -> None:
    for lines in (b"Content-Length: 7\r\n", b"Transfer-Encoding: chunked\r\n", b""):
        reader = read([OK + lines + b"\r\n"], is_head=True)
        assert reader.is_complete
        assert (reader.body(), reader.has_leftover) == (b"", False)
        reader.feed(b"x")
        assert reader.has_leftover


@pytest.mark.parametrize(
    "data",
    [
        CHUNKED + b"none\r\n",
        CHUNKED + b"2\r\nhi!!0\r\n\r\n",
        CHUNKED + b"-2\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"0x2\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"fffffffffffffffffffffffff\r\n",
    ],
)
def test_bad_chunks_are_an_error_and_never_the_end(data: bytes) -> None:
    for pieces in deliveries(data):
        reader = read(pieces, closes=True)
        assert reader.error
        assert not reader.is_complete


@pytest.mark.parametrize("data", [OK + b"Content-Length: 9\r\n\r\nhi", CHUNKED + b"2\r\nhi\r\n"])
def test_a_body_that_is_cut_is_not_complete(data: bytes) -> None:
    reader = read([data], closes=True)
    assert (reader.is_complete, reader.body()) == (False, b"hi")


def test_a_head_without_end_is_refused_at_its_limit() -> None:
    for beginning in (OK + b"X: ", b"HTTP/1.1 200 ", OK):
        reader = ResponseReader()
        reader.feed(beginning)
        more = b"X: y\r\n" * 1_000 if beginning == OK else b"x" * 6_000
        for _ in range((MAX_HEAD_BYTES - len(beginning)) // len(more)):
            reader.feed(more)
        with pytest.raises(NotHttp, match="larger than"):
            reader.feed(more)
    with pytest.raises(NotHttp):
        read([b"\r\n" * MAX_HEAD_BYTES, b"\r\n"])


def test_chunk_lines_without_end_are_refused() -> None:
    reader = read([CHUNKED + b"2;x="])
    for _ in range(100):
        reader.feed(b"x" * 1_000)
    assert reader.error


def test_trailers_without_end_are_not_of_the_body() -> None:
    reader = read([CHUNKED + b"2\r\nhi\r\n0\r\nX: "])
    for _ in range(100):
        reader.feed(b"x" * 1_000)
    assert (reader.body(), reader.error) == (b"hi", None)
    assert reader.is_complete
    assert reader.has_leftover


@pytest.mark.parametrize("trailers", [b"", b"X: y\r\n", b"X: y\r\n\r", b"X"])
def test_the_connection_may_end_in_the_trailers_and_not_before(trailers: bytes) -> None:
    whole = CHUNKED + b"2\r\nhi\r\n0\r\n" + trailers
    reader = read([whole])
    assert not reader.is_complete
    reader.end()
    assert reader.is_complete
    assert reader.body() == b"hi"
    for size in range(len(CHUNKED), len(CHUNKED + b"2\r\nhi\r\n0\r\n")):
        assert not read([whole[:size]], closes=True).is_complete


def test_a_long_head_is_read() -> None:
    value = b"x" * 200_000
    reader = read([OK + b"X: %b\r\nContent-Length: 0\r\n\r\n" % value])
    assert reader.head is not None
    assert reader.head.headers[b"X"] == [value]


WORDS = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK", b"HTTP/1.1 304 ", b"HTTP/1.0 ", b"\r\n", b"\r\n\r\n", b"\n", b"\r"),
        *(
            b"Content-Length",
            b": ",
            b" :",
            b"2",
            b"0",
            b"hi",
            b" ",
            b"\t",
            b"close",
            b"\xe9",
            b"\0",
        ),
        *(b"Transfer-Encoding: chunked", b"identity", b"Connection: ", b"keep-alive", b",", b";"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        *(CHUNKED, HI, b"2\r\nhi\r\n", b"0\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ]
)


def outcome(pieces: list[bytes]) -> object:
    reader = ResponseReader()
    try:
        for piece in pieces:
            reader.feed(piece)
    except NotHttp:
        return NotHttp
    reader.end()
    return reader.head, reader.body(), reader.is_complete, bool(reader.error), reader.has_leftover


@given(
    st.lists(WORDS, max_size=14),
    st.sampled_from([b"", *(variant.data for variant in VARIANTS.values() if variant.body)]),
    st.lists(st.integers(0, 400), max_size=6),
)
def test_where_bytes_are_cut_never_changes_what_they_mean(
    words: list[bytes], end: bytes, cuts: list[int]
) -> None:
    data = b"".join(words) + end
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:stop] for start, stop in pairwise(places)]
    assert outcome(pieces) == outcome([data])


def test_a_body_that_follows_interim_responses_is_not_counted_as_head() -> None:
    reader = ResponseReader()
    body = b"x" * 250_000
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    reader.feed(3 * early + b"HTTP/1.1 200 OK\r\nContent-Length: 250000\r\n\r\n" + body)
    assert reader.is_complete
    assert reader.body() == body
