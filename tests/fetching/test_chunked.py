"""Chunked bodies against an encoder that writes them in every way that servers do."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.failures import NotHttp
from crawlproject.fetching.chunked import MAX_OVERHEAD, ChunkedBody


class Decoded(NamedTuple):
    data: bytes
    # The position behind the body. None: it has not ended.
    end: int | None
    is_refused: bool = False


def decode(pieces: list[bytes]) -> Decoded:
    body, found = ChunkedBody(), list[bytes]()
    position = 0
    for piece in pieces:
        try:
            end = body.feed(piece, found)
        except NotHttp:
            return Decoded(b"".join(found), None, is_refused=True)
        assert body.size == sum(map(len, found))
        if end is not None:
            assert 0 <= end <= len(piece)
            assert body.has_last_chunk
            return Decoded(b"".join(found), position + end)
        position += len(piece)
    return Decoded(b"".join(found), None)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    return [data[start:end] for start, end in pairwise(sorted({0, len(data), *places}))]


LINE_ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\n"])
SPACES = st.sampled_from([b"", b"", b" ", b"\t  ", b" " * 40])
EXTENSIONS = st.sampled_from([b"", b"", b";", b";a=b", b';a="b;c"', b";\xe9\0\r", b";" * 70])
SIZES = st.one_of(st.integers(1, 20), st.sampled_from([100, 4_096]))
UNITS = st.sampled_from([b"x", b"\r\n", b"1\r\nx\r\n", b"\n0\r\n\r\n"])
TRAILERS = st.lists(st.sampled_from([b"X: y", b"2", b"0", b": \0", b"\xe9"]), max_size=3)


@st.composite
def encoded(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A body, and its chunks."""
    body = coded = b""
    # The same line several times in a row is a case of its own.
    for size, count in draw(st.lists(st.tuples(SIZES, st.integers(1, 5)), max_size=6)):
        zeros, style = draw(st.sampled_from(["", "", "000"])), draw(st.sampled_from(["x", "X"]))
        number = f"{zeros}{size:{style}}".encode()
        line = draw(SPACES) + number + draw(SPACES) + draw(EXTENSIONS) + draw(LINE_ENDS)
        line_break = draw(LINE_ENDS)
        for _ in range(count):
            data = (draw(UNITS) * size)[:size]
            body += data
            coded += line + data + line_break
    coded += draw(st.sampled_from([b"0", b"000"])) + draw(EXTENSIONS) + draw(LINE_ENDS)
    for trailer in draw(TRAILERS):
        coded += trailer + draw(LINE_ENDS)
    return body, coded + draw(LINE_ENDS)


PLACES = st.lists(st.integers(0, 500), max_size=8)


@given(encoded(), st.binary(max_size=4), PLACES)
def test_what_an_encoder_writes_is_decoded_to_the_byte(
    written: tuple[bytes, bytes], leftover: bytes, places: list[int]
) -> None:
    body, coded = written
    data = coded + leftover
    expected = Decoded(body, len(coded))
    assert decode([data]) == expected
    assert decode(cut(data, [place for place in places if place < len(data)])) == expected
    if len(data) < 500:
        assert decode([data[place : place + 1] for place in range(len(data))]) == expected


@given(encoded(), st.integers(0, 10_000))
def test_a_part_of_a_body_is_never_a_whole_one(written: tuple[bytes, bytes], size: int) -> None:
    body, coded = written
    part = decode([coded[: min(size, len(coded) - 1)]])
    assert part.end is None
    assert not part.is_refused
    assert body.startswith(part.data)


FRAGMENTS = [
    *(b"2\r\nhi\r\n", b"2\r\nhi", b"1\r\nx\r\n", b"f\r\n", b"14\r\n" + b"x" * 20 + b"\r\n", b"2"),
    *(b"0\r\n", b"\r\n", b"\r", b"\n", b" ", b"\t", b";", b"x", b"-", b"0x2", b"\0", b"g", b"X: y"),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), PLACES)
def test_where_any_bytes_are_cut_never_changes_what_they_mean(
    fragments: list[bytes], places: list[int]
) -> None:
    data = b"".join(fragments)
    expected = decode([data])
    assert decode(cut(data, [place for place in places if place < len(data)])) == expected
    assert decode([data[place : place + 1] for place in range(len(data))]) == expected


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b" ", b";a", b"g", b"2g", b"0x2", b"-2", b"+2", b"2_0", b"2 2", b"2,", b"2\0"),
        *(b"\xb2", b"2\rx", b"\r2", b" \r2", b"2 \r2", b"1" * 16, b"f" * 40, b"2 x;a", b"hi"),
    ],
)
def test_bad_size_is_refused(line: bytes) -> None:
    for before in (b"", b"1\r\nx\r\n", b"20\r\n" + b"x" * 32 + b"\r\n"):
        for after in (b"\r\nhi\r\n", b"\nhi\r\n"):
            data = before + line + after
            assert decode([data]).is_refused
            assert decode([data[place : place + 1] for place in range(len(data))]).is_refused


@pytest.mark.parametrize("size", [1, 15, 16, 100])
@pytest.mark.parametrize("behind", [b"x\r\n", b"\rx", b"0\r\n\r\n", b" \r\n"])
def test_chunk_that_is_longer_than_its_size_is_refused(size: int, behind: bytes) -> None:
    data = b"%x\r\n%b" % (size, b"x" * size)
    for before in (b"", data + b"\r\n", 3 * (data + b"\r\n")):
        assert decode([before + data + behind]).is_refused


@pytest.mark.parametrize("filler", [b" ", b"\t", b"\r", b"e"])
def test_chunk_line_has_a_limit(filler: bytes) -> None:
    start = b"2;" if filler == b"e" else b"2"
    for length, is_refused in ((MAX_OVERHEAD - 10, False), (MAX_OVERHEAD, True)):
        line = start + filler * length
        for pieces in ([line, b"\r\nhi\r\n"], [line + b"\r\nhi\r\n"], cut(line, [1, 900, 40_000])):
            assert decode(pieces).is_refused is is_refused


def test_white_space_of_a_chunk_line_is_not_kept() -> None:
    body = ChunkedBody()
    for piece in (b"2", *[b" " * 100] * 100, b"\r"):
        body.feed(piece, [])
    assert len(body._pending) < 10


@pytest.mark.parametrize("trailer", [b"x", b"X: y\r\n"])
def test_body_ends_at_the_limit_of_its_trailers(trailer: bytes) -> None:
    data = b"0\r\n" + trailer * MAX_OVERHEAD + b"\r\n\r\n"
    whole = decode([data])
    assert whole.end is not None
    assert whole.end < MAX_OVERHEAD + 100
    for places in ([1, 2, 3, 4], [3, MAX_OVERHEAD], [9, 70, 500, MAX_OVERHEAD + 3]):
        assert decode(cut(data, places)) == whole


def test_tiny_chunks_become_few_pieces() -> None:
    pieces: list[bytes] = []
    end = ChunkedBody().feed(b"2\r\nab\r\n" * 10_000 + b"0\r\n\r\n", pieces)
    assert (len(pieces), pieces[0], end) == (1, b"ab" * 10_000, 70_005)
