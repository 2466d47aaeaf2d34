"""Where a component may write, and text that is safe to write there.

All that is written to standard output and standard error goes through here, or is drawn with
rich from text that ``visible`` has cleaned: ``tell`` for lines, ``standard_output`` for data.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from typing import IO, TYPE_CHECKING, Any, TextIO, cast
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import ReadableBuffer

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


def tell(line: str, stream: TextIO | None = None) -> None:
    """Write a line to the user, on standard error if no other stream is given."""
    print(visible(line, keep="\n"), file=stream or sys.stderr, flush=True)


def standard_output(*, is_json: bool = False) -> IO[bytes]:
    """Standard output, for data in UTF-8: on a terminal ``escaped``, else byte by byte. JSON is
    escaped everywhere, since it stays the same.
    """
    encoding = (sys.stdout.encoding if is_terminal(sys.stdout) else None) or "utf-8"
    if not is_json and not is_terminal(sys.stdout):
        return sys.stdout.buffer
    return cast("IO[bytes]", _Escaped(sys.stdout.buffer, encoding))


class _Escaped(io.RawIOBase):
    """A terminal that gets text only. Closing it leaves the terminal as it is."""

    def __init__(self, terminal: IO[bytes], encoding: str) -> None:
        self._terminal = terminal
        self._encoding = encoding
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._newlines = io.IncrementalNewlineDecoder(None, translate=True)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        size = len(memoryview(data))
        text = self._newlines.decode(self._decode(bytes(data)))
        self._terminal.write(escaped(text).encode(self._encoding, _ESCAPE))
        return size

    def flush(self) -> None:
        self._terminal.flush()


def escaped(text: str) -> str:
    """Text with all that could act on a terminal as JSON escapes it: ``\\u009b``. JSON stays the
    same for who parses it. Line ends and tabs stay.
    """
    return "\n".join(map(_escaped_line, text.split("\n")))


def _escaped_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(char if char == "\t" or _may_be_shown(char) else _escape(char) for char in line)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _escape_unknown(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_escape, error.object[error.start : error.end])), error.end


# For characters that the encoding of a terminal lacks.
_ESCAPE = "crawlproject.escape"
codecs.register_error(_ESCAPE, _escape_unknown)


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
