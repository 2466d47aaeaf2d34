"""What a page says of itself for machines: JSON-LD, microdata and RDFa Lite.

Items have one form whatever they are written in; ``values.py`` says which. Those in JSON-LD
come first, then those in microdata, then those in RDFa, each in page order.

A page without any costs one walk through its tree, in C. (To look for the words in the bytes
takes twice as long, and finds them in scripts, too.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlproject.pages.json_ld import json_ld
from crawlproject.pages.microdata import microdata
from crawlproject.pages.rdfa import rdfa
from crawlproject.pages.values import Budget
from crawlproject.urls.document import base_url, document, survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.http import Response
    from selectolax.lexbor import LexborNode

    from crawlproject.pages.values import Item

JSON_LD, MICRODATA, RDFA = SYNTAXES = ("json-ld", "microdata", "rdfa")
# Attributes that an element has if it is an item, and who reads it.
_IN_ELEMENTS = {MICRODATA: ("itemscope", microdata), RDFA: ("typeof", rdfa)}
# Of a page. Most have one to three.
_MAX_SCRIPTS = 1_000


class StructuredData(NamedTuple):
    items: list[Item]
    # Scripts that could not be read as a whole, and syntaxes that had more than a page may say.
    broken: int


def structured_data(response: Response, syntaxes: Sequence[str] = SYNTAXES) -> StructuredData:
    """The items of an HTML response. Never raises, whatever the page holds."""
    scripts = _scripts(response) if JSON_LD in syntaxes else []
    attributes, selector = _sought(tuple(syntaxes))
    marked = document(response).css(selector) if selector else []
    if not scripts and not marked:
        return StructuredData([], 0)
    tree, base, budget = document(response), base_url(response), Budget()
    blocks = (script.text_lexbor() for script in scripts[:_MAX_SCRIPTS])
    items, broken = json_ld(blocks, base, budget)
    broken += len(scripts) > _MAX_SCRIPTS
    for name, read in _IN_ELEMENTS.values():
        if name in attributes and any(name in node.attributes for node in marked):
            more, more_broken = read(tree, base, budget)
            items += more
            broken += more_broken
    return StructuredData(items, broken)


@lru_cache(maxsize=8)
def _sought(syntaxes: tuple[str, ...]) -> tuple[list[str], str]:
    """The attributes that tell of these syntaxes, and a selector of the elements with them."""
    attributes = [name for syntax, (name, _) in _IN_ELEMENTS.items() if syntax in syntaxes]
    return attributes, ",".join(f"[{name}]" for name in attributes)


def _scripts(response: Response) -> list[LexborNode]:
    # Parameters may follow the type.
    return [
        script
        for script in survey(response).all("script")
        if "ld+json" in (script.attributes.get("type") or "").lower()
    ]
