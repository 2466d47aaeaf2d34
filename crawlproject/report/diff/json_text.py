"""JSON of any size and layout, value by value, in bounded memory.

Our own documents have a page a line, which is read at once. Others may be indented, or one long
line: what is there is taken as far as it goes, and more is read until a value is whole.
"""

from __future__ import annotations

import codecs
import json
import re
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1024 * 1024
_AHEAD = 64 * 1024
# Characters of a value: pages are much shorter.
LONGEST = 64 * 1024 * 1024
# What may be cut off at the end and look wrong, or whole: -Infinity, 1e5, \ud83d\ude00.
_LONGEST_WORD = 16
_BLANK = re.compile(r"[ \t\n\r]*").match
_decode = json.JSONDecoder().raw_decode


class BadJson(ValueError):
    """What is wrong, in words, and in which line."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


class JsonText:
    """A place in a JSON text, which moves on with each value that is read. Raises BadJson.

    ``ahead`` is how many characters are read before a value is looked at: most are not longer.
    """

    def __init__(self, file: IO[bytes], *, ahead: int = _AHEAD) -> None:
        self._file = file
        self._ahead = ahead
        self._to_text = codecs.getincrementaldecoder("utf-8-sig")().decode
        # A part of it, the number of its first line, the place, and where the last value began.
        self._text = ""
        self._first_line = 1
        self._at = self._begin = 0
        self._has_text = self._is_over = False

    @property
    def line(self) -> int:
        """In which the last value began."""
        return self._line_at(self._begin)

    def peek(self) -> str:
        """The next character that says something; an empty one at the end."""
        while True:
            blank = _BLANK(self._text, self._at)
            assert blank is not None
            self._at = blank.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def value(self) -> Any:
        self.peek()
        if len(self._text) - self._at < self._ahead:
            self._read()
        self._begin = self._at
        end = self._text.find("\n", self._at, self._at + self._ahead)
        line = self._text[self._at : end + 1]
        line = line.removesuffix("\n").removesuffix(",")
        if line.endswith("}"):
            # It fails where values share a line, and at what only the other reader takes.
            with suppress(orjson.JSONDecodeError):
                value = orjson.loads(line)
                self._at += len(line)
                return value
        return self._any_value()

    def elements(self) -> Iterator[Any]:
        """The values of the list that is here."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield self.value()
            if self._take(",]") == "]":
                return

    def names(self) -> Iterator[str]:
        """The names in the object that is here; who gets one reads its value."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._unexpected("a name in quotes")
            name = self.value()
            self._take(":")
            yield name
            if self._take(",}") == "}":
                return

    def skip(self) -> None:
        """Read a value that nobody needs, and that may be a long list."""
        if self.peek() == "[":
            for _ in self.elements():
                pass
        else:
            self.value()

    def _any_value(self) -> Any:
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._is_cut(error):
                    raise BadJson(_words(error), self._line_at(error.pos)) from None
                if self._read():
                    continue
                if error.pos < len(self._text.rstrip()) and not _is_open(error):
                    raise BadJson(_words(error), self._line_at(error.pos)) from None
                raise self._ended() from None
            except RecursionError:
                raise BadJson("it is nested too deeply", self.line) from None
            except ValueError as error:  # a number with thousands of digits
                raise BadJson(str(error), self.line) from None
            # A number may go on.
            if len(self._text) - end > _LONGEST_WORD or not self._read():
                self._at = end
                return value

    def _take(self, allowed: str) -> str:
        found = self.peek()
        if not found or found not in allowed:
            raise self._unexpected(" or ".join(allowed))
        self._at += 1
        return found

    def _read(self) -> bool:
        """Read on; whether there was more."""
        if self._is_over:
            return False
        rest = len(self._text) - self._at
        if rest > LONGEST:
            raise BadJson(f"a page of more than {LONGEST // 1024**2} MB", self._line_at(self._at))
        read = self._file.read(max(_CHUNK, rest))
        try:
            more = self._to_text(read, final=not read)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].count(b"\n")
            line = self._line_at(len(self._text)) + before
            raise BadJson("it is no text in UTF-8", line) from None
        if not read:
            self._is_over = True
            return False
        self._has_text = True
        self._first_line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + more
        self._at = self._begin = 0
        return True

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether it may be right, if there were more of it."""
        return error.pos > len(self._text) - _LONGEST_WORD or _is_open(error)

    def _unexpected(self, right: str) -> BadJson:
        found = self.peek()
        if not found:
            return self._ended()
        return BadJson(f"{found!r} in place of {right}", self._line_at(self._at))

    def _ended(self) -> BadJson:
        said = "it ends in the middle" if self._has_text else "it is empty"
        return BadJson(said, self._line_at(len(self._text)))

    def _line_at(self, place: int) -> int:
        return self._first_line + self._text.count("\n", 0, place)


def _is_open(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated string")


def _words(error: json.JSONDecodeError) -> str:
    return error.msg[0].lower() + error.msg[1:]
