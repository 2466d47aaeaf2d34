"""Fast access to ``scrapy.http.Headers``, which is a dict of lists of bytes.

Its own methods normalise the name and check the type of every value. That costs as much as the rest
of a small response. Names here are bytes in the capitalisation of ``Headers``: ``b"Content-Type"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Headers

if TYPE_CHECKING:
    from collections.abc import ItemsView, Mapping


def make_headers(values: Mapping[bytes, list[bytes]]) -> Headers:
    """Headers that share the lists of ``values``."""
    headers = Headers()
    dict.update(headers, values)
    return headers


def values_of(headers: Headers, name: bytes) -> list[bytes] | None:
    return dict.get(headers, name)


def items_of(headers: Headers) -> ItemsView[bytes, list[bytes]]:
    return dict.items(headers)


def set_default(headers: Headers, name: bytes, value: bytes) -> None:
    dict.setdefault(headers, name, [value])
