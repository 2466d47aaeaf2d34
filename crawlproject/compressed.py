"""Unpacking what was compressed, up to a bound. *Pure.*

A few kilobytes may unpack to gigabytes, and what is stored may have been written by somebody else.
"""

from __future__ import annotations

import zstandard


class TooLarge(ValueError):
    """It would unpack to more bytes than it may."""


def unzstd(
    data: bytes, most_bytes: int, decompressor: zstandard.ZstdDecompressor | None = None
) -> bytes:
    """What a zstd frame holds. Raises TooLarge, and ValueError for what is no whole frame."""
    try:
        # ``max_output_size`` is ignored where a frame says what its size is.
        size = zstandard.frame_content_size(data)
        if size > most_bytes:
            raise TooLarge(f"it unpacks to {size:,} bytes, and may have {most_bytes:,}")
        decompressor = decompressor or zstandard.ZstdDecompressor()
        # Without a bound, 0 would be none.
        return decompressor.decompress(data, max_output_size=max(1, most_bytes))
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
