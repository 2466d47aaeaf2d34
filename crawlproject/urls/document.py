"""What was read of a response: read once, shared by all who ask."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import webencodings
from scrapy.http import TextResponse
from selectolax.lexbor import LexborHTMLParser

from crawlproject.urls import charset
from crawlproject.urls.canonical import NotCrawlable, resolve
from crawlproject.urls.charset import MAX_BYTES, UTF_8, utf8
from crawlproject.urls.huge import readable_part
from crawlproject.urls.link_bounds import LONGEST_BASE
from crawlproject.urls.tame import tame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode
    from webencodings import Encoding

    from crawlproject.urls.link_bounds import Room

    # Its name, and itself.
    Element: TypeAlias = tuple[str | None, LexborNode]
    Attributes: TypeAlias = dict[str, str | None]

logger = logging.getLogger(__name__)

# Elements that lead to other pages.
LINKING = frozenset({"a", "area"})
# … and those that say something of the page.
_TELLING = ("base", "link", "meta", "title")
# Where its text is, and what of it is not its own.
_OUTLINE = (
    *("html", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("nav", "header", "footer", "aside", "menu", "dialog", "form"),
    *("script", "style", "noscript", "template", "iframe", "svg", "button", "select", "textarea"),
    *("div", "section", "ul", "ol", "table"),
)
# Fewer are on every page that somebody has written.
_MANY_METAS = 1_000
_MEDIA = ("img", "source", "video", "audio", "embed", "object")


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """The parser's own numbers of elements: to compare them takes a quarter of the time."""
    create = LexborHTMLParser("").create_node
    return {name: create(name).tag_id for name in names}


_NUMBERS = _numbers((*LINKING, *_TELLING, *_OUTLINE, *_MEDIA))
_SOUGHT = frozenset(_NUMBERS.values())


class Survey:
    """The elements of a page, or of a part of it, that are asked for, found on one walk.

    A walk for each question would take as long as parsing does.
    """

    __slots__ = ("_found", "_metas", "_root")

    def __init__(self, root: LexborNode | None) -> None:
        self._root = root
        self._metas: list[Attributes] | None = None
        # By the number of their name.
        self._found: dict[int, list[LexborNode]] = {}
        found, sought = self._found, _SOUGHT
        # Not their attributes: those of all elements at once are much, on a page that is.
        for node in root.traverse() if root is not None else ():
            number = node.tag_id
            if number in found:
                found[number].append(node)
            elif number in sought:
                found[number] = [node]

    def named(self, name: str) -> Sequence[LexborNode]:
        """The elements of one name, in page order."""
        return self._found.get(_NUMBERS[name], ())

    def metas(self) -> Iterable[Attributes]:
        """The attributes of all ``<meta>``, in page order. Several ask for them."""
        if self._metas is None:
            nodes = self.named("meta")
            if len(nodes) > _MANY_METAS:
                return (node.attributes for node in nodes)
            self._metas = [node.attributes for node in nodes]
        return self._metas

    def all(self, *names: str) -> list[LexborNode]:
        """The elements of some names, name by name."""
        return [node for name in names for node in self.named(name)]

    def in_page_order(self, names: Iterable[str]) -> list[Element]:
        """The elements of some names, with their names."""
        present = {_NUMBERS[name]: name for name in names if self.named(name)}
        if self._root is None or len(present) < 2:
            return [(name, node) for name in present.values() for node in self.named(name)]
        return [
            (present[node.tag_id], node) for node in self._root.traverse() if node.tag_id in present
        ]


class Reading:
    """What is known of a response so far."""

    __slots__ = ("base_url", "directives", "encoding", "is_cut", "room", "survey", "tree")

    def __init__(self) -> None:
        self.tree: LexborHTMLParser | None = None
        self.survey: Survey | None = None
        # Whether the tree is of the beginning of the page only.
        self.is_cut = False
        self.base_url: str | None = None
        self.encoding: Encoding | None = None
        # For which name they were asked, and what they are.
        self.directives: tuple[str | None, frozenset[str]] | None = None
        # What its links have left of what they may take up.
        self.room: Room | None = None

    def forget_tree(self) -> None:
        """Whoever changes the tree does so last, and leaves nothing of it to others."""
        self.tree = self.survey = None


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
        html = _utf8(response)
        is_longest = len(html) >= max(MAX_BYTES, len(response.body)) and html is not response.body
        part, has_too_many = readable_part(html)
        if has_too_many or is_longest:
            reading.is_cut = True
            problem = "elements" if has_too_many else f"bytes in UTF-8 ({len(html):,})"
            logger.warning("%s has too many %s: its beginning is read only", response.url, problem)
        reading.tree = LexborHTMLParser(tame(part))
    return reading.tree


def survey(response: Response) -> Survey:
    """What elements a page has."""
    reading = reading_of(response)
    if reading.survey is None:
        reading.survey = Survey(document(response).root)
    return reading.survey


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


def encoding_of(response: Response) -> Encoding:
    """The charset that the page is in. To guess it takes time, and each link may ask."""
    reading = reading_of(response)
    if reading.encoding is None:
        reading.encoding = _encoding(response)
    return reading.encoding


def _encoding(response: Response) -> Encoding:
    if not isinstance(response, TextResponse):
        return UTF_8
    if response._encoding is not None:
        return webencodings.lookup(response._encoding) or UTF_8
    return charset.encoding_of(response.body, response.headers.get(b"Content-Type") or b"")


def base_url(response: Response) -> str:
    """What relative links are relative to: the first ``<base href>``, or the response's URL."""
    reading = reading_of(response)
    if reading.base_url is None:
        reading.base_url = _find_base(response)
    return reading.base_url


def _find_base(response: Response) -> str:
    for node in survey(response).named("base"):
        href = node.attributes.get("href")
        if href is not None:
            try:
                base = resolve(href, response.url)
            except NotCrawlable:
                break
            return base if len(base) <= LONGEST_BASE else response.url
    return response.url
