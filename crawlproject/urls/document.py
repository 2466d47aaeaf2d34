"""The parsed HTML of a response: parsed once, shared by all who read it."""

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

_documents: WeakKeyDictionary[Response, LexborHTMLParser] = WeakKeyDictionary()
_bases: WeakKeyDictionary[Response, str] = WeakKeyDictionary()


def document(response: Response) -> LexborHTMLParser:
    """The tree of an HTML response. Bytes that are no text become U+FFFD; nothing raises."""
    tree = _documents.get(response)
    if tree is None:
        tree = _documents[response] = LexborHTMLParser(tame(_utf8(response)))
    return tree


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
    base = _bases.get(response)
    if base is None:
        base = _bases[response] = _find_base(response)
    return base


def _find_base(response: Response) -> str:
    for node in document(response).tags("base"):
        href = node.attributes.get("href")
        if href is not None:
            try:
                return resolve(href, response.url)
            except NotCrawlable:
                break
    return response.url
