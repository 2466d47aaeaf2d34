"""Where a component may write, and text that is safe to write there."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    surrogates: none of them is printable.
    """
    if text.isprintable():
        return text
    mark = "?" if ascii_only else "\ufffd"
    return "".join(char if char.isprintable() else mark for char in text)
