"""What a page says of itself, besides its title: from its head, its headings, its pictures.

Everything is read from one survey of the page's tree. Nothing here raises, whatever a site
sends, and nothing grows beyond what people would write.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.document import base_url, survey
from crawlproject.urls.link_bounds import (
    LONGEST_BASE,
    LONGEST_LIST,
    LONGEST_URL,
    TooLong,
    check_href,
)
from crawlproject.urls.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

    from crawlproject.items import Page
    from crawlproject.urls.document import Survey
    from crawlproject.urls.remembered import Place

MAX_TEXT_LENGTH = 1000
# Before its white space is joined: a title may have millions of words.
_LONGEST_TEXT = 100_000
# Of each kind on a page.
MAX_ENTRIES = 1000
# Characters of the URLs of its pictures, media and versions in other languages, in all. A base
# that is long is in each of them.
MAX_URL_CHARACTERS = 1_000_000
# How often a page's text is read for its headings, at most.
_TIMES = 4

_TITLE_PARENTS = frozenset({"head", "body", "html"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LANGUAGE = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE).fullmatch
_MODIFIED = frozenset({"article:modified_time", "og:updated_time"})
# Where a picture is that is loaded when it comes into sight.
_LATER = ("data-src", "data-lazy-src", "data-original")


class Reach(NamedTuple):
    """How much of a page is read."""

    # 1 to 6: how many levels of headings; 0: none.
    heading_levels: int = 2
    media: bool = True


class ContentReader:
    def __init__(self, canonicalize: Callable[..., str], reach: Reach | None = None) -> None:
        self._canonicalize = canonicalize
        self._reach = reach or Reach()
        self._headings = [f"h{level}" for level in range(1, self._reach.heading_levels + 1)]
        self._places = Remembered(self._url)

    def read(self, response: Response, page: Page) -> int:
        """Fill in what the page says. Return how many URLs were left out for their length; where
        all of them are too long together, not more than one of a kind is counted.
        """
        found = survey(response)
        page.title = _title(found)
        page.language = _language(response, found)
        self._read_meta(found, page)
        addresses = _Addresses(self._places.at(base_url(response)))
        self._read_links(found, page, addresses)
        page.headings = self._read_headings(found, len(response.body))
        if self._reach.media:
            page.images = addresses.unique(_image_sources(found))
            page.media = addresses.unique(map(_media_source, _media(found)))
        return addresses.left_out

    def _read_headings(self, found: Survey, size: int) -> list[dict[str, Any]]:
        headings: list[dict[str, Any]] = []
        # Each has the text of those inside of it: a thousand would have that of a thousand pages.
        left = _TIMES * size
        for name in self._headings:
            for node in found.named(name)[:MAX_ENTRIES]:
                if left < 0:
                    return headings
                text = node.text()
                left -= len(text)
                if text := clean(text):
                    headings.append({"level": int(name[1]), "text": text})
        return headings

    def _read_meta(self, found: Survey, page: Page) -> None:
        for attributes in islice(found.metas(), MAX_ENTRIES):
            content = attributes.get("content")
            if not content:
                continue
            name = attributes.get("property") or attributes.get("name")
            if not name:
                continue
            name = name.strip().lower()
            if name == "description":
                page.description = page.description or clean(content)
            elif name in _MODIFIED:
                page.last_modified = page.last_modified or clean(content)
            if name.startswith("og:") and (text := clean(content)):
                page.open_graph.setdefault(clean(name[3:]) or "", text)

    def _read_links(self, found: Survey, page: Page, addresses: _Addresses) -> None:
        canonical: str | None = None
        for node in found.named("link"):
            attributes = node.attributes
            href, rel = attributes.get("href"), attributes.get("rel")
            if rel is None or "href" not in attributes:
                continue
            rels = rel[:LONGEST_LIST].lower().split()
            if canonical is None and "canonical" in rels:
                # One that can't be read is the page's only word all the same.
                canonical = addresses.resolve(href or "") or ""
            elif (
                "alternate" in rels
                and (language := attributes.get("hreflang"))
                and len(page.alternates) < MAX_ENTRIES
                and (url := addresses.resolve(href or "")) is not None
            ):
                page.alternates.setdefault(clean(language).lower(), url)
        if canonical and canonical != page.url:
            page.canonical = canonical

    def _url(self, href: str, base: str) -> str | None:
        try:
            if len(href) > LONGEST_URL:
                check_href(href)
            url = self._canonicalize(href, base)
        except NotCrawlable:
            return None
        if len(url) > LONGEST_BASE:
            raise TooLong(len(url))
        return url


class _Addresses:
    """URLs that a page names and that are recorded, not fetched, up to MAX_URL_CHARACTERS."""

    __slots__ = ("_place", "_room", "left_out")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._room = MAX_URL_CHARACTERS
        self.left_out = 0

    def resolve(self, href: str) -> str | None:
        """The URL of an href, if there is room for it."""
        url = self._resolve(href)
        if url is not None:
            self._room -= len(url)
        return url

    def unique(self, sources: Iterable[str | None]) -> list[str]:
        """The URLs of some elements, each once, in page order."""
        known = self._place.anywhere
        found: dict[str, None] = {}
        for source in sources:
            if source:
                # Most are the same on many pages.
                url = known.get(source) or self._resolve(source)
                if url is not None and url not in found:
                    self._room -= len(url)
                    found[url] = None
                    if len(found) >= MAX_ENTRIES or self._room < 0:
                        break
        return list(found)

    def _resolve(self, href: str) -> str | None:
        try:
            if self._room >= 0:
                return self._place.resolve(href)
        except TooLong as link:
            self._room -= link.length
        self.left_out += 1
        return None


def clean(text: str) -> str:
    """On one line, without control characters, and not longer than anybody reads."""
    text = text[:_LONGEST_TEXT]
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
    return " ".join(text.split())[:MAX_TEXT_LENGTH]


def _title(found: Survey) -> str | None:
    # The first one of HTML: pictures have titles too.
    for node in found.named("title"):
        if node.parent is None or node.parent.tag in _TITLE_PARENTS:
            return clean(node.text()) or None
    return None


def _language(response: Response, found: Survey) -> str | None:
    for node in found.named("html"):
        attributes = node.attributes
        said = attributes.get("lang") or attributes.get("xml:lang")
        if said and _LANGUAGE(said := said.strip().replace("_", "-")):
            return said.lower()
    header = response.headers.get("Content-Language")
    if header:
        said = header.decode("latin-1").partition(",")[0].strip()
        if _LANGUAGE(said):
            return said.lower()
    return None


def _image_sources(found: Survey) -> Iterator[str | None]:
    for node in found.named("img"):
        # Pages have many of them, with many attributes: not all are read for this one.
        source = node.attrs.get("src")
        yield source if source and source[:5] != "data:" else _later_source(node.attributes)


def _later_source(attributes: dict[str, str | None]) -> str | None:
    for name in _LATER:
        if later := attributes.get(name):
            return later
    return _first_of_set(attributes)


def _media(found: Survey) -> list[LexborNode]:
    return found.all("video", "audio", "source", "embed", "object")


def _media_source(node: LexborNode) -> str | None:
    attributes: dict[str, Any] = node.attributes
    return attributes.get("data" if node.tag == "object" else "src")


def _first_of_set(attributes: dict[str, str | None]) -> str | None:
    words = (attributes.get("srcset") or "").split(None, 1)
    return words[0].rstrip(",") if words else None
