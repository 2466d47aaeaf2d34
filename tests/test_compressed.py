from __future__ import annotations

import pytest
import zstandard

from crawlproject.compressed import TooLarge, unzstd


@pytest.mark.parametrize("says_size", [True, False])
@pytest.mark.parametrize("size", [0, 1, 1_000])
def test_what_fits_is_unpacked_and_what_does_not_is_refused(size: int, says_size: bool) -> None:
    data = zstandard.ZstdCompressor(write_content_size=says_size).compress(bytes(size))
    assert unzstd(data, size) == unzstd(data, size + 1) == bytes(size)
    if size > 1:
        # Without its size, it can't be told from a damaged one.
        with pytest.raises(TooLarge if says_size else ValueError):
            unzstd(data, size - 1)


@pytest.mark.parametrize("data", [b"", b"no zstd", zstandard.ZstdCompressor().compress(b"x")[:-1]])
def test_what_is_no_whole_frame_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unzstd(data, 1_000)
