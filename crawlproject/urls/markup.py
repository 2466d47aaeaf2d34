"""Find tags exactly as the HTML standard's tokenizer does. *Pure.*

Every scan is linear: the start of a tag, a comment or a quoted value always matches and, if nothing
ends it, runs to the end of the page. So no scan fails and starts again at a later byte.

In a few places the tokenizer depends on the tree: ``<title>`` contains elements inside ``<svg>``
and only text elsewhere. ``unambiguous`` rewrites such pages so that the parser sees the same tags
as this module, whatever the context.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Per element. The parser compares each attribute with those before it.
MAX_ATTRIBUTES = 500

# HTML's white space. ('\s' also matches the vertical tab, which HTML treats as part of a name.)
_SPACE = rb"[\t\n\f\r ]"
_NAME = rb"[a-zA-Z][^\t\n\f\r />]*+"
_GAP = rb"[\t\n\f\r /]*+"
# A quote that is never closed runs to the end of the page.
_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^\t\n\f\r >]*+)"""
_ATTRIBUTE = (
    rb"""(?: [a-zA-Z-]++="[^"]*+"|%b[^\t\n\f\r />][^\t\n\f\r />=]*+(?:%b*+=%b*+%b)?+)"""
    % (
        *(_GAP, _SPACE, _SPACE),
        _VALUE,
    )
)
# Comments, and markup that is treated as a comment, without the leading '<'.
_COMMENT = rb"!--(?:-?>|.*?(?:--!?>|\Z))"
_BOGUS_COMMENT = rb"[!?/][^>]*+>?+"


def any_case(name: str) -> bytes:
    """A pattern for a name in any case. It matches several times as fast as re.IGNORECASE."""
    return "".join(f"[{letter}{letter.upper()}]" for letter in name).encode()


# Elements whose content is text, whatever it looks like.
RAW_NAMES = (
    *("script", "style", "title", "textarea"),
    *("xmp", "iframe", "noembed", "noframes", "plaintext"),
)
_RAW_NAME = rb"(?=[stxinpSTXINP])(?:%b)(?=[\t\n\f\r />])" % b"|".join(map(any_case, RAW_NAMES))
_RAW_TAG = re.compile(rb"<(%b)((?:%b)*+)(%b)>?+" % (_RAW_NAME, _ATTRIBUTE, _GAP))
_RAW_ENDS = {
    name.encode(): re.compile(rb"</%b(?=[\t\n\f\r />])" % any_case(name))
    for name in RAW_NAMES
    if name != "plaintext"
}

# Inside and after these, raw text elements may contain elements, and CDATA may be a comment.
_AMBIGUOUS = re.compile(
    b"<(?:%b)" % b"|".join(map(any_case, ("svg", "math", "select", "template", "frameset")))
)
_CDATA = b"<![CDATA["
# What hides scripts from very old browsers.
_WRAPPER = re.compile(rb"([\s/*]*+)<!(?:--|\[CDATA\[)")


def _run(most_attributes: bytes) -> re.Pattern[bytes]:
    # Plain end tags come first, for speed. The last repeat is not possessive: CPython before 3.11.5
    # would continue behind a partial match.
    return re.compile(
        rb"[^<]*+(?:<(?:/[a-zA-Z0-9]++>|(?!%b)/?%b(?:>|(?:%b)%b+%b(?:>|\Z))|%b|%b|(?![a-zA-Z!?/]))"
        rb"[^<]*+){0,1000}"
        % (_RAW_NAME, _NAME, _ATTRIBUTE, most_attributes, _GAP, _COMMENT, _BOGUS_COMMENT),
        re.DOTALL,
    )


# Text, tags and comments up to the next raw text element …
_RUN = _run(b"*")
# … or tag with too many attributes.
_UNCROWDED_RUN = _run(b"{0,%d}" % MAX_ATTRIBUTES)

# Groups: the name with the slash of an end tag, the attributes, the rest up to '>'. A comment has
# no name.
TAG = re.compile(
    rb"<(?:(/?%b)((?:%b)*+)(%b)>?+|%b|%b)" % (_NAME, _ATTRIBUTE, _GAP, _COMMENT, _BOGUS_COMMENT),
    re.DOTALL,
)
# An attribute; the group is its name. White space before it is not part of the match, or a search
# would start again at each byte of it.
ATTRIBUTE = re.compile(
    rb"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:%b*+=%b*+%b)?+" % (_SPACE, _SPACE, _VALUE)
)


class Raw(NamedTuple):
    """A raw text element: its start tag, and where its text begins and ends."""

    # Lower case.
    name: bytes
    attributes: bytes
    is_self_closing: bool
    start: int
    text_start: int
    # None: no end tag follows.
    text_end: int | None


class _Reader:
    """Finds the raw text elements of a page, one after the other."""

    def __init__(self, html: bytes) -> None:
        self._html = html
        self._unclosed: set[bytes] = set()
        self._run = _UNCROWDED_RUN
        self.is_crowded = False

    def next(self, place: int) -> Raw | None:
        """The first one at or after ``place``, which is not inside a tag."""
        html = self._html
        while place < len(html):
            found = self._run.match(html, place)
            assert found is not None  # it also matches the empty string
            tag = _RAW_TAG.match(html, found.end())
            if tag is not None:
                return self._raw(tag)
            if found.end() == place:
                self.is_crowded = True
                self._run = _RUN
            place = found.end()
        return None

    def _raw(self, tag: re.Match[bytes]) -> Raw:
        name, attributes, gap = tag[1].lower(), tag[2], tag[3]
        if len(attributes) > MAX_ATTRIBUTES and not self.is_crowded:
            self.is_crowded = len(ATTRIBUTE.findall(attributes)) > MAX_ATTRIBUTES
        end: re.Match[bytes] | None = None
        if name in _RAW_ENDS and name not in self._unclosed:
            end = _RAW_ENDS[name].search(self._html, tag.end())
            if end is None:
                # There is none for later elements either, so search only once.
                self._unclosed.add(name)
        text_end = end.start() if end else None
        return Raw(name, attributes, gap.endswith(b"/"), tag.start(), tag.end(), text_end)


class Markup(NamedTuple):
    """A page whose tags are the same in every context."""

    html: bytes
    # Its raw text elements, in page order.
    raws: list[Raw]
    # A tag has more than MAX_ATTRIBUTES.
    is_crowded: bool


def unambiguous(html: bytes) -> Markup:
    """Rewrite what is ambiguous. Most pages are returned as they are."""
    is_ambiguous = _AMBIGUOUS.search(html) is not None
    if is_ambiguous and _CDATA in html:
        html = html.replace(_CDATA, b" ")
    reader = _Reader(html)
    raws: list[Raw] = []
    pieces: list[bytes] = []
    place = copied = 0
    while (raw := reader.next(place)) is not None:
        if is_ambiguous and (raw.is_self_closing or raw.text_end is None):
            # The rest of the page may or may not be its text: drop the tag.
            pieces.append(html[copied : raw.start])
            place = copied = raw.text_start
            continue
        raws.append(raw)
        if raw.text_end is None:
            break
        text = html[raw.text_start : raw.text_end]
        is_script = raw.name == b"script"
        if is_script and b"<!--" in text and b"<script" in text.lower():
            # The tokenizer skips the end tag of a script inside a comment.
            is_ambiguous = True
        if b"<" in text and is_ambiguous:
            escaped = _escaped_script(text) if is_script else text.replace(b"<", b"&lt;")
            pieces += (html[copied : raw.text_start], escaped)
            copied = raw.text_end
        place = raw.text_end
    if pieces:
        html = b"".join((*pieces, html[copied:]))
        raws = _raw_elements(html)
    return Markup(html, raws, reader.is_crowded)


def _escaped_script(text: bytes) -> bytes:
    """Without '<'. In strings, in those of JSON too, it means the same."""
    if wrapper := _WRAPPER.match(text):
        text = wrapper[1] + text[wrapper.end() :]
    return text.replace(b"<", rb"\u003c")


def _raw_elements(html: bytes) -> list[Raw]:
    reader, place = _Reader(html), 0
    raws: list[Raw] = []
    while (raw := reader.next(place)) is not None:
        raws.append(raw)
        if raw.text_end is None:
            break
        place = raw.text_end
    return raws


def segments(markup: Markup) -> Iterator[tuple[int, int, Raw | None]]:
    """The start and end of each stretch of tags and text, and the raw text element after it."""
    place = 0
    for raw in markup.raws:
        yield place, raw.start, raw
        if raw.text_end is None:
            return
        place = raw.text_end
    yield place, len(markup.html), None
