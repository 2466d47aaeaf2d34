"""What each path of the demo site answers.*

Beside ordinary pages it has one of everything that a crawler meets in the wild; the
constants name them, so that a test can say what it expects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from html import escape
from urllib.parse import parse_qs, quote, unquote

from crawlproject.demo import files, listings, pages
from crawlproject.demo.layout import page
from crawlproject.demo.news import ARTICLES
from crawlproject.demo.plants import PLANTS

HTML = "text/html; charset=utf-8"

REDIRECTS = {
    "/hours": "/visit/opening-hours",  # to a page that is linked anyway
    "/tickets": "/visit/tickets",  # the only way to that page
    "/guide": "/visit/guide",  # a chain of two …
    "/visit/guide": "/visit/plan-your-day",
    "/old-map": "/map-old",  # … and a loop of two
    "/map-old": "/old-map",
}
LOOP = ("/map-old", "/old-map")
MISSING_SLASH = "/plants"
BROKEN = ("/events/", "/shop/seed-catalogue-2019", "/staff/jonah-alder")
GONE = "/news/roof-appeal"
FAILING = "/shop/basket"
SLOW = "/about/weather-records"
SLOW_SECONDS = 1.5
# In the sitemap, linked from nowhere.
ORPHAN = "/about/seed-list-1887"
DISALLOWED = "/private/"
NOFOLLOW = "/members"
NOINDEX = "/contact/thank-you"
CANONICAL = {"/plants/featured": "/plants/giant-waterlily", "/shop/?sort=price": "/shop/"}
DUPLICATES = ("/visit/directions", "/visit/getting-here")
NEAR_DUPLICATES = ("/about/history", "/about/history/print")
FILES = ("/files/lagoon.png", "/files/visitor-map.pdf")
OFFSITE = ("https://example.org/bus-timetable", "https://example.org/fen-trust")

# The one query parameter that each path looks at; any other is ignored.
PARAMETERS = {"/plants/": "season", "/news/": "page", "/shop/": "sort"}
ROBOTS = """\
User-agent: *
Disallow: /private/

Sitemap: {base}/sitemap.xml
"""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    content_type: str = HTML
    headers: dict[str, str] = field(default_factory=dict)
    # How long the server thinks about it.
    delay_seconds: float = 0.0


def answer(target: str, base: str = "http://127.0.0.1") -> Answer:
    """The answer to a request for ``target`` (path and query) of the site at ``base``."""
    escaped_path, _, query = target.partition("#")[0].partition("?")
    path = unquote(escaped_path)
    if path == "/robots.txt":
        return Answer(200, ROBOTS.format(base=base).encode(), "text/plain; charset=utf-8")
    if path == "/sitemap.xml":
        return Answer(200, _sitemap(base), "application/xml")
    if path in REDIRECTS:
        return _moved(REDIRECTS[path])
    known = contents()
    key = _key(path, query)
    if key in known:
        return known[key]
    if path + "/" in known:
        return _moved(quote(path + "/") + (f"?{quote(query, safe='=&%+')}" if query else ""))
    return _failure(404, "Page not found", "The tide has been here. Nothing is left of this page.")


@cache
def contents() -> dict[str, Answer]:
    """Everything but redirects and what depends on the address, by path and query."""
    dates = {f"/news/{article.slug}": article.date for article in ARTICLES}
    dates |= {
        f"/plants/{plant.slug}": f"2025-0{1 + n % 9}-1{n % 10}" for n, plant in enumerate(PLANTS)
    }
    built = pages.home() | pages.visit() | pages.about() | pages.contact()
    built |= listings.plants() | listings.news() | listings.shop() | listings.staff()
    known = {}
    for key, body in built.items():
        headers = {"Last-Modified": _http_date(dates[key])} if key in dates else {}
        delay = SLOW_SECONDS if key == SLOW else 0.0
        known[key] = Answer(200, body, HTML, headers, delay)
    for path, title in (
        (DISALLOWED, "Volunteers' corner"),
        (DISALLOWED + "rota", "Rota for the week"),
    ):
        text = "<p>Gloves are in the second drawer, keys are not. See the <a href='/private/rota'>"
        known[path] = Answer(200, page(title, f"{text}rota</a> before you pick up a spade.</p>"))
    known[GONE] = _failure(410, "Appeal closed", "The roof is on. Thank you, and goodbye.")
    known[FAILING] = _failure(500, "Basket trouble", "A newt is in the works. Try again later.")
    lagoon, visitor_map = FILES
    sky, water = (246, 217, 138), (95, 143, 104)
    known[lagoon] = Answer(200, files.png(320, 120, sky, water), "image/png")
    known[visitor_map] = Answer(200, files.pdf("Thistlemere: you are here."), "application/pdf")
    return known


def _key(path: str, query: str) -> str:
    name = PARAMETERS.get(path)
    if name is None or not query:
        return path
    try:
        value = parse_qs(query, max_num_fields=100).get(name, [""])[0]
    except ValueError:
        return path
    # The first page of the news and the shop's own order have no parameter.
    if not value or (name, value) in {("page", "1"), ("sort", "name")}:
        return path
    return f"{path}?{name}={value}"


def _sitemap(base: str) -> bytes:
    paths = [
        key
        for key, found in contents().items()
        if found.status == 200
        and found.content_type == HTML
        and not key.startswith(DISALLOWED)
        and key not in CANONICAL
        and key not in (NOINDEX, NOFOLLOW, NEAR_DUPLICATES[1], DUPLICATES[0])
    ]
    entries = "".join(
        f"<url><loc>{escape(base + quote(path, safe='/?=&'))}</loc></url>\n" for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    ).encode()


def _moved(location: str) -> Answer:
    body = page("Moved", f'<p>It is <a href="{escape(location)}">over there</a> now.</p>')
    return Answer(301, body, HTML, {"Location": location})


def _failure(status: int, title: str, text: str) -> Answer:
    return Answer(status, page(title, f'<p class="lead">{text}</p>'))


def _http_date(day: str) -> str:
    """``day`` (ISO) at nine in the morning, as HTTP writes it."""
    return format_datetime(datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC), True)
