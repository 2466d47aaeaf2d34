"""Structured data in RDFa Lite: ``vocab``, ``typeof``, ``property``, ``resource``, ``prefix``.

``about`` is known too. An item is an element with a type: what has none (OpenGraph's
``<meta property="og:…">``) is no item, and no part of one that is not around it. Items that
belong to another by ``rel`` stand for themselves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.pages.elements import MAX_MARKS, Assembly, Found, Property, marks
from crawlproject.pages.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser

    from crawlproject.pages.elements import Mark
    from crawlproject.pages.values import Budget, Item

_MARKED = "[typeof],[property],[resource],[about],[vocab],[prefix]"
# Characters of an attribute that defines prefixes.
_LONGEST_PREFIXES = 20_000
_ADDRESSES = ("resource", "href", "src")
_VALUES = {"data": "value", "meter": "value", "time": "datetime"}

# Prefixes that pages need not define: those of RDFa's initial context that are in use.
# That of schema.org is known by itself.
_PREFIXES = {
    "cc": "http://creativecommons.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "og": "http://ogp.me/ns#",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rev": "http://purl.org/stuff/rev#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def rdfa(tree: LexborHTMLParser, base_url: str, budget: Budget) -> tuple[list[Item], int]:
    """The items of a page that are no property of another, and 1 if there was more to read."""
    nodes = tree.css(_MARKED)
    reader = _Reader(marks(nodes), base_url, budget)
    assembly = Assembly(reader.found(), reader.value_at, budget)
    items = assembly.items()
    return items, int(assembly.has_cut or len(nodes) > MAX_MARKS)


class _State(NamedTuple):
    """What holds inside of an element."""

    names: Names
    # Whose properties are said there.
    item: Found | None = None


class _Reader:
    """Reads one page."""

    def __init__(self, marked: Sequence[Mark], base_url: str, budget: Budget) -> None:
        self._marked = marked
        self._base_url = base_url
        self._budget = budget

    def found(self) -> dict[int, Found]:
        """All items, each with its properties, by place."""
        found: dict[int, Found] = {}
        known: dict[str | None, Found] = {}
        outside = _State(Names(terms=_PREFIXES))
        states: list[_State] = []
        for place, mark in enumerate(self._marked):
            attributes = mark.attributes
            state = outside if mark.around is None else states[mark.around]
            names, item = _names_in(mark, state.names), state.item
            properties = [names.name(name) for name in mark.names("property")]
            is_typed = "typeof" in attributes
            if is_typed:
                types = [names.name(name) for name in mark.names("typeof")]
                # A subject of its own is no value of what is around it.
                is_value = item is not None and bool(properties) and "about" not in attributes
                new = Found(types, self._identity(mark), is_inside=is_value)
                found[place] = new
                known.setdefault(new.identity, new)
                if is_value:
                    assert item is not None
                    item.properties.append(Property(properties, place, is_item=True))
                elif "about" in attributes:
                    new.properties.append(Property(properties, place, is_item=False))
                item = new
            elif "about" in attributes or ("resource" in attributes and not properties):
                # More of an item that was there before. Not so with links, which the
                # full RDFa would take for subjects: pages mean what is around them.
                item = known.get(self._identity(mark))
            if properties and item is not None and not is_typed:
                item.properties.append(Property(properties, place, is_item=False))
            states.append(_State(names, item))
        return found

    def value_at(self, place: int) -> str:
        """What an element says that is no item."""
        node, attributes, _ = self._marked[place]
        if "content" in attributes:
            return self._budget.text(attributes["content"] or "")
        if "typeof" not in attributes:
            for name in _ADDRESSES:
                if name in attributes:
                    return self._budget.address(attributes[name] or "", self._base_url)
        value = _VALUES.get(node.tag or "")
        if value in attributes:
            return self._budget.text(attributes[value] or "")
        return self._budget.text_of(node)

    def _identity(self, mark: Mark) -> str | None:
        for name in ("about", *_ADDRESSES):
            if name in mark.attributes:
                return self._budget.address(mark.attributes[name] or "", self._base_url)
        return None


def _names_in(mark: Mark, names: Names) -> Names:
    attributes = mark.attributes
    if "vocab" in attributes:
        names = names.within(attributes["vocab"] or "")
    if prefixes := attributes.get("prefix"):
        words = prefixes[:_LONGEST_PREFIXES].split()
        names = names.knowing(
            {
                prefix.removesuffix(":"): vocabulary
                for prefix, vocabulary in pairwise(words)
                if prefix.endswith(":")
            }
        )
    return names
