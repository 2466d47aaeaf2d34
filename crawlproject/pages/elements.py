"""Elements that carry structured data: how they lie in each other, and the items they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlproject.pages.names import MAX_TYPES, one_or_several
from crawlproject.pages.values import ID, MAX_DEPTH, Budget, Item, add

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from selectolax.lexbor import LexborNode

    from crawlproject.pages.values import Value

    Attributes: TypeAlias = dict[str, str | None]

# Elements of a page that are looked at. Each costs a few microseconds.
MAX_MARKS = 20_000
# Characters of a name that is not counted: it has no vocabulary in it.
_SHORT_NAME = 40
# Characters of an attribute that is a list. Words take many times the memory of their text.
_LONGEST_LIST = 20_000


class Mark(NamedTuple):
    """An element of interest. Its place is its number among them, in page order."""

    node: LexborNode
    attributes: Attributes
    # The place of the nearest one that is around it.
    around: int | None

    def words(self, name: str) -> list[str]:
        """An attribute that is a list, each word once."""
        words = (self.attributes.get(name) or "")[:_LONGEST_LIST].split()
        return list(dict.fromkeys(words)) if len(words) > 1 else words

    def names(self, name: str) -> list[str]:
        """An attribute that is a list of names. A vocabulary may make each of them long."""
        return self.words(name)[:MAX_TYPES]


def marks(nodes: Sequence[LexborNode]) -> list[Mark]:
    """The elements, which are given in page order, for each reason that they are one."""
    found: list[Mark] = []
    nearest: dict[int, int | None] = {}
    for node in nodes[:MAX_MARKS]:
        if (own := node.mem_id) in nearest:
            continue
        # Elements share most of their way up: each step is taken once.
        climbed = []
        above = node.parent
        while above is not None and (address := above.mem_id) not in nearest:
            climbed.append(address)
            above = above.parent
        around = nearest[above.mem_id] if above is not None else None
        nearest.update(dict.fromkeys(climbed, around))
        nearest[own] = len(found)
        found.append(Mark(node, node.attributes, around))
    return found


class Property(NamedTuple):
    names: list[str]
    # Of the element that has its value.
    place: int
    # Whether the value is the item that this element is, or what it says.
    is_item: bool


class Found:
    """An item that is not yet put together: its own part of it."""

    __slots__ = ("identity", "is_inside", "properties", "types")

    def __init__(self, types: list[str], identity: str | None, is_inside: bool) -> None:
        self.types = types
        self.identity = identity
        # Whether it is only there as a property of another.
        self.is_inside = is_inside
        self.properties: list[Property] = []


class Assembly:
    """Puts items together. One may be part of several, and of itself by way of others."""

    def __init__(
        self, found: Mapping[int, Found], value_at: Callable[[int], str], budget: Budget
    ) -> None:
        self._found = found
        self._value_at = value_at
        self._budget = budget
        # Whether there was more than a page may say.
        self.has_cut = False

    def items(self) -> list[Item]:
        items = []
        for place, found in self._found.items():
            if not found.is_inside:
                if self._is_spent():
                    break
                items.append(self._item(found, (place,)))
        return items

    def _item(self, found: Found, path: tuple[int, ...]) -> Item:
        properties: Item = {}
        self._budget.values -= len(found.types)
        self._budget.characters -= sum(map(len, found.types))
        if found.identity is not None:
            self._budget.characters -= len(found.identity)
            properties[ID] = found.identity
        for names, place, is_item in found.properties:
            # Each name has a value of its own: were it the same, a few names at each
            # of a few levels would be millions of values in the outputs.
            for name in names:
                if self._is_spent():
                    break
                value = self._inner(place, path) if is_item else self._value_at(place)
                if value is not None:
                    if len(name) > _SHORT_NAME and name not in properties:
                        self._budget.characters -= len(name)
                    add(properties, name, value)
        return {"type": one_or_several(found.types), "properties": properties}

    def _inner(self, place: int, path: tuple[int, ...]) -> Value | None:
        if place in path:
            return None
        if len(path) >= MAX_DEPTH:
            self.has_cut = True
            return None
        return self._item(self._found[place], (*path, place))

    def _is_spent(self) -> bool:
        is_spent = not self._budget.take()
        self.has_cut |= is_spent
        return is_spent
