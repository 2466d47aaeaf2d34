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
from crawlproject.urls.document import base_url, document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.http import Response

    from crawlproject.pages.values import Item

JSON_LD, MICRODATA, RDFA = SYNTAXES = ("json-ld", "microdata", "rdfa")
_SELECTORS = {
    # Parameters may follow the type.
    JSON_LD: 'script[type*="ld+json" i]',
    MICRODATA: "[itemscope]",
    RDFA: "[typeof]",
}


_IN_ELEMENTS = ((MICRODATA, "itemscope", microdata), (RDFA, "typeof", rdfa))
# Of a page. Most have one to three.
_MAX_SCRIPTS = 1_000


class StructuredData(NamedTuple):
    items: list[Item]
    # Scripts that could not be read as a whole, and syntaxes that had more than a page may say.
    broken: int


def structured_data(response: Response, syntaxes: Iterable[str] = SYNTAXES) -> StructuredData:
    """The items of an HTML response. Never raises, whatever the page holds."""
    selector = _selector(tuple(syntaxes))
    found = document(response).css(selector) if selector else []
    if not found:
        return StructuredData([], 0)
    tree, base, budget = document(response), base_url(response), Budget()
    items: list[Item] = []
    broken = 0
    if _SELECTORS[JSON_LD] in selector:
        scripts = tree.css(_SELECTORS[JSON_LD])
        blocks = (script.text_lexbor() for script in scripts[:_MAX_SCRIPTS])
        items, broken = json_ld(blocks, base, budget)
        broken += len(scripts) > _MAX_SCRIPTS
    for syntax, attribute, read in _IN_ELEMENTS:
        if _SELECTORS[syntax] in selector and any(attribute in node.attributes for node in found):
            more, more_broken = read(tree, base, budget)
            items += more
            broken += more_broken
    return StructuredData(items, broken)


@lru_cache
def _selector(syntaxes: tuple[str, ...]) -> str:
    return ",".join(_SELECTORS[syntax] for syntax in syntaxes)
