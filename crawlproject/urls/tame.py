"""HTML that would stall the parser, rewritten so that it does not.

HTML's rules for building the tree are quadratic in several places: 100,000 nested elements take the
parser half a minute, 100,000 attributes on one element as long, and 30 KB of formatting elements
that are never closed are copied into every later paragraph until they fill gigabytes. The parser is
C code that cannot be interrupted, so its input is bounded first. An ordinary page is returned as it
is, for the cost of a count, or of a scan or two if it is large.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from crawlproject.urls.markup import (
    ATTRIBUTE,
    TAG,
    any_case,
    segments,
    unambiguous,
)
from crawlproject.urls.nesting import FORMATTING, takes_too_long

if TYPE_CHECKING:
    from crawlproject.urls.markup import Markup

# Below these sizes the worst page costs about a second.
_FEW_TAGS = 1_000
_LONG = 32_768
# At least one of these characters comes before each attribute. With fewer of them, a page cannot
# have an element with too many attributes …
_SEPARATORS = b"\t\n\f\r /\"'"
_FEW_ATTRIBUTES = 16_000
# … or too many different attribute names.
_FEW_NAMES = 80_000
# The parser's steps up the tree if all elements were nested …
_FEW_STEPS = 350_000_000
# … and as they are nested (``nesting.py``).
_MAX_STEPS = 50_000_000
# Elements made by copying open formatting elements into new blocks.
_MAX_COPIES = 500_000
# Of equal formatting elements, the parser keeps this many open (the 'Noah's Ark' rule).
_EQUAL_FORMATS = 3
# <html> and <body> tags.
_FEW_ROOTS = 20

# Kept in flattened pages: what links and titles need, and raw text elements.
_KEPT = frozenset(
    b"a area base link meta title script style textarea xmp iframe noembed noframes".split()
)
_KEPT_ATTRIBUTES = 100
_KEPT_NAMES = 10_000

# <a> and <nobr> are never copied more than once: a new one closes the last.
_COPIED = FORMATTING - {b"a", b"nobr"}
_FORMATTING_NAME = b"|".join(any_case(name.decode()) for name in sorted(_COPIED))
# Up to the first '>', even inside a quoted value: this may be no tag, and one may follow the '>'.
_FORMATTING_TAG = re.compile(
    rb"<(?=[bcefistuBCEFISTU])(?:%b)(?=[\t\n\f\r /])[^>]*+>?+" % _FORMATTING_NAME
)


def tame(html: bytes) -> bytes:
    """The HTML itself, or where it is hostile, what of it can be parsed in fair time."""
    tags = html.count(b"<")
    if tags <= _FEW_TAGS and len(html) <= _LONG:
        return html
    ends = html.count(b"</")
    starts = tags - ends
    attributes = 0
    if len(html) > _LONG:
        attributes = len(html) - len(html.translate(None, _SEPARATORS))
    may_nest = starts * (starts // 2 + ends) > _FEW_STEPS
    if may_nest or attributes > _FEW_ATTRIBUTES:
        markup = unambiguous(html)
        html = markup.html
        has_many = attributes > _FEW_NAMES or _has_many_roots(html)
        if markup.is_crowded or (
            (may_nest or has_many)
            and takes_too_long(markup, _MAX_STEPS, has_many_attributes=has_many)
        ):
            return _flattened(markup)
    if starts > _FEW_TAGS and _formats(html) * _EQUAL_FORMATS * starts > _MAX_COPIES:
        return _without_formats(unambiguous(html))
    return html


def _has_many_roots(html: bytes) -> bool:
    lowered = html.lower()
    return lowered.count(b"<html") + lowered.count(b"<body") > _FEW_ROOTS


def _formats(html: bytes) -> int:
    """How many different formatting elements there are, at most."""
    found = _FORMATTING_TAG.findall(html)
    formats = set(found)
    # Tags with a '>' in a value may differ after it.
    return len(formats) if all(map(_is_whole, formats)) else len(found)


def _is_whole(written: bytes) -> bool:
    tag = TAG.match(written)
    return tag is not None and tag.end(3) + 1 == len(written)


def _without_formats(markup: Markup) -> bytes:
    """Without attributes formatting elements are equal, and the parser drops all but three."""

    def bare(tag: re.Match[bytes]) -> bytes:
        name, attributes, _ = tag.groups(b"")
        return b"<%b>" % name if attributes and name.lower() in _COPIED else tag[0]

    html = markup.html
    pieces: list[bytes] = []
    for start, end, raw in segments(markup):
        pieces.append(TAG.sub(bare, html[start:end]))
        if raw is not None:
            pieces.append(html[raw.start : raw.text_end])
    return b"".join(pieces)


def _flattened(markup: Markup) -> bytes:
    """Links, titles and text without the elements around them."""
    names: set[bytes] = set()

    def kept(attributes: bytes) -> bytes:
        written = []
        for attribute in islice(ATTRIBUTE.finditer(attributes), _KEPT_ATTRIBUTES):
            if attribute[1] in names or len(names) < _KEPT_NAMES:
                names.add(attribute[1])
                written.append(b" " + attribute[0])
        return b"".join(written)

    def flat(tag: re.Match[bytes]) -> bytes:
        name, attributes, _ = tag.groups(b"")
        if name.lower().removeprefix(b"/") not in _KEPT or tag[0][-1:] != b">":
            return b" "
        return b"<%b%b>" % (name, kept(attributes))

    html = markup.html
    pieces: list[bytes] = []
    for start, end, raw in segments(markup):
        pieces.append(TAG.sub(flat, html[start:end]))
        if raw is not None:
            text = html[raw.text_start : raw.text_end]
            if raw.name in _KEPT:
                pieces += (b"<%b%b>" % (raw.name, kept(raw.attributes)), text)
            else:
                pieces.append(text.replace(b"<", b"&lt;"))
    return b"".join(pieces)
