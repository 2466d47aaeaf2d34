"""How many characters links may have: each of them, and those of a page together. *Pure.*

Relative links multiply bytes: each has its base in it, so a base of 8 KB and 160,000 short links,
which are 360 KB of gzip, are 1.3 GB of URLs. Links that are too long, or too many characters for
one page, are counted and not kept. Of those that are too long, the first are recorded as skipped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.urls.canonical import NotCrawlable

if TYPE_CHECKING:
    from collections.abc import Mapping

# Characters of the links of a page: 100,000 links of 100. The longest real lists have a tenth.
MAX_LINK_CHARACTERS = 10_000_000
# Characters of a URL, whatever the settings are: servers refuse requests of an eighth of it.
LONGEST_URL = 65_536
# Characters of a base, and of a URL that is recorded and not fetched.
LONGEST_BASE = 8_192
# Characters of an attribute that is a list of words, as ``rel`` is: a list of short words takes
# thirty times the memory of its text.
LONGEST_LIST = 1_000
# Links of a page, or URLs of a sitemap, that are recorded as skipped because they are too long.
MAX_RECORDED = 100
_NO_LIMIT = 2**62

_OTHER_SCHEME = re.compile(r"\s*+(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE).match


class TooLong(Exception):
    """A link has more characters than a URL may have. ``url`` is None if it was not resolved."""

    def __init__(self, length: int, url: str | None = None) -> None:
        super().__init__()
        self.length = length
        self.url = url


def check_href(href: str) -> None:
    """Raise TooLong, or NotCrawlable, for an href that is too long to be worth resolving.

    Call it for an href of more than LONGEST_URL characters. A fragment does not count.
    """
    if _OTHER_SCHEME(href):
        # data: and javascript: may be as long as they like, and are no links.
        raise NotCrawlable("its scheme is not http or https")
    length = href.find("#")
    if length < 0 or length > LONGEST_URL:
        raise TooLong(len(href))


def longest_url(limit: int) -> int:
    """Characters of a URL, by URLLENGTH_LIMIT; 0: no limit."""
    return min(limit or LONGEST_URL, LONGEST_URL)


class LinkBounds(NamedTuple):
    """Characters of one URL, and of all links of a page; 0: no limit."""

    url: int = 0
    page: int = MAX_LINK_CHARACTERS

    def room(self) -> Room:
        return Room(longest_url(self.url), self.page or _NO_LIMIT)

    def fitting(self, links: Mapping[str, bool], room: Room) -> dict[str, bool]:
        """The links that fit, of those that somebody else has found."""
        found: dict[str, bool] = {}
        for number, (url, nofollow) in enumerate(links.items()):
            if room.left < 0:
                room.beyond += len(links) - number
                break
            room.left -= len(url)
            if len(url) <= room.longest or room.recorded(TooLong(len(url), url), found):
                found[url] = nofollow
        return found


class Room:
    """What the links of one page may still take up, and how many of them were left out."""

    __slots__ = ("_recorded", "beyond", "left", "longest", "too_long")

    def __init__(self, longest: int, characters: int) -> None:
        # Characters of a URL.
        self.longest = longest
        # Characters in all. Below zero: no link fits any more.
        self.left = characters
        # Links that were left out: too long, and beyond the characters of a page.
        self.too_long = 0
        self.beyond = 0
        self._recorded = 0

    @property
    def left_out(self) -> int:
        return self.too_long + self.beyond

    def recorded(self, link: TooLong, found: Mapping[str, object]) -> str | None:
        """The URL of a link that is too long, if it is one of the few that are recorded."""
        if link.url is not None and link.length <= LONGEST_BASE:
            if link.url in found:
                return link.url
            if self._recorded < MAX_RECORDED:
                self._recorded += 1
                return link.url
        self.too_long += 1
        return None
