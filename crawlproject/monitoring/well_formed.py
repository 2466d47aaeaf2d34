"""Values of JSON that somebody else has written: as they should be, or ValueError. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_LARGEST = 2**63 - 1


def number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise ValueError("no count")
    return value


def text(most: int) -> Callable[[Any], str]:
    """The first characters of it."""

    def read(value: Any) -> str:
        if type(value) is not str:
            raise ValueError("no text")
        return value[:most]

    return read


def maybe(read: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else read(value)


def counts(most: int, chars: int) -> Callable[[Any], dict[str, int]]:
    """Counts by word: so many words at most, of so many characters."""

    def read(value: Any) -> dict[str, int]:
        if type(value) is not dict or len(value) > most:
            raise ValueError("no counts, or too many")
        return {word[:chars]: count(number) for word, number in value.items()}

    return read


def list_of(read: Callable[[Any], T], most: int) -> Callable[[Any], list[T]]:
    def read_all(value: Any) -> list[T]:
        if type(value) is not list or len(value) > most:
            raise ValueError("no list, or too long")
        return [read(one) for one in value]

    return read_all


def object_of(kind: type[T], members: Mapping[str, Callable[[Any], Any]]) -> Callable[[Any], T]:
    """What is missing has its default, and what is not known is left out."""

    def read(value: Any) -> T:
        if type(value) is not dict:
            raise ValueError("no object")
        given = {name: check(value[name]) for name, check in members.items() if name in value}
        try:
            return kind(**given)
        except TypeError:
            raise ValueError("a member that must be there is missing") from None

    return read
