"""Typed columns: which kind of value a field has, and a value as its column has it. *Pure.*"""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from crawlproject.items import Page
from crawlproject.records import PAGE_FIELDS, encodable, json_encoder

_to_json = json_encoder("utf-8")


class Kind(Enum):
    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXTS = "list of text"
    TIME = "time"
    JSON = "JSON"


_BY_ANNOTATION = {
    "str": Kind.TEXT,
    "int": Kind.WHOLE,
    "float": Kind.NUMBER,
    "bool": Kind.BOOLEAN,
    "list[str]": Kind.TEXTS,
}
KINDS: dict[str, Kind] = {
    field.name: _BY_ANNOTATION.get(str(field.type).removesuffix(" | None"), Kind.JSON)
    for field in fields(Page)
    if field.name in PAGE_FIELDS
} | {"fetched_at": Kind.TIME}


def value_of(kind: Kind, value: Any) -> Any:
    """A value as its column has it; null where a pipeline has made something else of it."""
    if value is None:
        return None
    if kind is Kind.TEXT:
        return encodable(value) if isinstance(value, str) else _to_json(value).decode()
    if kind is Kind.TEXTS:
        return [encodable(str(one)) for one in value] if isinstance(value, list) else None
    if kind is Kind.JSON:
        return _to_json(value).decode()
    if kind is Kind.TIME:
        return _time(value)
    return value if kind_of(value) is kind else float(value) if _widens(kind, value) else None


def _widens(kind: Kind, value: Any) -> bool:
    return kind is Kind.NUMBER and kind_of(value) is Kind.WHOLE


def _time(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def kind_of(value: Any) -> Kind:
    if isinstance(value, str):
        return Kind.TEXT
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, int):
        return Kind.WHOLE if -(2**63) <= value < 2**63 else Kind.JSON
    if isinstance(value, float):
        return Kind.NUMBER
    is_texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return Kind.TEXTS if is_texts else Kind.JSON


def common(kinds: set[Kind]) -> Kind:
    if not kinds:
        return Kind.TEXT
    if kinds == {Kind.WHOLE, Kind.NUMBER}:
        return Kind.NUMBER
    return kinds.pop() if len(kinds) == 1 else Kind.JSON
