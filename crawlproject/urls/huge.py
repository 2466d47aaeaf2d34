"""Pages that would fill the memory, cut where they have become too much. *Pure.*

A tree takes eighty times the memory of the densest HTML, so a body that is within
DOWNLOAD_MAXSIZE may fill gigabytes; compressed, it is sent in no time. What counts is the
number of nodes, not of bytes: the longest real documents have a few hundred thousand.
"""

from __future__ import annotations

import re
from itertools import islice

# Up to this size, the densest page is bearable.
_LARGE = 4 * 1024 * 1024
# Beyond this size, emoji and rare letters are not kept.
_VERY_LARGE = 16 * 1024 * 1024
_BEYOND_16_BITS = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")
# Elements, their attributes, comments and pieces of text.
_MAX_NODES = 1_000_000
# … of one element. Of more than these, few are read (``tame.py``).
_MAX_ATTRIBUTES = 500

# No quantifier can give anything back: one pass, whatever the page is.
_ATTRIBUTE = re.compile(rb"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+""")
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<(?P<raw>script|style|textarea|title|xmp|iframe)(?=[\s/>]).*?(?=</(?P=raw)[\s/>]|\Z)"
    rb"|<[a-z][^\s/>]*+(?P<attributes>(?:[\s/]*+%b)*+)"
    rb"|<" % _ATTRIBUTE.pattern,
    re.IGNORECASE | re.DOTALL,
)


def readable_part(html: bytes) -> tuple[bytes, bool]:
    """The page itself, or the beginning of it; whether it was cut."""
    if len(html) <= _LARGE:
        return html, False
    # Each would become a character of three bytes, in every copy. Browsers leave them out.
    html = html.replace(b"\0", b"")
    if len(html) > _VERY_LARGE:
        # One of them makes every character of a text take four bytes, in every copy.
        html = _BEYOND_16_BITS.sub("\ufffd".encode(), html)
    if 2 * html.count(b"<") + html.count(b"=") + html.count(b" ") <= _MAX_NODES:
        return html, False
    nodes = 0
    for markup in _MARKUP.finditer(html):
        # With the text that follows.
        nodes += 2
        if attributes := markup["attributes"]:
            nodes += sum(1 for _ in islice(_ATTRIBUTE.finditer(attributes), _MAX_ATTRIBUTES))
        if nodes > _MAX_NODES:
            return html[: markup.start()], True
    return html, False
