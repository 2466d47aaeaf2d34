"""URLs as they are found in a sitemap, each once, with what is said of it. *Pure.*"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from crawlproject.sitemaps.dates import is_newer, read_date
from crawlproject.sitemaps.encoded import UNREADABLE
from crawlproject.sitemaps.hints import CHANGE_FREQUENCIES, Cut, Hint
from crawlproject.urls.canonical import NotCrawlable
from crawlproject.urls.link_bounds import LONGEST_BASE, LinkBounds, TooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawlproject.urls.link_bounds import Room

# Characters of a URL, or of anything else that is read.
LONGEST_TEXT = 8_192

# Sitemaps name the same alternates again and again, one entry after the other.
_REMEMBERED = 1_024


class Gathering:
    """The first that is said of a URL counts, but of its dates the newest.

    ``room`` bounds the characters of a URL, and of all together, images and alternates among them:
    a document multiplies them by its ``xml:base``. URLs that are too long are counted there; the
    first of them are kept, to be recorded as skipped.
    """

    def __init__(
        self, canonicalize: Callable[[str, str], str], most_urls: int, room: Room | None = None
    ) -> None:
        self._canonicalize = lru_cache(_REMEMBERED)(canonicalize)
        self._most_urls = most_urls
        self._room = room or LinkBounds().room()
        self._most_characters = self._room.left
        self.urls: dict[str, Hint] = {}
        self.nested: dict[str, str | None] = {}

    def resolve(self, text: str, base: str) -> str | None:
        """The canonical URL; None if there is none, or if it is too long. Raises Cut."""
        text = text.strip()
        # With what could not be read, it leads nowhere.
        if not text or len(text) > LONGEST_TEXT or UNREADABLE in text:
            return None
        try:
            url = self._canonicalize(text, base)
        except NotCrawlable:
            return None
        self._room.left -= len(url)
        if self._room.left < 0:
            raise Cut(
                f"its URLs have more than {self._most_characters:,} characters in all "
                "(SITEMAPS_MAX_BYTES)"
            )
        if len(url) > LONGEST_BASE:
            self._room.too_long += 1
            return None
        return url

    def add(self, url: str, hint: Hint) -> None:
        """Raises Cut."""
        known = self.urls.get(url)
        if known is None:
            if len(url) > self._room.longest and not self._room.recorded(
                TooLong(len(url), url), self.urls
            ):
                return
            self._count()
            self.urls[url] = hint
        elif is_newer(hint.lastmod, known.lastmod):
            self.urls[url] = known._replace(lastmod=hint.lastmod)

    def add_nested(self, url: str, lastmod: str | None) -> None:
        """Raises Cut."""
        if url not in self.nested:
            if len(url) > self._room.longest:
                self._room.too_long += 1
                return
            self._count()
            self.nested[url] = lastmod
        elif is_newer(lastmod, self.nested[url]):
            self.nested[url] = lastmod

    def _count(self) -> None:
        if len(self.urls) + len(self.nested) >= self._most_urls:
            raise Cut(f"it has more than {self._most_urls:,} URLs")


def hint_of(said: Mapping[str, str], alternates: dict[str, str], images: list[str]) -> Hint:
    """Words of a sitemap as values."""
    changefreq = said.get("changefreq", "").lower()
    return Hint(
        lastmod=lastmod_of(said),
        changefreq=changefreq if changefreq in CHANGE_FREQUENCIES else None,
        priority=_priority(said.get("priority", "")),
        alternates=alternates,
        images=images,
    )


def lastmod_of(said: Mapping[str, str]) -> str | None:
    """Of a page that only tells when it was published, that."""
    for what in ("lastmod", "published"):
        if what in said and (found := read_date(said[what])) is not None:
            return found
    return None


def _priority(text: str) -> float | None:
    try:
        priority = float(text)
    except ValueError:
        return None
    return priority if 0 <= priority <= 1 else None
