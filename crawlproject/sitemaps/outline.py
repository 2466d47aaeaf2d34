"""The entries of a document, element by element. *Pure.*

The parser tells of each element as it comes, and builds no tree. Nothing is kept of it but the
entry that is being read, so memory does not grow with the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlproject.sitemaps.entry import KINDS, Entry
from crawlproject.sitemaps.gathering import LONGEST_TEXT, hint_of, lastmod_of
from crawlproject.sitemaps.hints import MOST_PARTS, Cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlproject.sitemaps.entry import Kind
    from crawlproject.sitemaps.gathering import Gathering

_MOST_LEVELS = 256
# Below an entry, nothing deeper counts.
_DEEPEST_PLACE = 2

_BASE = "{http://www.w3.org/XML/1998/namespace}base"


class Outline:
    """What lxml calls a target. ``is_over``: the root element has ended. Raises Cut."""

    def __init__(self, url: str, gathering: Gathering) -> None:
        self._gathering = gathering
        self.kind: Kind | None = None
        self.is_over = False
        self._elements = 0
        self._level = 0
        # Levels, and the base that holds from there on.
        self._bases = [(0, url)]
        self._entry: Entry | None = None
        # The elements that are open in the entry, and the place that they make.
        self._names: list[str] = []
        self._place = ""
        # Of the element that is open, if it counts.
        self._text: list[str] | None = None
        self._room = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._count()
        name = tag.rpartition("}")[2]
        self._text = None
        if attributes and (base := self._resolve(attributes.get(_BASE, ""))):
            self._bases.append((self._level, base))
        if self.kind is None:
            self.kind = _kind_of(name)
        elif self._entry is not None and name != self._entry.name:
            self._names.append(name)
            self._place = "/".join(self._names[: _DEEPEST_PLACE + 1])
            if self._entry.read_attributes(self._place, attributes):
                self._text, self._room = [], LONGEST_TEXT
        elif name in self.kind.entries:
            # One that has not ended has lost its end.
            self._finish()
            self._entry = Entry(name, self.kind, self._resolve)

    def data(self, text: str) -> None:
        if self._text is not None:
            self._room -= len(text)
            if self._room >= 0:
                self._text.append(text)

    def end(self, tag: str) -> None:
        if self._entry is not None:
            if not self._names:
                self._finish()
            else:
                if self._text is not None and self._room >= 0:
                    self._entry.read_text(self._place, "".join(self._text).strip())
                self._names.pop()
        self._text = None
        if self._bases[-1][0] == self._level:
            self._bases.pop()
        self._level -= 1
        self.is_over = self._level == 0

    def close(self) -> None:
        """The document ends, or breaks off: an entry that has no end may be half of one."""

    def _count(self) -> None:
        self._level += 1
        if self._level > _MOST_LEVELS:
            raise Cut(f"it has more than {_MOST_LEVELS} elements in each other")
        self._elements += 1
        if self._elements > MOST_PARTS:
            raise Cut(f"it has more than {MOST_PARTS:,} elements")

    def _finish(self) -> None:
        entry, self._entry = self._entry, None
        self._names.clear()
        if entry is None or entry.url is None:
            return
        if entry.name == "sitemap":
            self._gathering.add_nested(entry.url, lastmod_of(entry.said))
        else:
            self._gathering.add(entry.url, hint_of(entry.said, entry.alternates, entry.images))

    def _resolve(self, text: str) -> str | None:
        return self._gathering.resolve(text, self._bases[-1][1])


def _kind_of(root: str) -> Kind:
    if root in KINDS:
        return KINDS[root]
    if root.lower() == "html":
        raise Cut("no sitemap: it is HTML")
    raise Cut(f"no sitemap: its root element is {root[:40]!a}")
