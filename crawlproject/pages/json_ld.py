"""Structured data in JSON-LD: ``<script type="application/ld+json">``. *Pure.*

Lists and ``@graph`` are flattened, objects inside of others stay there. ``@context`` is
obeyed as far as it is part of the page: nothing is fetched. Of the same key twice, the last
counts; null, NaN and Infinity are no values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crawlproject.pages.lenient_json import documents
from crawlproject.pages.names import MAX_TYPES, Names, is_schema_org, one_or_several
from crawlproject.pages.values import ID, MAX_DEPTH, Budget, Item, add, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlproject.pages.values import Value

_WRAPPERS = ("@value", "@list", "@set")
# Each defines names, at a cost; pages have one or two.
_MAX_CONTEXTS = 20
# The context of schema.org has these names.
_SCHEMA_ORG_TERMS = {"id": ID, "type": "@type"}


def json_ld(blocks: Iterable[str], base_url: str, budget: Budget) -> tuple[list[Item], int]:
    """The items of the scripts of a page, and how many scripts could not be read as a whole."""
    items: list[Item] = []
    broken = 0
    for block in blocks:
        if not block or block.isspace():
            continue
        if len(block) > budget.characters or budget.is_spent:
            broken += 1
            continue
        budget.characters -= len(block)
        found, is_whole = documents(block)
        reader = _Reader(base_url, budget)
        items += reader.items(found)
        broken += reader.has_cut or not is_whole
    return items, broken


class _Reader:
    """Reads one script."""

    def __init__(self, base_url: str, budget: Budget) -> None:
        self._base_url = base_url
        self._budget = budget
        # Whether there was more than a page may say.
        self.has_cut = False

    def items(self, found: list[Any]) -> Iterator[Item]:
        waiting: list[tuple[Any, Names]] = [(found, Names())]
        while waiting:
            value, names = waiting.pop()
            if isinstance(value, list):
                waiting += [(inner, names) for inner in reversed(value)]
            elif isinstance(value, dict):
                names = self._names_in(value, names)
                if self._is_spent():
                    return
                item = self._item(value, names, 1)
                if item["type"] is not None or item["properties"].keys() - {ID}:
                    yield item
                if "@graph" in value:
                    waiting.append((value["@graph"], names))

    def _item(self, node: dict[str, Any], names: Names, depth: int) -> Item:
        types: list[str] = []
        properties: Item = {}
        for key, value in node.items():
            name = names.name(key)
            if len(name) > len(key):
                # The script itself is counted already.
                self._budget.characters -= len(name) - len(key)
            if name.startswith("@") and name != "@reverse":
                # The other keywords say how an item is written.
                if name == "@type":
                    written = value if isinstance(value, list) else [value]
                    types += [
                        names.name(part) for part in written[:MAX_TYPES] if isinstance(part, str)
                    ]
                    self._budget.values -= len(types)
                    self._budget.characters -= sum(map(len, types))
                elif name == ID and isinstance(value, str):
                    properties[ID] = self._identity(value)
            elif type(value) is str and name and name not in properties:
                # The usual case, at half the cost.
                if not self._is_spent():
                    properties[name] = clean(value)
            elif name:
                for inner in self._values(value, names, depth):
                    add(properties, name, inner)
        return {"type": one_or_several(filter(None, types)), "properties": properties}

    def _values(self, value: Any, names: Names, depth: int) -> Iterator[Value]:
        """The values of a property, without what lists and wrappers add to them."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, dict) and (wrapper := _wrapper(value)):
                waiting.append(value[wrapper])
            elif value is None or (isinstance(value, float) and not math.isfinite(value)):
                continue
            elif self._is_spent():
                return
            elif isinstance(value, str):
                yield clean(value)
            elif not isinstance(value, dict):
                yield value
            elif isinstance(reference := value.get(ID), str) and len(value) == 1:
                yield self._identity(reference)
            elif depth < MAX_DEPTH:
                yield self._item(value, self._names_in(value, names), depth + 1)
            else:
                self.has_cut = True

    def _identity(self, written: str) -> str:
        return self._budget.address(written, self._base_url)

    def _is_spent(self) -> bool:
        is_spent = not self._budget.take()
        self.has_cut |= is_spent
        return is_spent

    def _names_in(self, node: dict[str, Any], names: Names) -> Names:
        if "@context" not in node:
            return names
        context = node["@context"]
        parts = context[:_MAX_CONTEXTS] if isinstance(context, list) else [context]
        self._budget.values -= len(parts)
        for part in parts:
            names = _with_context(names, part)
        return names


def _wrapper(value: dict[str, Any]) -> str | None:
    return next((wrapper for wrapper in _WRAPPERS if wrapper in value), None)


def _with_context(names: Names, context: Any) -> Names:
    if context is None:
        return Names()
    if isinstance(context, str):
        # Of other contexts, only their address is known.
        return names.within(context).knowing(_SCHEMA_ORG_TERMS) if is_schema_org(context) else names
    if not isinstance(context, dict):
        return names
    if isinstance(vocabulary := context.get("@vocab"), str):
        names = names.within(vocabulary)
    return names.knowing(dict(_terms(context)))


def _terms(context: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for term, meaning in context.items():
        if isinstance(meaning, dict):
            meaning = meaning.get(ID)
        if isinstance(meaning, str) and not term.startswith("@"):
            yield term, meaning
