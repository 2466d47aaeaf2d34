"""Any item as a record: a dict of values that JSON can hold. *Pure.*

A team may put anything into an item. What JSON has no form for becomes the nearest thing
it has: a date its ISO form, a set a sorted list, bytes their text, NaN null, and anything
else its ``str()``. Serializers declared on an item's fields are obeyed.
"""

from __future__ import annotations

import codecs
import datetime
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from enum import Enum
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple

import orjson
from itemadapter import ItemAdapter, is_item

from crawlproject import page_adapter
from crawlproject.items import Page
from crawlproject.page_adapter import PageAdapter

page_adapter.register()

Record = dict[str, Any]

# The kind of our own pages, those of a subclass of Page too.
PAGE = "page"
# In a crawl directory, where the record of a page names its class, if that is a subclass of Page.
PAGE_CLASS = ":class"
# Left out where it is false, but for pages that should have been rendered: so a crawl directory
# tells them from the others, and the outputs don't.
RENDERED = "rendered"
PAGE_FIELDS = tuple(PageAdapter.get_field_names_from_class(Page))
PAGE_NAMES = frozenset(PAGE_FIELDS)
_ALL_NAMES = PAGE_NAMES | page_adapter.ASIDE
# What a page says when nothing is known: as far as others can't change it.
_UNKNOWN = {
    field.name: field.default
    for field in fields(Page)
    if field.name in PAGE_NAMES and field.default in (None, False)
}

_page_values = attrgetter(*PAGE_FIELDS)
_PLAIN_TYPES = frozenset({str, bool, NoneType})
_KEYS = frozenset({str})
# What may be empty, and costs nothing to ask.
_EMPTIABLE = _PLAIN_TYPES | {list, dict}
# Python writes no number of more than 4300 digits.
_LARGEST = 10**4000
# Deeper than any real data; ends self-containing values too.
_MAX_NESTING = 32


class Kept(NamedTuple):
    """An item as a crawl directory has it."""

    kind: str
    record: Record
    # Of a page, if it is another one than Page.
    page_class: str | None = None


def record_of(item: Any) -> Record:
    """The item's fields and values, in the item's own order."""
    if isinstance(item, Page):  # ten times the speed of the general way
        record = {
            name: value if type(value) in _PLAIN_TYPES else plain(value)
            for name, value in zip(PAGE_FIELDS, _page_values(item), strict=True)
        }
        for name, value in item.extra.items():
            # A field of the page can't be replaced by one of the same name.
            record.setdefault(_key(name), plain(value))
        return record if type(item) is Page else record | _added_by_class(item)
    if type(item) is Kept:
        return item.record
    if not is_item(item):
        return {"value": plain(item)}
    return _record_of_any(item, 0)


def known_of(page: Page, *, is_scripted: bool = False) -> Record:
    """As ``record_of``, without what is not known or empty: two thirds of the fields.

    The links are there in any case. Numbers are known, also that something took no time; and that
    a page was not rendered, if it looks empty without scripts (``is_scripted``).
    """
    record = {
        name: value if type(value) in _PLAIN_TYPES else plain(value)
        for name, value in zip(PAGE_FIELDS, _page_values(page), strict=True)
        if type(value) not in _EMPTIABLE or value
    }
    if "links" not in record:
        record["links"] = plain(page.links)
    if is_scripted and not page.rendered:
        record[RENDERED] = False
    for name, value in page.extra.items():
        if (key := _key(name)) not in PAGE_NAMES:
            record.setdefault(key, plain(value))
    return record if type(page) is Page else record | _added_by_class(page)


def with_class(item: Any, record: Record) -> Record:
    """The record of an item for a crawl directory: that of a page names its class."""
    if isinstance(item, Page) and type(item) is not Page:
        record[PAGE_CLASS] = class_name(type(item))
    return record


def kept_of(item: Any) -> Kept:
    """An item as a crawl directory is going to have it."""
    record = with_class(item, record_of(item))
    return Kept(kind_of(item), record, record.pop(PAGE_CLASS, None))


def _added_by_class(page: Page) -> Record:
    """The fields that a subclass of Page has, but Page has not."""
    return {
        one.name: plain(one.metadata.get("serializer", _same)(getattr(page, one.name)))
        for one in fields(page)
        if one.name not in _ALL_NAMES
    }


def _same(value: Any) -> Any:
    return value


def kind_of(item: Any) -> str:
    """A name for the kind of item, by which it can be told apart later."""
    if isinstance(item, Page):
        return PAGE
    return item.kind if type(item) is Kept else class_name(type(item))


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def loaded_class(name: str) -> type | None:
    """The class with a name that ``class_name`` has given. None is imported for it: names come
    from crawl directories and from Redis, which may be anybody's.
    """
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        if found is None:
            continue
        for part in parts[count:]:
            # Not getattr: a module may import what it is asked for.
            found = getattr(found, "__dict__", {}).get(part)
        return found if isinstance(found, type) else None
    return None


def item_from(
    cls: type, values: Record, form: Callable[[Any], Any] = lambda value: value
) -> Any | None:
    """An item of a class whose fields have these values, in this form. None: it can't be made."""
    with suppress(Exception):
        item = cls(**values)
        if has_values(item, values, form):
            return item
    # Its fields may not be arguments, or not all; or its ``__init__`` has changed them once before.
    with suppress(Exception):
        item = object.__new__(cls)
        ItemAdapter(item).update(values)
        if has_values(item, values, form):
            return item
    return None


def has_values(item: Any, values: Record, form: Callable[[Any], Any]) -> bool:
    adapter = ItemAdapter(item)
    return all(form(adapter[name]) == value for name, value in values.items())


def page_from(record: Record, page_class: type[Page] = Page) -> Page:
    """The page that a record was made of."""
    names = frozenset(PageAdapter.get_field_names_from_class(page_class))
    values = {name: value for name, value in record.items() if name in names}
    extra = {name: value for name, value in record.items() if name not in names}
    return page_class(**values, extra=extra)


def whole(record: Record) -> Record:
    """The record of a page with all of its fields, in the order of ``record_of``."""
    page = Page(**{"url": ""} | {name: record[name] for name in PAGE_FIELDS if name in record})
    return dict(zip(PAGE_FIELDS, _page_values(page), strict=True)) | record


def completed(record: Record) -> Record:
    """A page's record with what was left out, because it was not known."""
    return _UNKNOWN | record


def page_url(kind: str, record: Record) -> str | None:
    """The URL of an item that is a page. None: it is none, whatever fields it has."""
    url = record.get("url") if kind == PAGE else None
    return url if isinstance(url, str) and url else None


def _record_of_any(item: Any, nesting: int) -> Record:
    adapter = ItemAdapter(item)
    record = {}
    for name, value in adapter.items():
        serializer = adapter.get_field_meta(name).get("serializer")
        record[_key(name)] = plain(serializer(value) if serializer else value, nesting + 1)
    return record


def plain(value: Any, nesting: int = 0) -> Any:
    """The value, or the nearest one that JSON can hold."""
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return value
    if kind is int:
        return value if -_LARGEST < value < _LARGEST else text_of(value)
    if kind is list and nesting <= _MAX_NESTING:
        # A copy: the callback that made it is still at work, and may go on with it.
        if _PLAIN_TYPES.issuperset(map(type, value)):
            return value.copy()
        return [plain(inner, nesting + 1) for inner in value]
    if kind is dict and _KEYS.issuperset(map(type, value)):
        if not value:
            return {}
        if nesting <= _MAX_NESTING:
            return {
                key: inner if type(inner) in _PLAIN_TYPES else plain(inner, nesting + 1)
                for key, inner in value.items()
            }
    if nesting > _MAX_NESTING:
        return text_of(value)
    if isinstance(value, Enum):
        return plain(value.value, nesting + 1)
    if isinstance(value, Mapping):
        return {_key(key): plain(inner, nesting + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, nesting + 1) for inner in value]
    if isinstance(value, set | frozenset):
        # Sorted by text: a set's own order differs from run to run.
        return sorted((plain(inner, nesting + 1) for inner in value), key=str)
    return _plain_scalar(value, nesting)


def _plain_scalar(value: Any, nesting: int) -> Any:
    if isinstance(value, str):  # a subclass: the plain text of it
        return str.__str__(value)
    if isinstance(value, int):
        return plain(int(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if is_item(value):
        return record_of(value) if isinstance(value, Page) else _record_of_any(value, nesting)
    return text_of(value)


def _key(key: Any) -> str:
    return key if type(key) is str else str(plain(key))


def text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a foreign __str__ may raise anything; the type is all that is left
        return f"<{type(value).__name__}>"


def chosen_fields(fields_to_export: Mapping[str, str] | Iterable[str] | None) -> Record | None:
    """Scrapy's ``fields`` option as {field: name in the output}, in its order. None: all."""
    if not fields_to_export:
        return None
    if isinstance(fields_to_export, Mapping):
        return dict(fields_to_export)
    return {name: name for name in fields_to_export}


def encodable(text: str) -> str:
    """The text without lone surrogates, which no encoding can write: U+FFFD instead."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def json_encoder(encoding: str | None, indent: int | None = None) -> Callable[[Any], bytes]:
    """How to write plain values as JSON: in UTF-8, or for another encoding in ASCII."""
    is_utf8 = encoding is None or codecs.lookup(encoding).name.startswith("utf-8")
    # Plain values hold no cycles, so the check is spared.
    encode = json.JSONEncoder(
        ensure_ascii=not is_utf8,
        check_circular=False,
        indent=indent or None,
        separators=None if indent else (",", ":"),
    ).encode

    def to_bytes(value: Any) -> bytes:
        text = encode(value)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return encodable(text).encode()

    def to_bytes_fast(value: Any) -> bytes:
        try:
            return orjson.dumps(value)
        except orjson.JSONEncodeError:
            # A lone surrogate, or a number beyond 64 bits.
            return to_bytes(value)

    return to_bytes_fast if is_utf8 and not indent else to_bytes


# All characters escaped: a lone surrogate, which SQLite refuses, is text like any other.
_escaped = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
# In front of what the quick reader would not give back as it was.
_ODD = " "


def to_text(value: Any) -> str:
    """Plain values as JSON for the database. ``from_text`` gives them back as they were."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return _ODD + _escaped(value)


def from_text(text: str) -> Any:
    """Raises ValueError for what is no JSON."""
    return json.loads(text) if text.startswith(_ODD) else orjson.loads(text)
