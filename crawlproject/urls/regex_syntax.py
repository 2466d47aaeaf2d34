"""How a regular expression is written, as the parser of ``re`` has it. *Pure.*

The parser has no public name; it is used here and nowhere else. ``tests/urls/test_patterns.py``
fails when a version of Python has another one.
"""

from __future__ import annotations

import re
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_LOOKS = frozenset({_constants.ASSERT, _constants.ASSERT_NOT})
_BEGINS = frozenset({_constants.AT_BEGINNING, _constants.AT_BEGINNING_STRING})


def parse(pattern: re.Pattern[str]) -> Any:
    """The items of a regular expression."""
    return _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)


def repeat(item: Any) -> tuple[int, int, Sequence[Any]] | None:
    """How often an item repeats others, at least and at most; None: it does not."""
    operator, value = item
    return value if operator in _REPEATS else None


def alternatives(item: Any) -> list[Sequence[Any]]:
    """The sequences of items inside of an item that is no repeat: one of them matches."""
    operator, value = item
    if operator is _constants.BRANCH:
        return list(value[1])
    if operator is _constants.GROUPREF_EXISTS:
        return [items for items in value[1:] if items is not None]
    if operator is _constants.SUBPATTERN or operator in _LOOKS:
        return [value[-1]]
    return [value] if operator is _constants.ATOMIC_GROUP else []


def is_left_once(item: Any) -> bool:
    """Whether there is no way back into an item that has matched."""
    operator = item[0]
    is_possessive = operator in (_constants.ATOMIC_GROUP, _constants.POSSESSIVE_REPEAT)
    return is_possessive or operator in _LOOKS


def is_begin(items: Sequence[Any]) -> bool:
    """Whether they match at the beginning of a text only."""
    return bool(items) and items[0][0] is _constants.AT and items[0][1] in _BEGINS
