"""JSON as pages have it in their scripts: with what authors and templates do to it. *Pure.*

Read as it is wherever it is JSON. Else once more without what can be taken away or mended
without a guess: comments and their HTML and CDATA kin, trailing commas and semicolons,
escapes that are none, spaces that are none, quotes written as entities. Line breaks within
strings never matter.
"""

from __future__ import annotations

import re
from html import unescape
from json import JSONDecoder
from typing import Any

# Arrays and objects in each other. Python's reader gives up at a depth that depends on who
# calls it, which is never less than several times this one.
MAX_LEVELS = 200

# Values one after the other, where there should be one.
_MAX_DOCUMENTS = 1_000

# NaN and Infinity are no values.
_decode = JSONDecoder(strict=False, parse_constant=lambda _: None).raw_decode
_SPACE = re.compile(r"[\s\ufeff]*+")
_BETWEEN = re.compile(r"[\s;,]*+")

# What begins and never ends, ends with the text: it would be looked for again and again.
_STRING = r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)'
_STRING_OR_NOTE = re.compile(
    rf"{_STRING}|/\*.*?(?:\*/|\Z)|//[^\r\n]*+|<!--|-->|<!\[CDATA\[|\]\]>"
    r"|[\xa0\ufeff\u200b\u2028\u2029]",
    re.DOTALL,
)
_STRING_OR_COMMA = re.compile(rf"{_STRING}|,(?=\s*+[\]}}])", re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4}|.?)', re.DOTALL)
_KNOWN_ESCAPES = frozenset('"\\/bfnrt')


def documents(text: str) -> tuple[list[Any], bool]:
    """The values that a text holds, which is one if it is JSON, and whether all was read."""
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    try:
        found, end = _decode(text, start)
        if _SPACE.fullmatch(text, end):
            return _of_fair_depth(text, [found])
    except ValueError:
        pass
    except RecursionError:
        return [], False
    return _read_mended(_mended(text))


def _read_mended(text: str) -> tuple[list[Any], bool]:
    found: list[Any] = []
    place = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    while place < len(text) and len(found) < _MAX_DOCUMENTS:
        try:
            value, place = _decode(text, place)
        except ValueError:
            # What stands before it has been understood.
            return _of_fair_depth(text, found)[0], False
        except RecursionError:
            return [], False
        found.append(value)
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]
    read, is_all = _of_fair_depth(text, found)
    return read, is_all and bool(read) and place >= len(text)


def _of_fair_depth(text: str, found: list[Any]) -> tuple[list[Any], bool]:
    if text.count("{") + text.count("[") > MAX_LEVELS and _levels(found) > MAX_LEVELS + 1:
        return [], False
    return found, True


def _levels(found: list[Any]) -> int:
    levels = 0
    level: list[Any] = [found]
    while level:
        levels += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return levels


def _mended(text: str) -> str:
    if '"' not in text and "&quot;" in text:
        text = unescape(text)
    text = _STRING_OR_NOTE.sub(_without_note, text)
    return _STRING_OR_COMMA.sub(lambda part: "" if part[0] == "," else part[0], text)


def _without_note(part: re.Match[str]) -> str:
    if not part[0].startswith('"'):
        return " "
    return _ESCAPE.sub(_known_escape, part[0]) if "\\" in part[0] else part[0]


def _known_escape(escape: re.Match[str]) -> str:
    # One that JSON does not know is the character itself, as in scripts.
    is_known = escape[1] in _KNOWN_ESCAPES or len(escape[1]) > 1
    return escape[0] if is_known else escape[1]
