"""Table cells that are safe to open in a spreadsheet. *Pure.*

A spreadsheet runs a cell that begins like a formula, and page titles are written by
strangers. Such a cell gets a single quote in front, which spreadsheets take for "this is
text". Control characters go, line breaks and tabs become spaces, so a row is a line.
"""

from __future__ import annotations

import re
from typing import Any

from crawlproject.records import encodable

Cell = str | int | float

# Spreadsheets skip white space, and some of them invisible characters, before they look;
# the wide forms of the signs count in East Asian versions.
_FORMULA = re.compile(r"[\s\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r]")
_NUMBER = re.compile(r"[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?", re.ASCII)
_BREAK = re.compile(r"\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def cell(value: Any) -> Cell | None:
    """A plain value as a cell; None where a cell cannot hold it (nested data)."""
    if isinstance(value, str):
        return text_cell(value)
    if isinstance(value, list):
        if any(isinstance(element, list | dict) for element in value):
            return None
        return text_cell(" ".join(str(_unguarded(element)) for element in value))
    return None if isinstance(value, dict) else _unguarded(value)


def text_cell(text: str) -> str:
    """The text on one line, and not a formula; a number stays one."""
    clean = text if text.isprintable() else _CONTROL.sub("", _BREAK.sub(" ", encodable(text)))
    if (_FORMULA.match(text) or _FORMULA.match(clean)) and not _NUMBER.fullmatch(text):
        return "'" + clean
    return clean


def _unguarded(value: Any) -> Cell:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, int | float) else str(value)
