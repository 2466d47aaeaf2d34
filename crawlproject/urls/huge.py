"""Pages that would fill the memory, cut where they have become too much. *Pure.*

A tree takes eighty times the memory of the densest HTML, so a body that is within
DOWNLOAD_MAXSIZE may fill gigabytes; compressed, it is sent in no time. What counts is the
number of nodes, not of bytes: the longest real documents have a few hundred thousand.
"""

from __future__ import annotations

import re
from itertools import islice

from crawlproject.urls.markup import ATTRIBUTE, MAX_ATTRIBUTES, TAG, segments, unambiguous

# Up to this size, the densest page is bearable.
_LARGE = 4 * 1024 * 1024
# Beyond this size, emoji and rare letters are not kept.
_VERY_LARGE = 16 * 1024 * 1024
_BEYOND_16_BITS = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}")
# Elements, their attributes, comments and pieces of text.
_MAX_NODES = 1_000_000
_MARKUP = re.compile(TAG.pattern + rb"|<", TAG.flags)


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
    markup = unambiguous(html)
    nodes = 0
    for start, end, raw in segments(markup):
        for tag in _MARKUP.finditer(markup.html, start, end):
            nodes += _nodes(tag[2])
            if nodes > _MAX_NODES:
                return markup.html[: tag.start()], True
        nodes += _nodes(raw.attributes if raw else b"")
    return html, False


def _nodes(attributes: bytes | None) -> int:
    """The nodes of an element: itself, its attributes, the text after it."""
    found = ATTRIBUTE.finditer(attributes) if attributes else ()
    return 2 + sum(1 for _ in islice(found, MAX_ATTRIBUTES))
