"""Where a redirect leads, as its response spells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.http import Response

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def location_of(response: Response) -> str | None:
    """The Location header of a redirect; None if the response is none."""
    if response.status not in _REDIRECTS:
        return None
    location = response.headers.get("Location")
    if location is None:
        return None
    try:
        return location.decode("utf-8")
    except UnicodeDecodeError:
        return location.decode("latin-1")
