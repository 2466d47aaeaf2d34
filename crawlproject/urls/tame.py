"""HTML that would stall the parser, rewritten so that it does not.

HTML's rules for building the tree are quadratic in three places, and a page that wants
to can use them: 100,000 nested elements take the parser half a minute, 100,000
attributes on one element as long, and 30 KB of formatting elements that are opened and
never closed are copied into every later paragraph until they fill gigabytes. Browsers
have limits for these; here are ours. An ordinary page passes through untouched, for the
price of a count, and a scan or two if it is large.
"""

from __future__ import annotations

import re

# Below these sizes the worst page costs a fraction of a second.
_TAGS_TO_COPY = 1_000
_TAGS_TO_NEST = 10_000
_LONG = 32_768

_MAX_ATTRIBUTES = 500
_KEPT_ATTRIBUTES = 100
# The sum over all tags of how deep each stands: what the parser's walks up the tree add up to.
_MAX_STEPS = 20_000_000
# Elements made by copying open formatting elements into new blocks.
_MAX_COPIES = 500_000
# Of equal formatting elements, the parser keeps this many open (the 'Noah's Ark' rule).
_EQUAL_FORMATS = 3

# Comments, and elements that have no content or need no end tag.
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta source track wbr param "
    b"p li dt dd option optgroup tr td th thead tbody tfoot colgroup rp rt".split()
) | {b""}
# What links and titles need, and the elements whose content is no markup.
_FLAT = frozenset(b"a area base link meta title script style textarea xmp iframe".split())

_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
# All up to the first tag with too many attributes. Written so that no byte is read twice.
_UNCROWDED = re.compile(
    rb"(?:[^<]++|<(?![a-zA-Z])|<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+(?![\s/]*+[^\s/>]))*+"
    % (_ATTRIBUTE, _MAX_ATTRIBUTES)
)
# The cheap question first: is there a tag with room for so many?
_LONG_TAG = re.compile(rb"<[a-zA-Z][^>]{%d}" % _MAX_ATTRIBUTES)
_TAG_NAME = re.compile(rb"<(?:!--.*?(?:-->|\Z)|(/?)([a-zA-Z][^\s/>]*+))", re.DOTALL)
_TAG = re.compile(
    rb"<(/?)([a-zA-Z][^\s/>]*+)((?:%b){0,%d}+)(?:%b)*+[\s/]*+(>|\Z)"
    % (_ATTRIBUTE, _KEPT_ATTRIBUTES, _ATTRIBUTE)
)
# Each letter in both cases: several times as fast as a pattern that ignores case.
_FORMATTING_NAME = "|".join(
    "".join(f"[{letter}{letter.upper()}]" for letter in name)
    for name in ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
).encode()
_FORMATTING_TAG = re.compile(
    rb"<(?=[bcefistuBCEFISTU])((?:%b)(?=[\s/]))(?:%b)*+" % (_FORMATTING_NAME, _ATTRIBUTE)
)


def tame(html: bytes) -> bytes:
    """The HTML itself, or where it is hostile, what of it can be parsed in fair time."""
    tags = html.count(b"<")
    if tags > _TAGS_TO_COPY:
        tags -= html.count(b"</")
    if tags > _TAGS_TO_NEST and _steps(html) > _MAX_STEPS:
        return _flattened(html)
    if tags > _TAGS_TO_COPY:
        formats = {tag[0] for tag in _FORMATTING_TAG.finditer(html)}
        if len(formats) * _EQUAL_FORMATS * tags > _MAX_COPIES:
            # Without attributes they are equal, and the parser drops all but three.
            html = _FORMATTING_TAG.sub(rb"<\1", html)
    if len(html) > _LONG and _LONG_TAG.search(html) and not _UNCROWDED.fullmatch(html):
        return _flattened(html)
    return html


def _steps(html: bytes) -> int:
    """How many steps up the tree the parser takes, about."""
    steps = depth = 0
    opened: dict[bytes, int] = {}
    for slash, written in _TAG_NAME.findall(html):
        name = written.lower()
        if name in _NOT_NESTING:
            continue
        steps += depth
        if not slash:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
        elif opened.get(name):  # an end tag that ends nothing changes nothing
            opened[name] -= 1
            depth -= 1
    return steps


def _flattened(html: bytes) -> bytes:
    """Links, titles and text without the elements around them."""
    return _TAG.sub(_flat_tag, html)


def _flat_tag(tag: re.Match[bytes]) -> bytes:
    slash, name, attributes, end = tag.groups()
    if name.lower() in _FLAT and end:
        return b"<%b%b%b>" % (slash, name, attributes)
    return b" "
