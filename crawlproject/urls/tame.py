"""HTML that would stall the parser, rewritten so that it does not.

HTML's rules for building the tree are quadratic in three places, and a page that wants
to can use them: 100,000 nested elements take the parser half a minute, 100,000
attributes on one element as long, and 30 KB of formatting elements that are opened and
never closed are copied into every later paragraph until they fill gigabytes. Browsers
have limits for these; here are ours. An ordinary page passes through untouched, for the
price of two counts (and, from 32 KB on, one scan).
"""

from __future__ import annotations

import re

# Below these sizes the worst page costs a tenth of a second.
_MANY_TAGS = 1_000
_LONG = 32_768

_MAX_ATTRIBUTES = 500
_KEPT_ATTRIBUTES = 100
# The sum over all tags of how deep each stands: what the parser's walks up the tree add up to.
_MAX_STEPS = 20_000_000
# Elements made by copying open formatting elements into new blocks.
_MAX_COPIES = 500_000
# Of equal formatting elements, the parser keeps this many open (the 'Noah's Ark' rule).
_EQUAL_FORMATS = 3

_VOID_OR_IMPLIED_END = frozenset(
    b"area base br col embed hr img input link meta source track wbr param "
    b"p li dt dd option optgroup tr td th thead tbody tfoot colgroup rp rt".split()
)
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
# What links and titles need, and the elements whose content is no markup.
_FLAT = frozenset(b"a area base link meta title script style textarea xmp iframe".split())

_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
# All up to the first tag with too many attributes. Written so that no byte is read twice.
_UNCROWDED = re.compile(
    rb"(?:[^<]++|<(?![a-zA-Z])|<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+(?![\s/]*+[^\s/>]))*+"
    % (_ATTRIBUTE, _MAX_ATTRIBUTES)
)
_TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<(script|style|textarea|title|xmp|iframe)\b.*?(?:</\1|\Z)"
    rb"|<(/?)([a-z][^\s/>]*+)((?:%b)*+)" % _ATTRIBUTE,
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(
    rb"<(/?)([a-zA-Z][^\s/>]*+)((?:%b){0,%d}+)(?:%b)*+[\s/]*+(>|\Z)"
    % (_ATTRIBUTE, _KEPT_ATTRIBUTES, _ATTRIBUTE)
)
_FORMATTING_TAG = re.compile(
    rb"<(%b)(?=[\s/])(?:%b)*+" % (b"|".join(sorted(_FORMATTING)), _ATTRIBUTE), re.IGNORECASE
)


def tame(html: bytes) -> bytes:
    """The HTML itself, or where it is hostile, what of it can be parsed in fair time."""
    tags = html.count(b"<") - html.count(b"</")
    if tags > _MANY_TAGS:
        steps, formats = _measure(html)
        if steps > _MAX_STEPS:
            return _flattened(html)
        if formats * _EQUAL_FORMATS * tags > _MAX_COPIES:
            # Without attributes they are equal, and the parser drops all but three.
            html = _FORMATTING_TAG.sub(rb"<\1", html)
    if len(html) > _LONG and not _UNCROWDED.fullmatch(html):
        return _flattened(html)
    return html


def _measure(html: bytes) -> tuple[int, int]:
    """Steps up the tree (an estimate), and the number of different formatting elements."""
    steps = depth = 0
    opened: dict[bytes, int] = {}
    formats: set[tuple[bytes, bytes]] = set()
    for _, slash, written, attributes in _TOKEN.findall(html):
        name = written.lower()
        if not name or name in _VOID_OR_IMPLIED_END:
            continue
        steps += depth
        if slash:
            # An end tag that ends nothing leaves the depth as it is.
            if opened.get(name):
                opened[name] -= 1
                depth -= 1
            continue
        opened[name] = opened.get(name, 0) + 1
        depth += 1
        if attributes and name in _FORMATTING:
            formats.add((name, attributes))
    return steps, len(formats)


def _flattened(html: bytes) -> bytes:
    """Links, titles and text without the elements around them."""
    return _TAG.sub(_flat_tag, html)


def _flat_tag(tag: re.Match[bytes]) -> bytes:
    slash, name, attributes, end = tag.groups()
    if name.lower() in _FLAT and end:
        return b"<%b%b%b>" % (slash, name, attributes)
    return b" "
