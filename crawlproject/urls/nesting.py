"""How much work it is for the parser to build the tree of a page. *Pure.*

For most tags the parser walks up the elements that are open. A page may have them nested without
end, or in ways in which end tags end nothing. So what is open is followed here by the rules of the
HTML standard, in a simpler form that never has fewer elements open than the parser, but for those
whose end tag may be left out: they nest by a small factor only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.urls.markup import ATTRIBUTE, RAW_NAMES, TAG, raw_elements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Names of elements and attributes that the parser does not know: it keeps them in a table of
# fixed size, and compares each with those before.
_MAX_NAMES = 20_000
# Attributes of further <html> and <body> tags are added to those of the first.
_MAX_ROOTS = 20


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


# An end tag does not end anything outside of these …
_SCOPES = _names("applet marquee object table template select svg math frameset")
# … and the end tag of a table, nothing outside of these.
_WALLS = _names("table template select svg math frameset")
_FOREIGN = _names("svg math")
# End tags of unknown elements end nothing outside of these.
_SPECIAL = _SCOPES | _names(
    "address article aside blockquote button center details dir div dl fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav noscript ol pre search "
    "section summary ul"
)
FORMATTING = _names("a b big code em font i nobr s small strike strong tt u")
_TABLE_PARTS = _names("caption col colgroup tbody td tfoot th thead tr")
_ROOTS = _names("html body head")
# No content, or no end tag needed; nested only in what is counted.
_FLAT = _names(
    "area base basefont bgsound br embed frame hr image img input keygen link meta param source "
    "track wbr p li dt dd option"
)
_RAW = _names(" ".join(RAW_NAMES))
# Of the above, what an <svg> can't hold: it ends there.
_NOT_IN_FOREIGN = _names("br embed hr img meta p li dt dd")
_NOT_NESTING = _FLAT | _TABLE_PARTS | _ROOTS | _RAW
# HTML in an <svg> or in <math>.
_INTEGRATION_POINTS = _names("foreignobject desc mi mo mn ms mtext annotation-xml")
_KNOWN_IN_HTML = (_NOT_NESTING | _SPECIAL | FORMATTING | _INTEGRATION_POINTS) - _FOREIGN - _RAW
# A cell of a table is four levels deeper than the table.
_LEVELS_OF_TABLE = 4


class _Open:
    """The elements that are open."""

    def __init__(self) -> None:
        self.depth = 0
        # None: it was closed, but not what is in it.
        self._names: list[bytes | None] = []
        self._places: dict[bytes, list[int]] = {}
        # Where those of each kind are.
        self._special: list[int] = []
        self._scopes: list[int] = []
        self._walls: list[int] = []
        self._foreign: list[int] = []
        # Nothing since the outermost <svg> can have ended it.
        self._is_surely_foreign = False

    def start(self, name: bytes, is_self_closing: bool) -> None:
        is_foreign = bool(self._foreign)
        if name in _NOT_NESTING and not (
            is_foreign and name not in _NOT_IN_FOREIGN and name not in _RAW
        ):
            self._is_surely_foreign &= name in _RAW
            if name in _TABLE_PARTS and self._walls and self._names[self._walls[-1]] == b"table":
                # Ends whatever is open in the table.
                self._pop(self._walls[-1] + 1)
            return
        if name in _KNOWN_IN_HTML:
            self._is_surely_foreign = False
        if is_self_closing and (name in _FOREIGN or (is_foreign and self._is_surely_foreign)):
            return
        self._push(name, is_foreign)

    def _push(self, name: bytes, is_foreign: bool) -> None:
        place = len(self._names)
        self._names.append(name)
        self._places.setdefault(name, []).append(place)
        self.depth += 1
        if name in _SPECIAL:
            self._special.append(place)
            if name in _SCOPES:
                self._scopes.append(place)
                if name in _WALLS:
                    self._walls.append(place)
                    if name in _FOREIGN:
                        self._is_surely_foreign |= not is_foreign
                        self._foreign.append(place)
                    elif name == b"table":
                        self.depth += _LEVELS_OF_TABLE - 1

    def end(self, name: bytes) -> None:
        if name in _KNOWN_IN_HTML:
            self._is_surely_foreign = False
        places = self._places.get(name)
        if not places:
            return
        place = places[-1]
        if name == b"template":
            self._pop(place)
        elif name == b"table":
            if place >= self._walls[-1]:
                self._pop(place)
        elif name in FORMATTING:
            if not self._scopes or place > self._scopes[-1]:
                if self._special and self._special[-1] > place:
                    # Blocks that are in it stay open.
                    places.pop()
                    self._names[place] = None
                    self.depth -= 1
                else:
                    self._pop(place)
        else:
            around = self._scopes if name in _SPECIAL and name not in _FOREIGN else self._special
            if not around or place >= around[-1]:
                self._pop(place)

    def _pop(self, until: int) -> None:
        names, places = self._names, self._places
        while len(names) > until:
            name = names.pop()
            if name is not None:
                places[name].pop()
                self.depth -= _LEVELS_OF_TABLE if name == b"table" else 1
        for kind in (self._special, self._scopes, self._walls, self._foreign):
            while kind and kind[-1] >= until:
                kind.pop()


def takes_too_long(html: bytes, most_steps: int) -> bool:
    """Whether the parser would take more steps than that, or more names than it can tell apart.
    The page is unambiguous (``markup.py``).
    """
    opened = _Open()
    steps = options = roots = 0
    names: set[bytes] = set()
    attributes: set[bytes] = set()
    for slash, written, attribute_text, gap in _tags(html):
        if attribute_text:
            attributes.add(attribute_text)
        name = written.lower()
        names.add(name)
        # The parser looks for what the tag may close.
        steps += opened.depth + 1
        if slash:
            opened.end(name)
        else:
            opened.start(name, gap.endswith(b"/"))
            if name == b"select":
                options = 0
            elif name in _ROOTS:
                roots += bool(attribute_text)
        if name == b"option":
            # It looks which options of a <select> are selected.
            options += 1
            steps += options
        if steps > most_steps or roots > _MAX_ROOTS or len(names) > _MAX_NAMES:
            return True
    return _has_many_names(attributes)


def _has_many_names(attributes: Iterable[bytes]) -> bool:
    names: set[bytes] = set()
    for text in attributes:
        names.update(ATTRIBUTE.findall(text))
        if len(names) > _MAX_NAMES:
            return True
    return False


def _tags(html: bytes) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    """Slash, name, attributes, and what is behind them, of each tag that is no comment."""
    place = 0
    for raw in raw_elements(html):
        yield from _named(html[place : raw.start])
        yield b"", raw.name, raw.attributes, b""
        if raw.text_end is None:
            return
        place = raw.text_end
    yield from _named(html[place:])


def _named(markup: bytes) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    for tag in TAG.findall(markup):
        if tag[1]:
            yield tag
