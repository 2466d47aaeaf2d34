"""A site that changes: what it is in each of three generations."""

from __future__ import annotations

from typing import Any

PROSE = " ".join(f"word{number}" for number in range(80))
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def page(
    *links: str, text: str = PROSE, title: str = "Title", footer: str = "", **more: Any
) -> Any:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    body = (
        f"<html><head><title>{title}</title></head><body><main><p>{text}</p></main>"
        f"<nav>{anchors}</nav><footer>{footer}</footer></body></html>"
    )
    return {"body": body, **more}


def urlset(*entries: tuple[str, str]) -> str:
    """URLs, each with what else is said of it."""
    urls = "".join(f"<url><loc>{url}</loc>{more}</url>" for url, more in entries)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


def site_of(generation: int) -> dict[str, Any]:
    """Some of its pages have validators, and some have not. In the second generation a page has
    changed, one in its footer only, a list has another item, a redirect another target; in the
    third, pages are gone.
    """
    home = ["/etag", "/dated", "/plain", "/footer", "/list", "/old"]
    pages: dict[str, Any] = {
        "/": page(*home, etag='"1"'),
        "/etag": page(etag='"e1"'),
        "/dated": page(modified=DATE),
        "/plain": page(),
        "/footer": page(footer=f"Today is day {generation}."),
        "/list": page("/item/1", "/item/2", etag='"l1"'),
        "/item/1": page(),
        "/item/2": page("/item/deep"),
        "/item/deep": page(),
        "/old": {"redirect": "/new"},
        "/new": page(),
        "/orphan": page(etag='"o1"'),
    }
    named = [("/orphan", "")]
    if generation >= 2:
        pages["/etag"] = page(etag='"e2"', text=f"{PROSE} and something else", title="Other")
        pages["/list"] = page("/item/1", "/item/3", etag='"l2"')
        pages["/item/3"] = page("/item/deep")
        pages["/old"] = {"redirect": "/newer"}
        pages["/newer"] = page()
        pages["/orphan/2"] = page()
        named.append(("/orphan/2", ""))
    if generation >= 3:
        pages["/item/1"] = {"status": 410, "body": "gone"}
        del pages["/plain"]
        pages["/"] = page(*home, "/", etag='"3"')
        named.remove(("/orphan", ""))
    tag = f'"s{generation}"'
    pages["/sitemap.xml"] = {
        "body": urlset(*named),
        "content_type": "application/xml",
        "etag": tag,
    }
    return {"pages": pages}
