"""The tags of HTML, found as the HTML standard's tokenizer finds them. *Pure.*

Every scan is linear: what begins a tag, a comment or a quoted value always matches, and runs to the
end of the page if nothing ends it. No scan starts again at a later byte.

Where text ends depends on the tree in a few places: ``<title>`` in an ``<svg>`` has elements, in a
``<div>`` only text. ``unambiguous`` rewrites such pages, so that the parser sees the tags that are
found here, whatever it takes the context to be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Attributes of an element: for each further one, the parser compares it with those before.
MAX_ATTRIBUTES = 500

# HTML's white space. ('\s' includes the vertical tab, which HTML takes for a part of a name.)
_SPACE = rb"[\t\n\f\r ]"
_NAME = rb"[a-zA-Z][^\t\n\f\r />]*+"
_GAP = rb"[\t\n\f\r /]*+"
# A quote that is never closed runs to the end of the page.
_VALUE = rb"""(?:"[^"]*+"?+|'[^']*+'?+|[^\t\n\f\r >]*+)"""
_ATTRIBUTE = rb"""(?: [a-zA-Z-]++="[^"]*+"|%b[^\t\n\f\r />][^\t\n\f\r />=]*+(?:%b*+=%b*+%b)?+)""" % (
    *(_GAP, _SPACE, _SPACE),
    _VALUE,
)
# What follows '<' in a comment, and in what is taken for one.
_COMMENT = rb"!--(?:-?>|.*?(?:--!?>|\Z))"
_BOGUS_COMMENT = rb"[!?/][^>]*+>?+"


def any_case(name: str) -> bytes:
    """Spelled out, it is matched several times as fast as by a pattern that ignores case."""
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

# In and behind these, raw text may be none, and CDATA may be a comment.
_AMBIGUOUS = re.compile(
    b"<(?:%b)" % b"|".join(map(any_case, ("svg", "math", "select", "template", "frameset")))
)
_CDATA = b"<![CDATA["
# How '<' is written in scripts: in a string, as in JSON, it means the same.
_ESCAPED_IN_SCRIPT, _ESCAPED = rb"\u003c", b"&lt;"


def _run(most_attributes: bytes) -> re.Pattern[bytes]:
    # Usual end tags first. The last repeat is not possessive: CPython before 3.11.5 would go on
    # behind the part of a tag that it has matched.
    return re.compile(
        rb"[^<]*+(?:<(?:/[a-zA-Z0-9]++>|(?!%b)/?%b(?:>|(?:%b)%b+%b(?:>|\Z))|%b|%b|(?![a-zA-Z!?/]))"
        rb"[^<]*+){0,1000}"
        % (_RAW_NAME, _NAME, _ATTRIBUTE, most_attributes, _GAP, _COMMENT, _BOGUS_COMMENT),
        re.DOTALL,
    )


# Text, tags and comments, up to a tag that opens raw text …
_RUN = _run(b"*")
# … or that has too many attributes.
_UNCROWDED_RUN = _run(b"{0,%d}" % MAX_ATTRIBUTES)

# Its name, with the slash of an end tag, its attributes, and what is behind them. Without a name
# it is a comment.
TAG = re.compile(
    rb"<(?:(/?%b)((?:%b)*+)(%b)>?+|%b|%b)"
    % (_NAME, _ATTRIBUTE, _GAP, _COMMENT, _BOGUS_COMMENT),
    re.DOTALL,
)
# An attribute, and its name. What is before it is skipped: to match that, too, would begin again at
# each byte of it.
ATTRIBUTE = re.compile(
    rb"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:%b*+=%b*+%b)?+" % (_SPACE, _SPACE, _VALUE)
)


class Raw(NamedTuple):
    """An element that has raw text: its tag, and where its text begins and ends."""

    # In lower case.
    name: bytes
    attributes: bytes
    is_self_closing: bool
    start: int
    text_start: int
    # None: no end tag follows.
    text_end: int | None


class _Reader:
    """Finds the elements with raw text. Between them are other tags, and text."""

    def __init__(self, html: bytes) -> None:
        self._html = html
        self._unclosed: set[bytes] = set()
        self._run = _UNCROWDED_RUN
        self.is_crowded = False

    def next(self, place: int) -> Raw | None:
        """The first one from a place on, which is in no tag."""
        html = self._html
        while place < len(html):
            found = self._run.match(html, place)
            assert found is not None  # it can match nothing
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
                # Nor will there be one for the next: it is searched for once.
                self._unclosed.add(name)
        text_end = end.start() if end else None
        return Raw(name, attributes, gap.endswith(b"/"), tag.start(), tag.end(), text_end)


class Markup(NamedTuple):
    """A page whose tags are the same in every context."""

    html: bytes
    # Its elements with raw text, in page order.
    raws: list[Raw]
    # One of its tags has more than MAX_ATTRIBUTES.
    is_crowded: bool


def unambiguous(html: bytes) -> Markup:
    """Most pages are unambiguous already, and are not copied."""
    is_ambiguous = _AMBIGUOUS.search(html) is not None
    if is_ambiguous and _CDATA in html:
        html = html.replace(_CDATA, b" ")
    reader = _Reader(html)
    raws: list[Raw] = []
    pieces: list[bytes] = []
    place = copied = 0
    while (raw := reader.next(place)) is not None:
        if is_ambiguous and (raw.is_self_closing or raw.text_end is None):
            # Either all that follows is its text, or nothing is.
            pieces.append(html[copied : raw.start])
            place = copied = raw.text_start
            continue
        raws.append(raw)
        if raw.text_end is None:
            break
        text = html[raw.text_start : raw.text_end]
        is_script = raw.name == b"script"
        if is_script and b"<!--" in text:
            # A comment in a script may hide the end tag, and who knows what follows then.
            is_ambiguous = True
        if b"<" in text and is_ambiguous:
            escaped = _ESCAPED_IN_SCRIPT if is_script else _ESCAPED
            pieces += (html[copied : raw.text_start], text.replace(b"<", escaped))
            copied = raw.text_end
        place = raw.text_end
    if pieces:
        html = b"".join((*pieces, html[copied:]))
        raws = _raw_elements(html)
    return Markup(html, raws, reader.is_crowded)


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
    """Where tags and text are, and the element with raw text behind them, up to the end."""
    place = 0
    for raw in markup.raws:
        yield place, raw.start, raw
        if raw.text_end is None:
            return
        place = raw.text_end
    yield place, len(markup.html), None
