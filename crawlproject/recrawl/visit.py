"""What one visit to a page has found. *Pure.*"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Change(StrEnum):
    """Of a page, since the last visit."""

    NEW = "new"
    SAME = "same"
    # Its text is the same, though its bytes are not: a date in the footer.
    COSMETIC = "cosmetic"
    CHANGED = "changed"
    # 404, 410.
    GONE = "gone"
    # It could not be had: that may pass.
    FAILED = "failed"
    # It can be had again.
    BACK = "back"
    # No page links to it any more, so it is none of the crawl's.
    UNLINKED = "unlinked"


class Visit(NamedTuple):
    """When, and what the answer says of itself."""

    # Seconds of the epoch.
    at: float
    # As it is to be sent back.
    etag: str | None = None
    last_modified: str | None = None
    modified_at: float | None = None
    # Until then it is not going to change, it says.
    fresh_until: float | None = None
    # How it was read: another way of reading may find more in the same bytes.
    reading: int = 0
