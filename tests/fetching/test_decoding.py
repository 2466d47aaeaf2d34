from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.fetching.decoding import (
    ENCODINGS,
    CutShortError,
    TooLargeError,
    UnpackError,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NOISE = Random(0).randbytes(600_000)
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def raw_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(body) + stream.flush()


def test_all_that_is_asked_for_can_be_unpacked() -> None:
    assert tuple(PACK) == ENCODINGS


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("body", [b"", b"x", b"text " * 10_000, NOISE], ids=range(4))
def test_a_body_comes_back(encoding: str, body: bytes) -> None:
    packed = PACK[encoding](body)
    assert unpack(packed, [encoding]) == body
    assert unpack(packed, [encoding], len(body) or 1) == body


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("body", [bytes(1_000_000), NOISE], ids=["zeros", "noise"])
def test_one_byte_over_the_limit_is_too_large(encoding: str, body: bytes) -> None:
    packed = PACK[encoding](body)
    assert unpack(packed, [encoding], len(body)) == body
    with pytest.raises(TooLargeError):
        unpack(packed, [encoding], len(body) - 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kept", [1, 5, 11, 1000, 300_000, -12])
def test_what_ends_too_soon_is_known(encoding: str, kept: int) -> None:
    with pytest.raises(CutShortError) as caught:
        unpack(PACK[encoding](NOISE)[:kept], [encoding])
    assert NOISE.startswith(caught.value.so_far)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_noise_can_not_be_unpacked(encoding: str) -> None:
    with pytest.raises(UnpackError, match=f"bad {encoding}"):
        unpack(b"<p>This page was never compressed, whatever its header says.", [encoding])


@pytest.mark.parametrize(
    ("body", "encodings", "unpacked"),
    [
        (b"x", [], b"x"),
        (b"x", ["", "identity"], b"x"),
        (b"x", ["none"], b"x"),
        (b"x", ["utf-8"], b"x"),
        (b"x", ["", "text/html", "x" * 100, "gzip_"], b"x"),
        (b"x", ["none"] * 1000, b"x"),
        (gzip.compress(b"x", mtime=0), ["utf-8", "gzip", "none"], b"x"),
        (b"", ["gzip"], b""),
        (gzip.compress(b"x", mtime=0), ["x-gzip"], b"x"),
        (gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), ["gzip", "gzip"], b"x"),
        (brotli.compress(gzip.compress(b"x", mtime=0)), ["gzip", "br"], b"x"),
        (gzip.compress(b"x", mtime=0) + gzip.compress(b"y", mtime=0), ["gzip"], b"xy"),
        (zstd.compress(b"x") + zstd.compress(b"y"), ["zstd"], b"xy"),
        (gzip.compress(b"x", mtime=0) + bytes(512), ["gzip"], b"x"),
        (raw_deflate(b"x" * 100), ["deflate"], b"x" * 100),
        # Without the checksum and the length, and with wrong ones.
        (gzip.compress(b"x", mtime=0)[:-8], ["gzip"], b"x"),
        (gzip.compress(b"x", mtime=0)[:-8] + b"12345678", ["gzip"], b"x"),
        (zlib.compress(b"x")[:-4], ["deflate"], b"x"),
        # A header with all that it may have: extra, name, comment, checksum.
        (
            b"\x1f\x8b\x08\x1e" + bytes(6) + b"\x02\x00abname\0comment\0hc" + raw_deflate(b"x"),
            ["gzip"],
            b"x",
        ),
    ],
)
def test_what_servers_send(body: bytes, encodings: list[str], unpacked: bytes) -> None:
    assert unpack(body, encodings) == unpacked


@pytest.mark.parametrize(
    ("body", "encodings", "problem"),
    [
        (b"x", ["compress"], "encoding 'compress'"),
        (gzip.compress(b"x", mtime=0), ["bzip2", "gzip"], "encoding 'bzip2'"),
        (b"", ["x-compress"], "encoding 'x-compress'"),
        (b"x", ["gzip", "x" * 100], "bad gzip"),
        (b"x", ["gzip"] * 1000, "1000 encodings"),
        (gzip.compress(b"", mtime=0) * 100_000, ["gzip"], "bad gzip"),
        (zstd.compress(b"") * 100_000, ["zstd"], "bad zstd"),
    ],
)
def test_what_nobody_needs_to_send(body: bytes, encodings: list[str], problem: str) -> None:
    with pytest.raises(UnpackError, match=problem):
        unpack(body, encodings)


FOLLOWING = {
    "a byte": b"\0",
    "padding": bytes(512),
    "a comment": b"<!-- stored in a cache -->",
    "noise": NOISE[:100_000],
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("following", FOLLOWING.values(), ids=FOLLOWING)
@pytest.mark.parametrize("body", [b"x", b"text " * 10_000, NOISE], ids=range(3))
def test_bytes_behind_a_stream_are_ignored(encoding: str, following: bytes, body: bytes) -> None:
    packed = PACK[encoding](body) + following
    assert unpack(packed, [encoding], len(body)) == body
    if len(body) > 1:
        with pytest.raises(TooLargeError):
            unpack(packed, [encoding], len(body) - 1)


@pytest.mark.parametrize("behind", [b"\x28", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd"])
def test_a_second_zstd_frame_that_is_cut_is_known(behind: bytes) -> None:
    with pytest.raises(CutShortError) as caught:
        unpack(zstd.compress(b"x") + behind, ["zstd"])
    assert caught.value.so_far == b"x"


@pytest.mark.parametrize("kind", [0x50, 0x5F])
def test_zstd_frames_without_data_are_skipped(kind: int) -> None:
    frame = bytes([kind]) + b"\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"any"
    assert unpack(frame + zstd.compress(b"x") + frame + zstd.compress(b"y"), ["zstd"]) == b"xy"


@given(st.binary(min_size=1), st.binary(), st.sampled_from(ENCODINGS))
def test_a_body_comes_back_whatever_is_behind_it(body: bytes, behind: bytes, encoding: str) -> None:
    # What looks like another stream is read as one.
    if not behind.startswith((b"\x1f", b"\x28")) and behind[1:4] != b"\x2a\x4d\x18":
        assert unpack(PACK[encoding](body) + behind, [encoding]) == body


@given(st.binary(), st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "x"]), max_size=3))
def test_any_bytes_end_in_one_of_four_ways(body: bytes, encodings: list[str]) -> None:
    with suppress(TooLargeError, UnpackError, CutShortError):
        assert len(unpack(body, encodings, 1000)) <= max(1000, len(body))
