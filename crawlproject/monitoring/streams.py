"""Where a component may write, and text that is safe to write there."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Mapping

# In the place of what is not shown.
_MARK = "\ufffd"
# The zero-width non-joiner, and the joiner.
_JOINERS = "\u200c\u200d"
# Controls; embeddings, overrides and isolates of a direction; surrogates.
_NOT_IN_HTML = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# What is between two line ends or tabs.
_LINE_PART = re.compile(r"[^\n\t]+")


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether somebody looks at it. None and closed streams are what a daemon may have."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def is_stdout(uri: str) -> bool:
    """Whether a feed's URI means standard output."""
    return uri == "-" or uri.startswith("stdout:")


def writes_to_stdout(feeds: Mapping[Any, Any]) -> bool:
    return any(is_stdout(str(uri)) for uri in feeds)


def visible(text: str, *, ascii_only: bool = False) -> str:
    """Text that comes from a site, with all that could act on a terminal made visible.

    Escape sequences, line ends, characters that turn the direction of writing, lone
    surrogates: none of them is printable. Spaces of any width are let through, and the two that
    join letters or keep them apart: Persian, Indic scripts and emoji are not written without them.
    """
    if text.isprintable():
        return text
    mark = "?" if ascii_only else _MARK
    return "".join(char if _may_be_shown(char) else mark for char in text)


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
