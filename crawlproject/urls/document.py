"""What was read of a response: read once, shared by all who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.http import TextResponse
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls.canonical import NotCrawlable, resolve
from crawlproject.urls.tame import tame

if TYPE_CHECKING:
    from scrapy.http import Response

_BOM = b"\xef\xbb\xbf"


class Reading:
    """What is known of a response so far."""

    __slots__ = ("base_url", "directives", "tree")

    def __init__(self) -> None:
        self.tree: LexborHTMLParser | None = None
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


def _utf8(response: Response) -> bytes:
    body = response.body
    if isinstance(response, TextResponse):
        try:
            if response.encoding != "utf-8":
                return response.text.encode(errors="replace")
        except (LookupError, ValueError, AssertionError):
            # A charset such as 'hex' or 'undefined' is known to Python, but decodes no text.
            pass
    # The parser would take a byte order mark for text, and the head for a part of the body.
    return body.removeprefix(_BOM)


def base_url(response: Response) -> str:
    """What relative links are relative to: the first ``<base href>``, or the response's URL."""
    reading = reading_of(response)
    if reading.base_url is None:
        reading.base_url = _find_base(response)
    return reading.base_url


def _find_base(response: Response) -> str:
    for node in document(response).tags("base"):
        href = node.attributes.get("href")
        if href is not None:
            try:
                return resolve(href, response.url)
            except NotCrawlable:
                break
    return response.url
