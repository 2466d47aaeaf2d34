"""Structured data in microdata: ``itemscope``, ``itemtype``, ``itemprop``, ``itemref``.

By the rules of the HTML standard, with two habits of pages besides: ``content`` counts on
every element that would else give its text, as the examples of schema.org have it, and an
element without the attribute that would be its value gives its text.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from crawlproject.pages.elements import MAX_MARKS, Assembly, Found, Property, marks
from crawlproject.pages.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser

    from crawlproject.pages.elements import Mark
    from crawlproject.pages.values import Budget, Item

_MARKED = "[itemscope],[itemprop]"
_URLS = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    "object": "data",
}
_VALUES = {"data": "value", "meter": "value", "time": "datetime"}


def microdata(tree: LexborHTMLParser, base_url: str, budget: Budget) -> tuple[list[Item], int]:
    """The items of a page that are no property of another, and 1 if there was more to read."""
    nodes = tree.css(_MARKED)
    marked = marks(nodes)
    if any("itemref" in mark.attributes for mark in marked):
        nodes = tree.css(f"{_MARKED},[id]")
        marked = marks(nodes)
    reader = _Reader(marked, base_url, budget)
    assembly = Assembly(reader.found(), reader.value_at, budget)
    items = assembly.items()
    return items, int(assembly.has_cut or len(nodes) > MAX_MARKS)


class _Reader:
    """Reads one page."""

    def __init__(self, marked: Sequence[Mark], base_url: str, budget: Budget) -> None:
        self._marked = marked
        self._base_url = base_url
        self._budget = budget
        # Items have types, which are URLs, and no prefixes.
        self._names = Names()
        # The place of the item that each element is in.
        self._scopes: list[int | None] = []
        for mark in marked:
            around = mark.around
            if around is not None and "itemscope" not in marked[around].attributes:
                around = self._scopes[around]
            self._scopes.append(around)

    def found(self) -> dict[int, Found]:
        """All items, each with its properties, by place."""
        found: dict[int, Found] = {}
        owned: dict[int | None, list[int]] = {None: []}
        for place, (mark, scope) in enumerate(zip(self._marked, self._scopes, strict=True)):
            is_property = "itemprop" in mark.attributes
            if is_property:
                owned[scope].append(place)
            if "itemscope" in mark.attributes:
                types = self._names_in(mark, "itemtype")
                found[place] = Found(types, self._identity(mark), is_inside=is_property)
                owned[place] = []
        for place, item in found.items():
            places: Sequence[int] = owned[place]
            if "itemref" in self._marked[place].attributes:
                places = sorted({*places, *self._referred(place)})
            item.properties = [
                Property(self._names_in(self._marked[at], "itemprop"), at, at in found)
                for at in places
            ]
        return found

    def value_at(self, place: int) -> str:
        """What an element says that is no item."""
        node, attributes, _ = self._marked[place]
        tag = node.tag or ""
        address = _URLS.get(tag)
        if address in attributes:
            return self._budget.address(attributes[address] or "", self._base_url)
        for name in (_VALUES.get(tag), "content"):
            if name in attributes:
                return self._budget.text(attributes[name] or "")
        return self._budget.text_of(node)

    def _names_in(self, mark: Mark, attribute: str) -> list[str]:
        return [self._names.name(word) for word in mark.names(attribute)]

    def _identity(self, mark: Mark) -> str | None:
        written = (mark.attributes.get("itemid") or "").strip()
        return self._budget.address(written, self._base_url) if written else None

    def _referred(self, place: int) -> Iterator[int]:
        """The places of the properties that an item has elsewhere."""
        for name in self._marked[place].words("itemref"):
            root = self._ids.get(name, place)
            if root == place:
                continue
            last = self._lasts[root]
            # Thousands of items may refer to thousands of elements.
            self._budget.values -= 1 + last - root
            if self._budget.is_spent:
                return
            for inner in range(root, last + 1):
                scope = self._scopes[inner]
                is_own = inner == root or scope is None or scope < root
                if is_own and "itemprop" in self._marked[inner].attributes:
                    yield inner

    @cached_property
    def _ids(self) -> dict[str | None, int]:
        # Of several with one id, the first counts.
        marked = list(enumerate(self._marked))
        return {mark.attributes.get("id"): place for place, mark in reversed(marked)}

    @cached_property
    def _lasts(self) -> list[int]:
        """For each element, the place of the last one inside of it, or its own."""
        lasts = list(range(len(self._marked)))
        for place in reversed(lasts[:]):
            around = self._marked[place].around
            if around is not None:
                lasts[around] = max(lasts[around], lasts[place])
        return lasts
