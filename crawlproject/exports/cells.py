"""Table cells that are safe to open in a spreadsheet. *Pure.*

A spreadsheet runs a cell that begins like a formula, and page titles are written by
strangers. Such a cell gets a single quote in front, which spreadsheets take for "this is
text". Control characters go, line breaks and tabs become spaces, so a row is a line.

Where a spreadsheet splits rows depends on its locale: one that splits at semicolons takes
``x;=1+1`` for two cells, whatever the file's own delimiter and its quotes say. So whatever
begins like a formula behind one of those separators gets a single quote, too. Only the
file's own delimiter needs none: its cells are quoted, for all that split there.

``report/page/csv.js`` has the same rules, and ``tests/exports/cells.json`` cases for both.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from crawlproject.records import encodable, json_encoder

Cell = str | int | float

_to_json = json_encoder(None)

# By which spreadsheets split rows, besides tabs, which no cell has; one is an Arabic semicolon.
_SEPARATORS = ",;|\u061b"
# Spreadsheets skip white space, and some of them invisible characters, before they look.
_BLANK = (
    "\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f"
)
# The wide and small forms of the signs count in East Asian versions.
_SIGN = r"=+\-@＝＋－＠﹦﹢﹣﹫"
_FORMULA = re.compile(f"\\A(?:[{_BLANK}]*[{_SIGN}]|[\t\r])")
_NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)
_BREAK = re.compile(r"\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@cache
def _inner_formula(delimiter: str) -> re.Pattern[str]:
    """What is before a formula behind a separator. A quote there may be one of the reader's."""
    separators = re.escape("".join(one for one in _SEPARATORS if one != delimiter))
    return re.compile(f'([{separators}][{_BLANK}"]*+)(?=[{_SIGN}])')


def cell(value: Any, delimiter: str = ",", between: str = " ") -> Cell:
    """A plain value as a cell: a list with ``between`` between its values, nested data as JSON.

    ``delimiter`` is the file's, whose cells are quoted; an empty one if they are not.
    """
    if isinstance(value, str):
        return text_cell(value, delimiter)
    if not isinstance(value, list | dict):
        return _unguarded(value)
    if not value:
        return ""
    if isinstance(value, dict) or any(isinstance(element, list | dict) for element in value):
        return text_cell(_to_json(value).decode(), delimiter)
    return text_cell(between.join(str(_unguarded(element)) for element in value), delimiter)


def text_cell(text: str, delimiter: str = ",") -> str:
    """The text on one line, and no formula anywhere; a number stays one."""
    clean = text if text.isprintable() else _CONTROL.sub("", _BREAK.sub(" ", encodable(text)))
    clean = _inner_formula(delimiter).sub(r"\1'", clean)
    # To who splits elsewhere, a blank delimiter is no more than white space before the next cell.
    is_number = not delimiter.isspace() and _NUMBER.fullmatch(text)
    if (_FORMULA.match(text) or _FORMULA.match(clean)) and not is_number:
        return "'" + clean
    return clean


def _unguarded(value: Any) -> Cell:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, int | float) else str(value)
