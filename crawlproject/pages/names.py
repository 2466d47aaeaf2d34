"""What the names of structured data mean, and how they are written here. *Pure.*

A name of schema.org is written short, however a page writes it: ``Product`` for
``https://schema.org/Product``, ``schema:Product``, or ``Product`` where schema.org is the
vocabulary. A name of another vocabulary is a full URL, where the page says which one it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

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
    several = list(dict.fromkeys(types))
    if len(several) > 1:
        return several
    return several[0] if several else None


class Names(NamedTuple):
    """What names mean at one place of a page."""

    # What a name without a prefix belongs to; none for schema.org's, which are written short.
    vocabulary: str = ""
    # Prefixes and names that the page defines itself.
    terms: Mapping[str, str] = {}

    def within(self, vocabulary: str) -> Names:
        return self._replace(vocabulary="" if is_schema_org(vocabulary) else vocabulary.strip())

    def knowing(self, terms: Mapping[str, str]) -> Names:
        if not terms or len(self.terms) + len(terms) > _MAX_TERMS:
            return self
        return self._replace(terms={**self.terms, **terms})

    def name(self, written: str) -> str:
        """The normal form of a name."""
        meaning = self.terms.get(written, written)
        if meaning.startswith("@"):
            return meaning
        prefix, colon, rest = meaning.partition(":")
        if not colon:
            is_plain = meaning is written and self.vocabulary
            return short(f"{self.vocabulary}{written}" if is_plain else meaning)
        if not rest.startswith("//"):
            if prefix in self.terms:
                return short(f"{self.terms[prefix]}{rest}")
            if prefix == SCHEMA_PREFIX:
                return rest
        return short(meaning)
