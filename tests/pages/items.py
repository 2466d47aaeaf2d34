"""What the tests of structured data share: pages, and the items of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse

from crawlproject.pages.structured import SYNTAXES, StructuredData, structured_data

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://example.com/shop/trowel"


def response(body: str) -> HtmlResponse:
    return HtmlResponse(
        URL,
        headers={"Content-Type": "text/html; charset=utf-8"},
        body=body.encode(errors="surrogatepass"),
    )


def read(body: str, syntaxes: Sequence[str] = SYNTAXES) -> StructuredData:
    return structured_data(response(body), syntaxes)


def items(body: str) -> list[dict[str, Any]]:
    """The items of a page of which nothing is broken."""
    found, broken = read(body)
    assert broken == 0
    return found


def properties(body: str) -> dict[str, Any]:
    """The properties of the only item of a page."""
    (item,) = items(body)
    found: dict[str, Any] = item["properties"]
    return found


def script(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def typed(type_: Any, /, **values: Any) -> dict[str, Any]:
    """An item."""
    return {"type": type_, "properties": values}


def depth_of(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth_of, inner), default=0)
