"""Items of structured data in their normal form, and what those of one page may cost. *Pure.*

An item is ``{"type": …, "properties": {…}}``: its type is a name, a list of names, or None.
A property has one value or, where there are several, a list of them; a value is a text, a
number, a truth value or another item. ``@id`` is the property that says what an item is
known by.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from crawlproject.urls.canonical import NotCrawlable, resolve

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Item: TypeAlias = dict[str, Any]
Value: TypeAlias = str | int | float | bool | Item

ID = "@id"

# Items inside items. Real ones have six levels; and records of pages cut off what is deeper
# than 32 levels of JSON, of which an item in a list takes three.
MAX_DEPTH = 10
# Items and values of a page: a list of 1,000 products with a dozen properties each has 13,000.
MAX_VALUES = 20_000
# Characters of a page's items. The largest lists of products have a third of it; it bounds what
# a page weighs in memory and in the outputs, and what reading one costs (about 20 ms).
MAX_CHARACTERS = 1_000_000

# Control characters but tab and line ends, and halves of surrogate pairs: no text.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]+")


class Budget:
    """How much more a page may say."""

    __slots__ = ("characters", "values")

    def __init__(self, values: int = MAX_VALUES, characters: int = MAX_CHARACTERS) -> None:
        self.values = values
        self.characters = characters

    @property
    def is_spent(self) -> bool:
        return self.values <= 0 or self.characters < 0

    def take(self) -> bool:
        """Whether there may be one more value: it is counted."""
        self.values -= 1
        return not self.is_spent

    def text(self, written: str) -> str:
        """A text that an attribute has."""
        return clean(self._spend(written))

    def text_of(self, node: LexborNode) -> str:
        """The text of an element, as a browser would show it: white space is one space."""
        if self.is_spent:
            return ""
        text = node.text_lexbor()
        # What was read counts, not what is left of it: elements in each other repeat their text.
        return clean(" ".join(self._spend(text).split()))

    def address(self, url: str, base: str) -> str:
        """The absolute URL, or for what is no http(s) URL, what was written."""
        if len(url) > self.characters:
            # Half an address is none.
            return self._spend(url)[:0]
        try:
            # '_:' begins a name that is known on this page alone.
            address = clean(url) if url.startswith("_:") else resolve(url, base)
        except NotCrawlable:
            address = clean(url)
        self.characters -= len(address)
        return address

    def _spend(self, text: str) -> str:
        """As much of a text as there is room for."""
        room = max(0, self.characters)
        self.characters -= len(text)
        return text[:room]


def clean(text: str) -> str:
    """The text, a line or many, without what is no text, and without white space around it."""
    text = text.strip()
    return text if text.isprintable() else _NO_TEXT.sub(" ", text).strip()


def add(properties: Item, name: str, value: Value) -> None:
    """One more value of a property."""
    if name not in properties:
        properties[name] = value
    elif isinstance(present := properties[name], list):
        present.append(value)
    else:
        properties[name] = [present, value]
