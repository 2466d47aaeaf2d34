"""Estimate how long the parser takes to build the tree of a page. *Pure.*

For most tags the parser walks up the stack of open elements. A page can nest elements without end,
or use end tags that the parser ignores. This module tracks the open elements by a simplified
version of the HTML standard's rules. It never counts fewer open elements than the parser has, apart
from elements whose end tag is optional: these add a small factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.urls.markup import ATTRIBUTE, RAW_NAMES, TAG, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from crawlproject.urls.markup import Markup

# Unknown element and attribute names. The parser keeps them in a hash table of fixed size, so each
# new name is compared with many others.
_MAX_NAMES = 20_000
# <html> and <body> tags with attributes: the parser adds them to the first such element.
_MAX_ROOTS = 20


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


# An end tag does not close an element outside of these …
_SCOPES = _names("applet marquee object table template select svg math frameset")
# … and the end tag of an unknown element does not close one outside of these.
_SPECIAL = _SCOPES | _names(
    "address article aside blockquote button center details dir div dl fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav noscript ol pre search "
    "section summary ul"
)
FORMATTING = _names("a b big code em font i nobr s small strike strong tt u")
# Elements with their own rules; </table> does not close a table outside of these.
_WALLS = _names("table template select svg math frameset")
_FOREIGN = _names("svg math")
_TABLE_PARTS = _names("caption col colgroup tbody td tfoot th thead tr")
_ROOTS = _names("html body head")
_RAW = _names(" ".join(RAW_NAMES))
# Void elements, and those whose end tag is optional. They nest only inside elements that count.
_FLAT = _names(
    "area base basefont bgsound br embed frame hr image img input keygen link meta param source "
    "track wbr p li dt dd option"
)
_NOT_NESTING = _FLAT | _TABLE_PARTS | _ROOTS | _RAW
# Of these, the ones that close an open <svg>, so they do not nest in it.
_ENDS_FOREIGN = _names("br embed hr img meta p li dt dd") | _ROOTS
# Elements of SVG and MathML that contain HTML.
_INTEGRATION_POINTS = _names("foreignobject desc mi mo mn ms mtext annotation-xml")
_MAY_LEAVE_FOREIGN = (_NOT_NESTING | _SPECIAL | FORMATTING | _INTEGRATION_POINTS) - _FOREIGN - _RAW
# A table cell is four levels below the parent of its table.
_LEVELS_OF_TABLE = 4
# One step of the Python code below costs about as much as this many steps of the parser.
_OWN_STEP = 20

# Actions for a tag.
_NOTHING, _PUSH, _POP, _ASK, _ASK_BUT_IN_TABLE = range(5)


class _Open:
    """The stack of open elements, and the steps the parser has taken so far."""

    def __init__(self) -> None:
        self.steps = 0
        # None: the root, or an element that was closed before the elements inside it.
        self.names: list[bytes | None] = [None]
        # Levels that are not in ``names``.
        self._hidden = 1
        self._walls: list[int] = []
        # Open <svg> and <math> elements.
        self.foreign = 0
        # No tag since the outermost of them can have closed it.
        self._is_surely_foreign = False
        self._options = 0
        self.roots = 0
        # The action and the lower-case name for each tag as it is written.
        self.known: dict[bytes, tuple[int, bytes]] = {}

    def read(self, tags: Iterable[tuple[bytes, bytes, bytes]], most_steps: int) -> bool:
        """Process some tags. False: a limit was exceeded."""
        known, names = self.known, self.names
        steps, depth, foreign = self.steps, self.depth, self.foreign
        push, pop, ask, ask_but_in_table = _PUSH, _POP, _ASK, _ASK_BUT_IN_TABLE
        for written, attributes, gap in tags:
            # The parser walks up the stack to see what the tag closes.
            steps += depth
            do, name = known.get(written) or self._learn(written)
            if foreign or do == ask or (do == ask_but_in_table and names[-1] != b"table"):
                self.steps = steps
                self._ask(written, name, attributes, gap)
                steps, depth, foreign = self.steps, self.depth, self.foreign
            elif do == push:
                names.append(name)
                depth += 1
            elif do == pop:
                if names[-1] == name:
                    names.pop()
                    depth -= 1
                else:
                    self.steps = steps
                    self._end(name)
                    steps, depth = self.steps, self.depth
            if steps > most_steps:
                return False
        self.steps = steps
        return self.roots <= _MAX_ROOTS and len(known) <= _MAX_NAMES

    @property
    def depth(self) -> int:
        return len(self.names) + self._hidden

    def _learn(self, written: bytes) -> tuple[int, bytes]:
        name = written.lower().removeprefix(b"/")
        is_end = written.startswith(b"/")
        if not name:
            do = _NOTHING  # a comment
        elif name in _WALLS or name in _ROOTS or name == b"option":
            do = _ASK
        elif name in _TABLE_PARTS and not is_end:
            do = _ASK_BUT_IN_TABLE
        elif name in _NOT_NESTING:
            do = _NOTHING
        else:
            do = _POP if is_end else _PUSH
        self.known[written] = do, name
        return do, name

    def _ask(self, written: bytes, name: bytes, attributes: bytes, gap: bytes) -> None:
        if name == b"option":
            # The parser visits all options of the <select> to find the selected ones.
            self._options += 1
            self.steps += self._options
        elif name == b"select":
            self._options = 0
        elif name in _ROOTS:
            self.roots += bool(attributes)
        if name in _MAY_LEAVE_FOREIGN:
            self._is_surely_foreign = False
        if written.startswith(b"/"):
            self._end(name)
        else:
            self._start(name, gap.endswith(b"/"))

    def _start(self, name: bytes, is_self_closing: bool) -> None:
        if name in _FOREIGN:
            if not is_self_closing:
                self._is_surely_foreign |= not self.foreign
                self.foreign += 1
                self._push_wall(name)
        elif name in _WALLS:
            self._push_wall(name)
            if name == b"table":
                self._hidden += _LEVELS_OF_TABLE - 1
        elif name not in _NOT_NESTING:
            if not (is_self_closing and self._is_surely_foreign):
                self.names.append(name)
        elif self.foreign:
            if name not in _ENDS_FOREIGN and name not in _RAW and not is_self_closing:
                self.names.append(name)
        elif name in _TABLE_PARTS and self._walls and self.names[self._walls[-1]] == b"table":
            # Closes everything that is open in the table.
            self._pop(self._walls[-1] + 1)

    def _push_wall(self, name: bytes) -> None:
        self._walls.append(len(self.names))
        self.names.append(name)

    def _end(self, name: bytes) -> None:
        if name == b"template":
            around: Collection[bytes] = ()
        elif name == b"table":
            around = _WALLS
        else:
            is_known = (name in _SPECIAL and name not in _FOREIGN) or name in FORMATTING
            around = _SCOPES if is_known else _SPECIAL
        has_block = False
        for place in range(len(self.names) - 1, -1, -1):
            self.steps += _OWN_STEP
            found = self.names[place]
            if found == name:
                if name == b"form" or (has_block and name in FORMATTING):
                    # The elements inside it stay open.
                    self.names[place] = None
                else:
                    self._pop(place)
                return
            if found in around:
                return
            has_block = has_block or found in _SPECIAL

    def _pop(self, until: int) -> None:
        while self._walls and self._walls[-1] >= until:
            wall = self.names[self._walls.pop()]
            self.foreign -= wall in _FOREIGN
            if wall == b"table":
                self._hidden -= _LEVELS_OF_TABLE - 1
        del self.names[until:]


def takes_too_long(markup: Markup, most_steps: int, *, has_many_attributes: bool) -> bool:
    """Whether the parser would take more than ``most_steps``, or see too many different names."""
    opened = _Open()
    attributes: set[bytes] = set()
    for start, end, raw in segments(markup):
        tags = TAG.findall(markup.html, start, end)
        if raw is not None:
            tags.append((raw.name, raw.attributes, b""))
        if not opened.read(tags, most_steps):
            return True
        if has_many_attributes:
            attributes.update(text for _, text, _ in tags)
    return _has_many_names(attributes)


def _has_many_names(attributes: Iterable[bytes]) -> bool:
    names: set[bytes] = set()
    for text in attributes:
        names.update(ATTRIBUTE.findall(text))
        if len(names) > _MAX_NAMES:
            return True
    return False
