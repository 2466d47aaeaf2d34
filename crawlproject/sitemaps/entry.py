"""One entry of a sitemap or a feed, while it is read. *Pure.*

What an element means depends on its place in the entry, not on its namespace, which is often
forgotten or wrong: ``image/loc`` is an image, and ``source/link`` of an Atom entry is nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlproject.urls.link_bounds import LONGEST_LIST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Google reads as many images.
_MOST_ALTERNATES = _MOST_IMAGES = 1_000
_LONGEST_LANGUAGE = 64


class Kind(NamedTuple):
    name: str
    # The elements that are entries.
    entries: frozenset[str]
    # What the text of an element is, by its place.
    texts: Mapping[str, str]
    # Places of elements whose attribute ``url`` may lead to an image.
    media: frozenset[str] = frozenset()

    @property
    def is_feed(self) -> bool:
        return bool(self.media)


_SITEMAP = Kind(
    "urlset",
    frozenset(("url", "sitemap")),
    {
        "loc": "url",
        "lastmod": "lastmod",
        "changefreq": "changefreq",
        "priority": "priority",
        "image/loc": "image",
        "news/publication_date": "published",
    },
)
_FEED = Kind(
    "rss",
    frozenset(("item",)),
    {
        "link": "url",
        "guid": "guid",
        "updated": "lastmod",
        "modified": "lastmod",
        "pubDate": "published",
        "published": "published",
        "date": "published",
    },
    frozenset(
        (
            "enclosure",
            "content",
            "content/thumbnail",
            "thumbnail",
            "group/content",
            "group/thumbnail",
        )
    ),
)
# By the name of the root element.
KINDS = {
    "urlset": _SITEMAP,
    "sitemapindex": _SITEMAP._replace(name="index"),
    "rss": _FEED,
    "RDF": _FEED,
    "feed": _FEED._replace(name="atom", entries=frozenset(("entry",))),
}


class Entry:
    """``resolve`` makes a canonical URL of a text, or None, by the base that holds just now."""

    def __init__(self, name: str, kind: Kind, resolve: Callable[[str], str | None]) -> None:
        self.name = name
        self._kind = kind
        self._resolve = resolve
        self._url: str | None = None
        # Of an item without a link.
        self._permalink: str | None = None
        self.said: dict[str, str] = {}
        self.alternates: dict[str, str] = {}
        self._images: dict[str, None] = {}

    @property
    def url(self) -> str | None:
        return self._url or self._permalink

    @property
    def images(self) -> list[str]:
        return list(self._images)

    def read_attributes(self, place: str, attributes: Mapping[str, str]) -> bool:
        """Take what they say; whether the text of the element counts, too."""
        if place == "link" and "href" in attributes:
            self._read_link(attributes)
            return False
        if place in self._kind.media and "url" in attributes and _is_image(place, attributes):
            self._add_image(attributes["url"])
        if place == "guid" and attributes.get("isPermaLink", "true").strip().lower() == "false":
            return False
        return place in self._kind.texts

    def read_text(self, place: str, text: str) -> None:
        what = self._kind.texts[place]
        if what == "url":
            self._url = self._url or self._resolve(text)
        elif what == "image":
            self._add_image(text)
        elif what == "guid":
            # Many are numbers, and don't say that they are no URL.
            if text.lower().startswith(("https://", "http://")):
                self._permalink = self._permalink or self._resolve(text)
        else:
            self.said.setdefault(what, text)

    def _read_link(self, attributes: Mapping[str, str]) -> None:
        rels = attributes.get("rel", "alternate")[:LONGEST_LIST].lower().split()
        url = self._resolve(attributes["href"])
        if url is None:
            return
        if "alternate" in rels:
            language = attributes.get("hreflang", "").strip().lower()
            if language and len(self.alternates) < _MOST_ALTERNATES:
                self.alternates.setdefault(language[:_LONGEST_LANGUAGE], url)
            if self._kind.is_feed:
                self._url = self._url or url
        elif "enclosure" in rels and _is_image("enclosure", attributes):
            self._add_image(attributes["href"])

    def _add_image(self, text: str) -> None:
        if len(self._images) < _MOST_IMAGES and (url := self._resolve(text)) is not None:
            self._images[url] = None


def _is_image(place: str, attributes: Mapping[str, str]) -> bool:
    return (
        place.endswith("thumbnail")
        or attributes.get("medium", "").lower() == "image"
        or attributes.get("type", "").lower().startswith("image/")
    )
