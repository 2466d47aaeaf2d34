from __future__ import annotations

import gzip
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.sitemaps.pieces import Pieces

NOISE = Random(0).randbytes(300_000)
NO_LIMIT = 10_000_000


def packed(body: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        body = gzip.compress(body, mtime=0)
    return body


def whole(body: bytes, most_bytes: int = NO_LIMIT) -> tuple[bytes, str | None]:
    pieces = Pieces(body, most_bytes)
    return b"".join(pieces), pieces.problem


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("body", [b"x", b"text " * 50_000, NOISE, bytes(500_000)], ids=range(4))
def test_a_body_comes_back(body: bytes, times: int) -> None:
    assert whole(packed(body, times)) == (body, None)


@pytest.mark.parametrize(
    ("body", "unpacked"),
    [
        (b"", b""),
        (packed(b""), b""),
        (packed(b"x") + packed(b"y"), b"xy"),
        (packed(b"x" * 8_192) + packed(b"y"), b"x" * 8_192 + b"y"),
        (packed(b"x") + bytes(100_000), b"x"),
        (packed(NOISE) + b"\n", NOISE),
        (b"x" + packed(b"y"), b"x" + packed(b"y")),
    ],
)
def test_what_sites_have(body: bytes, unpacked: bytes) -> None:
    assert whole(body) == (unpacked, None)


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("body", [bytes(200_000), NOISE], ids=["zeros", "noise"])
def test_one_byte_over_the_limit_is_too_much(body: bytes, times: int) -> None:
    # Noise is longer when it is packed; that, too, is bounded.
    limit = max(len(packed(body, times)), len(packed(body)), len(body))
    assert whole(packed(body, times), limit) == (body, None)
    few, problem = whole(packed(body, times), len(body) - 1)
    assert problem == f"it has more than {len(body) - 1:,} bytes"
    assert body.startswith(few)
    assert len(few) < len(body)


@pytest.mark.parametrize("times", [1, 2])
def test_of_a_bomb_no_more_is_unpacked_than_the_limit(times: int) -> None:
    pieces = Pieces(packed(bytes(3_000_000), times), 100_000)
    sizes = [len(piece) for piece in pieces]
    assert sum(sizes) == 100_000
    assert max(sizes) <= 8_192
    assert pieces.problem == "it has more than 100,000 bytes"


@pytest.mark.parametrize("kept", [2, 9, 10, 1_000, 200_000, -9, -1])
def test_what_ends_too_soon_is_unpacked_up_to_there(kept: int) -> None:
    few, problem = whole(packed(NOISE)[:kept])
    assert problem == "it is gzip that ends too soon"
    assert NOISE.startswith(few)
    assert len(few) >= len(packed(NOISE)[:kept]) - 10_000


def test_what_is_damaged_is_unpacked_up_to_there() -> None:
    body = b"".join(b"line %d\n" % number for number in range(100_000))
    damaged = bytearray(packed(body))
    damaged[len(damaged) // 2 :] = NOISE[: len(damaged) // 2]
    few, problem = whole(bytes(damaged))
    assert problem == "it is damaged gzip"
    assert body.startswith(few[: len(body) // 3])


@pytest.mark.parametrize("body", [b"x", NOISE, bytes(8_192), bytes(100_000)], ids=range(4))
def test_a_wrong_checksum_costs_nothing(body: bytes) -> None:
    assert whole(packed(body)[:-8] + b"12345678") == (body, "it is damaged gzip")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (packed(b"x", 3), "it is packed more than 2 times"),
        (packed(b"") * 2_000, "it is more than 1,000 gzip files"),
        (packed(packed(b"") * 2_000), "it is more than 1,000 gzip files"),
        (b"\x1f\x8bno gzip at all", "it is damaged gzip"),
    ],
)
def test_what_nobody_needs_to_send(body: bytes, problem: str) -> None:
    assert whole(body) == (b"", problem)


@given(st.binary(), st.integers(0, 3), st.integers(64, 200))
def test_any_bytes_come_back_up_to_the_limit(body: bytes, times: int, most_bytes: int) -> None:
    found, problem = whole(packed(body, times), most_bytes)
    assert len(found) <= most_bytes
    if times <= 2 and not body.startswith(b"\x1f\x8b"):
        assert body.startswith(found)
        assert found == body or problem is not None


@given(st.binary())
def test_any_bytes_may_be_called_gzip(noise: bytes) -> None:
    whole(b"\x1f\x8b" + noise)
    whole(b"\x1f\x8b\x08\x00" + bytes(6) + noise)
