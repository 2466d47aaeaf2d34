"""What links resolve to, remembered: those of a site's navigation come back on every page."""

from __future__ import annotations

import re
from sys import intern
from typing import TYPE_CHECKING

from crawlproject.urls.canonical import NotCrawlable, origin_of, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

# How many, and how long each may be. For every so many characters, one counts once more.
_REMEMBERED = 65_536
_REMEMBERED_LENGTH = 512
_USUAL_LENGTH = 256
# An origin, and the directory of a page in it that has no dot segments, spelled like that or other.
_USUAL = re.compile(
    r"((https?://[a-z0-9.:-]++)/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*+/)*)"
    r"(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)?(?:\?.*)?",
    re.DOTALL,
).fullmatch
# What means the same on all pages of an origin: what begins like this. Much of it is no page.
_ANYWHERE = ("/", "https://", "http://", "mailto:", "tel:", "javascript:")
# No slash, scheme, query or fragment first: it means the same on all pages of a directory.
_BESIDE = re.compile(r"[A-Za-z0-9._~-][^:]*+").fullmatch

UNKNOWN = "unknown"


class Remembered:
    """``make(href, base)`` says what an href is; None: nothing."""

    def __init__(self, make: Callable[[str, str], str | None]) -> None:
        self._make = make
        # By the origin or the directory of their base.
        self._places: dict[str, dict[str, str | None]] = {}
        self._count = 0

    def at(self, base: str) -> Place:
        if self._count >= _REMEMBERED:
            self._places.clear()
            self._count = 0
        origin, directory = _origin_and_directory(base)
        known = self._known(origin), self._known(directory)
        return Place(self, base, directory or base, *known)

    def _known(self, place: str) -> dict[str, str | None]:
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = {}
            # Itself takes as much memory as some of them.
            self._count += 4 + len(place) // _USUAL_LENGTH
        return found

    def learn(self, href: str, place: Place) -> str | None:
        is_anywhere = href.startswith(_ANYWHERE)
        is_beside = not is_anywhere and _BESIDE(href) is not None
        # Others depend on the whole base.
        url = self._make(href, place.directory if is_anywhere or is_beside else place.base)
        if len(href) > _REMEMBERED_LENGTH or self._count >= _REMEMBERED:
            return url
        if url is not None:
            if len(url) > 2 * _REMEMBERED_LENGTH:
                return url
            # Each directory has its own way to write it: all of them share one text.
            url = intern(url)
        if is_anywhere:
            place.anywhere[href] = url
        elif is_beside:
            place.beside[href] = url
        else:
            return url
        self._count += 1 + (len(href) + len(url or "")) // _USUAL_LENGTH
        return url


class Place:
    """What is remembered for the pages of one origin, and of one directory."""

    __slots__ = ("_remembered", "anywhere", "base", "beside", "directory")

    def __init__(
        self,
        remembered: Remembered,
        base: str,
        directory: str,
        anywhere: dict[str, str | None],
        beside: dict[str, str | None],
    ) -> None:
        self._remembered = remembered
        self.base = base
        self.directory = directory
        self.anywhere = anywhere
        self.beside = beside

    def resolve(self, href: str) -> str | None:
        url = self.anywhere.get(href, UNKNOWN)
        return url if url is not UNKNOWN else self.resolve_beside(href)

    def resolve_beside(self, href: str) -> str | None:
        """For who has looked among ``anywhere`` already."""
        url = self.beside.get(href, UNKNOWN)
        return url if url is not UNKNOWN else self._remembered.learn(href, self)


def _origin_and_directory(base: str) -> tuple[str, str]:
    """What links that begin with a slash are relative to, and those that begin with a name; no
    base, if it has none.
    """
    if usual := _USUAL(base):
        return usual[2], usual[1]
    try:
        # Not all up to the last slash: '/a/b/%2e%2e' is '/a/', and '\\' is a slash, too.
        return origin_of(base), resolve(".", base)
    except NotCrawlable:
        return origin_of(base), ""
