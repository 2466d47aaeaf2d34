"""A sitemap read as a crawl reads it, with limits that none of the tests meets by accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.sitemaps.hints import Hint
from crawlproject.sitemaps.read import read_sitemap
from crawlproject.urls.canonical import canonicalize

if TYPE_CHECKING:
    from crawlproject.sitemaps.hints import Sitemap

HOME = "https://a.example/"
NOTHING = Hint(None, None, None, {}, [])


def read(
    body: bytes | str,
    *,
    url: str = f"{HOME}maps/sitemap.xml",
    most_urls: int = 50_000,
    most_bytes: int = 50_000_000,
    content_type: str = "",
) -> Sitemap:
    return read_sitemap(
        body.encode() if isinstance(body, str) else body,
        url,
        canonicalize=canonicalize,
        most_urls=most_urls,
        most_bytes=most_bytes,
        content_type=content_type,
    )


def paths(sitemap: Sitemap) -> list[str]:
    """Of the URLs, all of which are on one host."""
    assert all(url.startswith(HOME) for url in sitemap.urls)
    return [url.removeprefix(HOME) for url in sitemap.urls]


def urlset(inside: str, attributes: str = "") -> str:
    return f"<urlset {attributes}>{inside}</urlset>"


def located(*locations: str) -> str:
    return "".join(f"<url><loc>{location}</loc></url>" for location in locations)
