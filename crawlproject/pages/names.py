"""What the names of structured data mean, and how they are written here. *Pure.*

A name of schema.org is written short, however a page writes it: ``Product`` for
``https://schema.org/Product``, ``schema:Product``, or ``Product`` where schema.org is the
vocabulary. A name of another vocabulary is a full URL, where the page says which one it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlproject.pages.values import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Also of its extensions (health-lifesci.schema.org), and without a scheme: wrong, and common.
_SCHEMA_ORG = r"(?:https?:)?(?://)?(?:[a-z-]+\.)?schema\.org"
_SCHEMA_ORG_NAME = re.compile(rf"{_SCHEMA_ORG}/+#?([^/?#\s]+)/?", re.IGNORECASE).fullmatch
_SCHEMA_ORG_ITSELF = re.compile(
    rf"{_SCHEMA_ORG}(?:[/#]*|/docs/jsonldcontext\.\w+)", re.IGNORECASE
).fullmatch
SCHEMA_PREFIX = "schema"
# Each context of a hostile page is a copy of the one around it.
_MAX_TERMS = 100
# Characters of a name. Each would have its vocabulary in it; real ones have less than 100.
MAX_NAME_LENGTH = 300
# Of an item; pages have one, rarely two or three.
MAX_TYPES = 20


def is_schema_org(vocabulary: str) -> bool:
    return _SCHEMA_ORG_ITSELF(vocabulary.strip()) is not None


def short(name: str) -> str:
    """A name of schema.org without the vocabulary; any other as it is."""
    if "/" not in name:
        return name
    found = _SCHEMA_ORG_NAME(name)
    return found[1] if found else name


def one_or_several(types: Iterable[str]) -> str | list[str] | None:
    """Types in their normal form: each once; None where there is none."""
    several = list(dict.fromkeys(types))[:MAX_TYPES]
    if len(several) > 1:
        return several
    return several[0] if several else None


class Names:
    """What names mean at one place of a page."""

    __slots__ = ("_known", "_terms", "_vocabulary")

    def __init__(self, vocabulary: str = "", terms: Mapping[str, str] | None = None) -> None:
        # What a name without a prefix belongs to; none for schema.org's, which are written short.
        self._vocabulary = vocabulary
        # Prefixes and names that the page defines itself.
        self._terms = terms or {}
        # The same few names come again and again.
        self._known: dict[str, str] = {}

    def within(self, vocabulary: str) -> Names:
        is_short = is_schema_org(vocabulary) or len(vocabulary) > MAX_NAME_LENGTH
        return Names("" if is_short else clean(vocabulary), self._terms)

    def knowing(self, terms: Mapping[str, str]) -> Names:
        if not terms or len(self._terms) + len(terms) > _MAX_TERMS:
            return self
        known = dict(self._terms)
        known.update(
            (term, clean(name)) for term, name in terms.items() if len(name) <= MAX_NAME_LENGTH
        )
        return Names(self._vocabulary, known)

    def name(self, written: str) -> str:
        """The normal form of a name."""
        name = self._known.get(written)
        if name is None:
            name = self._known[written] = self._meaning(clean(written[:MAX_NAME_LENGTH]))
        return name

    def _meaning(self, written: str) -> str:
        # Terms are no longer than names may be, so two of them are no danger.
        meaning = self._terms.get(written, written)
        if meaning.startswith("@"):
            return meaning
        prefix, colon, rest = meaning.partition(":")
        if not colon:
            is_plain = meaning is written
            return short(f"{self._vocabulary}{written}" if is_plain else meaning)
        if not rest.startswith("//"):
            if prefix in self._terms:
                return short(f"{self._terms[prefix]}{rest}")
            if prefix == SCHEMA_PREFIX:
                return rest
        return short(meaning)
