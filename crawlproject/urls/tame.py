"""HTML that would stall the parser, rewritten so that it does not.

HTML's rules for building the tree are quadratic in some places, and a page that wants to can use
them: 100,000 nested elements take the parser half a minute, 100,000 attributes on one element as
long, and 30 KB of formatting elements that are opened and never closed are copied into every
later paragraph until they fill gigabytes. Nothing can interrupt the parser, so its input is bounded
first. Browsers have limits for these; here are ours. An ordinary page passes through untouched, for
the price of a count, and a scan or two if it is large.
"""

from __future__ import annotations

import re
from itertools import islice

from crawlproject.urls.markup import (
    ATTRIBUTE,
    TAG,
    any_case,
    raw_elements,
    unambiguous,
)
from crawlproject.urls.nesting import FORMATTING, takes_too_long

# Below these sizes the worst page costs a fraction of a second.
_FEW_TAGS = 1_000
_LONG = 32_768
# What stands before each attribute, at least one of them; and how many there may be, unread.
_SEPARATORS = b"\t\n\f\r /\"'"
_FEW_ATTRIBUTES = 16_000
_FEW_NAMES = 64_000
# Steps up the tree, if all elements were nested …
_FEW_STEPS = 150_000_000
# … and as they are.
_MAX_STEPS = 50_000_000
# Elements made by copying open formatting elements into new blocks.
_MAX_COPIES = 500_000
# Of equal formatting elements, the parser keeps this many open (the 'Noah's Ark' rule).
_EQUAL_FORMATS = 3
# <html> and <body> tags.
_FEW_ROOTS = 20

# What links and titles need, and the end tags of raw text.
_KEPT = frozenset(
    b"a area base link meta title script style textarea xmp iframe noembed noframes".split()
)
_KEPT_ATTRIBUTES = 100
_KEPT_NAMES = 10_000

# Of <a> and <nobr> only one is open at a time.
_COPIED = FORMATTING - {b"a", b"nobr"}
_FORMATTING_NAME = b"|".join(any_case(name.decode()) for name in sorted(_COPIED))
# Up to the first '>': behind it the next tag may begin, whatever this one is part of.
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
        html, is_crowded = unambiguous(html)
        if is_crowded or (
            (may_nest or attributes > _FEW_NAMES or _has_many_roots(html))
            and takes_too_long(html, _MAX_STEPS)
        ):
            return _flattened(html)
    if starts > _FEW_TAGS and _formats(html) * _EQUAL_FORMATS * starts > _MAX_COPIES:
        return _without_formats(unambiguous(html)[0])
    return html


def _has_many_roots(html: bytes) -> bool:
    lowered = html.lower()
    return lowered.count(b"<html") + lowered.count(b"<body") > _FEW_ROOTS


def _formats(html: bytes) -> int:
    """How many different formatting elements there are, at most."""
    found = _FORMATTING_TAG.findall(html)
    formats = set(found)
    # Where a '>' is in a value, they may differ behind it.
    return len(formats) if all(map(_is_whole, formats)) else len(found)


def _is_whole(written: bytes) -> bool:
    tag = TAG.match(written)
    return tag is not None and tag.end(4) + 1 == len(written)


def _without_formats(html: bytes) -> bytes:
    """Without attributes formatting elements are equal, and the parser drops all but three."""

    def bare(tag: re.Match[bytes]) -> bytes:
        slash, name, attributes, _ = tag.groups()
        if attributes and not slash and name.lower() in _COPIED:
            return b"<%b>" % name
        return tag[0]

    pieces: list[bytes] = []
    place = 0
    for raw in raw_elements(html):
        pieces.append(TAG.sub(bare, html[place : raw.start]))
        place = len(html) if raw.text_end is None else raw.text_end
        pieces.append(html[raw.start : place])
    pieces.append(TAG.sub(bare, html[place:]))
    return b"".join(pieces)


def _flattened(html: bytes) -> bytes:
    """Links, titles and text without the elements around them."""
    names: set[bytes] = set()

    def kept(attributes: bytes) -> bytes:
        written = []
        for attribute in islice(ATTRIBUTE.finditer(attributes), _KEPT_ATTRIBUTES):
            if attribute[1] in names or len(names) < _KEPT_NAMES:
                names.add(attribute[1])
                written.append(attribute[0])
        return b"".join(written)

    def flat(tag: re.Match[bytes]) -> bytes:
        slash, name, attributes, _ = tag.groups()
        if not name or name.lower() not in _KEPT or tag[0][-1:] != b">":
            return b" "
        return b"<%b%b%b>" % (slash, name, kept(attributes))

    pieces: list[bytes] = []
    place = 0
    for raw in raw_elements(html):
        pieces.append(TAG.sub(flat, html[place : raw.start]))
        place = len(html) if raw.text_end is None else raw.text_end
        text = html[raw.text_start : place]
        if raw.name in _KEPT:
            pieces += (b"<%b%b>" % (raw.name, kept(raw.attributes)), text)
        else:
            pieces.append(text.replace(b"<", b"&lt;"))
    pieces.append(TAG.sub(flat, html[place:]))
    return b"".join(pieces)
