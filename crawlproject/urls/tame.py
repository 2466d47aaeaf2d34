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

# Comments and scripts (no name), elements that have no content or need no end tag.
_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta source track wbr param "
    b"p li dt dd option optgroup tr td th thead tbody tfoot colgroup rp rt".split()
) | {b""}
# What links and titles need, and the end tags of raw text.
_FLAT = frozenset(b"a area base link meta title script style textarea xmp iframe".split())

_FLAGS = re.IGNORECASE | re.DOTALL
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_COMMENT = rb"<!--.*?(?:-->|\Z)"
# An element whose content is text, whatever it looks like: scripts compare with '<'.
_RAW_NAME = rb"(?P<raw>script|style|textarea|title|xmp|iframe)(?=[\s/>])"
_RAW_TEXT = rb"[\s/]*+>.*?(?=</(?P=raw)[\s/>]|\Z)"

# The cheap question first: is there a tag with room for too many attributes?
_LONG_TAG = re.compile(rb"<[a-zA-Z][^>]{%d}" % _MAX_ATTRIBUTES)
# Then, where each tag ends. No group may be captured inside a possessive repeat: CPython
# 3.11 then loses track of it ('The span of capturing group is wrong').
_CROWDED_TAG = re.compile(
    rb"%b|<%b(?:%b){0,%d}+%b|<[a-z][^\s/>]*+(?:%b){0,%d}+(?P<more>[\s/]*+[^\s/>])?"
    % (_COMMENT, _RAW_NAME, _ATTRIBUTE, _MAX_ATTRIBUTES, _RAW_TEXT, _ATTRIBUTE, _MAX_ATTRIBUTES),
    _FLAGS,
)
_TAG_NAME = re.compile(
    rb"%b|<%b(?:%b)*+%b|<(/?)([a-z][^\s/>]*+)" % (_COMMENT, _RAW_NAME, _ATTRIBUTE, _RAW_TEXT),
    _FLAGS,
)
_TAG = re.compile(
    rb"%b|<%b(?P<kept>(?:%b){0,%d}+)(?:%b)*+(?P<text>%b)"
    rb"|<(?P<name>/?[a-z][^\s/>]*+)(?P<attributes>(?:%b){0,%d}+)(?:%b)*+[\s/]*+(?P<end>>|\Z)"
    % (
        *(_COMMENT, _RAW_NAME, _ATTRIBUTE, _KEPT_ATTRIBUTES, _ATTRIBUTE, _RAW_TEXT),
        *(_ATTRIBUTE, _KEPT_ATTRIBUTES, _ATTRIBUTE),
    ),
    _FLAGS,
)
# Each letter in both cases: several times as fast as a pattern that ignores case.
_FORMATTING_NAME = "|".join(
    "".join(f"[{letter}{letter.upper()}]" for letter in name)
    for name in ("b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u")
).encode()
_FORMATTING_TAG = re.compile(
    rb"<(?=[bcefistuBCEFISTU])(?:%b)(?=[\s/])(?:%b)*+" % (_FORMATTING_NAME, _ATTRIBUTE)
)
_FORMATTING_TAG_OR_TEXT = re.compile(
    rb"%b|<%b(?:%b)*+%b|(?P<bare><(?:%b)(?=[\s/]))(?:%b)*+"
    % (_COMMENT, _RAW_NAME, _ATTRIBUTE, _RAW_TEXT, _FORMATTING_NAME, _ATTRIBUTE),
    _FLAGS,
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
            html = _FORMATTING_TAG_OR_TEXT.sub(lambda tag: tag["bare"] or tag[0], html)
    if len(html) > _LONG and _LONG_TAG.search(html) and _is_crowded(html):
        return _flattened(html)
    return html


def _is_crowded(html: bytes) -> bool:
    return any(tag["more"] for tag in _CROWDED_TAG.finditer(html))


def _steps(html: bytes) -> int:
    """How many steps up the tree the parser takes, about."""
    steps = depth = 0
    opened: dict[bytes, int] = {}
    for _, slash, written in _TAG_NAME.findall(html):
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
    if tag["raw"]:
        return b"<%b%b%b" % (tag["raw"], tag["kept"], tag["text"])
    name = tag["name"]
    if name and tag["end"] and name.removeprefix(b"/").lower() in _FLAT:
        return b"<%b%b>" % (name, tag["attributes"])
    return b" "
