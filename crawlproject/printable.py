"""Text that comes from a site, made safe to print: to a terminal, a log or an HTML page. *Pure.*"""

from __future__ import annotations

import re
from unicodedata import category

# In the place of what is not shown.
_MARK = "\ufffd"
# The zero-width non-joiner, and the joiner.
_JOINERS = "\u200c\u200d"
# Controls; embeddings, overrides and isolates of a direction; surrogates.
_NOT_IN_HTML = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# What is between two line ends or tabs.
_LINE_PART = re.compile(r"[^\n\t]+")


def visible(text: str, *, ascii_only: bool = False, keep: str = "") -> str:
    """Text that comes from a site, with all that could act on a terminal made visible.

    Escape sequences, line ends, characters that turn the direction of writing, lone
    surrogates: none of them is printable. Spaces of any width are let through, and the two that
    join letters or keep them apart: Persian, Indic scripts and emoji are not written without them.
    So are the characters of ``keep``.
    """
    if text.isprintable():
        return text
    mark = "?" if ascii_only else _MARK
    return "".join(char if char in keep or _may_be_shown(char) else mark for char in text)


def loggable(text: str) -> str:
    """The same for a log, whose lines and columns stay."""
    return text if text.isprintable() else _LINE_PART.sub(lambda part: visible(part[0]), text)


def harmless(text: str) -> str:
    """Text that comes from a site, for an HTML page: it shows what a site says as the site means
    it, but for control characters, lone surrogates, and what turns the direction of writing beyond
    its own text.
    """
    return text if text.isascii() and text.isprintable() else _NOT_IN_HTML.sub(_MARK, text)


def _may_be_shown(char: str) -> bool:
    return char.isprintable() or char in _JOINERS or category(char) == "Zs"


def escaped(text: str) -> str:
    """Text with all that could act on a terminal as JSON escapes it: ``\\u009b``. JSON stays the
    same for who parses it. Line ends and tabs stay.
    """
    return "\n".join(map(_escaped_line, text.split("\n")))


def _escaped_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(char if char == "\t" or _may_be_shown(char) else escape(char) for char in line)


def escape(char: str) -> str:
    """A character as JSON escapes it."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
