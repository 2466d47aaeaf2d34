"""Where a component may write, and text that is safe to write there.

All that is written to standard output and standard error goes through here, or is drawn with
rich from text that ``printable.py`` has cleaned: ``tell`` for lines, ``standard_output`` for data.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from crawlproject.printable import escape, escaped, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import ReadableBuffer


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


def abandon_standard_output() -> None:
    """For when nobody reads it any more: what is still buffered has nowhere to go, and would fail
    again at the end of the process.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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

    def close(self) -> None:
        try:
            super().close()
        except BrokenPipeError:
            abandon_standard_output()
            raise


def _escape_unknown(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(escape, error.object[error.start : error.end])), error.end


# For characters that the encoding of a terminal lacks.
_ESCAPE = "crawlproject.escape"
codecs.register_error(_ESCAPE, _escape_unknown)
