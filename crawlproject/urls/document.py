"""What was read of a response: read once, shared by all who ask."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.http import TextResponse
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls.canonical import NotCrawlable, resolve
from crawlproject.urls.charset import utf8
from crawlproject.urls.tame import tame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

    # Its name, and itself.
    Element: TypeAlias = tuple[str | None, LexborNode]

# Elements that lead to other pages.
LINKING = frozenset({"a", "area"})
# … and those that say something of the page. A walk through the tree for each question would
# take as long as parsing does, so there is one for all.
_TELLING = ("base", "link", "meta", "title")
_SURVEYED = ",".join((*sorted(LINKING), *_TELLING))
# Characters of a base. Each relative link would be as long.
_LONGEST_BASE = 8_192


class Reading:
    """What is known of a response so far."""

    __slots__ = ("base_url", "directives", "elements", "tree")

    def __init__(self) -> None:
        self.tree: LexborHTMLParser | None = None
        # All that are surveyed, in page order, and those of each telling name.
        self.elements: tuple[list[Element], dict[str | None, list[Element]]] | None = None
        self.base_url: str | None = None
        # For which name they were asked, and what they are.
        self.directives: tuple[str | None, frozenset[str]] | None = None


_readings: WeakKeyDictionary[Response, Reading] = WeakKeyDictionary()


def reading_of(response: Response) -> Reading:
    reading = _readings.get(response)
    if reading is None:
        reading = _readings[response] = Reading()
    return reading


def document(response: Response) -> LexborHTMLParser:
    """The tree of an HTML response. Bytes that are no text become U+FFFD; nothing raises."""
    reading = reading_of(response)
    if reading.tree is None:
        reading.tree = LexborHTMLParser(tame(_utf8(response)))
    return reading.tree


def elements(response: Response) -> Sequence[Element]:
    """The elements of a page that link, or say something of it, in page order."""
    return _survey(response)[0]


def telling(response: Response, name: str) -> Sequence[Element]:
    """The ``<base>``, ``<link>``, ``<meta>`` or ``<title>`` elements of a page, in page order."""
    return _survey(response)[1][name]


def _survey(response: Response) -> tuple[list[Element], dict[str | None, list[Element]]]:
    reading = reading_of(response)
    if reading.elements is None:
        surveyed: list[Element] = []
        by_name: dict[str | None, list[Element]] = {name: [] for name in _TELLING}
        for node in document(response).css(_SURVEYED):
            # Not its attributes: those of all elements at once are much, on a page that is.
            element = name, _ = node.tag, node
            surveyed.append(element)
            if name in by_name:
                by_name[name].append(element)
        reading.elements = surveyed, by_name
    return reading.elements


def text_of(response: Response) -> str:
    """The body as text: read as browsers do, and not as Scrapy's ``response.text`` does."""
    return _utf8(response).decode(errors="replace")


def _utf8(response: Response) -> bytes:
    # Without a byte order mark: the parser would take it for text, and the head for the body.
    if not isinstance(response, TextResponse):
        return utf8(response.body, b"charset=utf-8")
    # Scrapy has no other way to ask whether who made the response has named the charset.
    if response._encoding is not None:
        with suppress(LookupError, ValueError, AssertionError):
            # A charset such as 'hex' or 'undefined' is known to Python, but decodes no text.
            if response.encoding != "utf-8":
                return response.text.encode(errors="replace")
        return utf8(response.body, b"charset=utf-8")
    return utf8(response.body, response.headers.get(b"Content-Type") or b"")


def base_url(response: Response) -> str:
    """What relative links are relative to: the first ``<base href>``, or the response's URL."""
    reading = reading_of(response)
    if reading.base_url is None:
        reading.base_url = _find_base(response)
    return reading.base_url


def _find_base(response: Response) -> str:
    for _, node in telling(response, "base"):
        href = node.attributes.get("href")
        if href is not None:
            try:
                base = resolve(href, response.url)
            except NotCrawlable:
                break
            return base if len(base) <= _LONGEST_BASE else response.url
    return response.url
