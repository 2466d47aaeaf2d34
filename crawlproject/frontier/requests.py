"""A request of a spider's own as text, to be kept in the crawl directory.

JSON, not pickle: what is read from a file must not run. Values of the types in ``_FORMS``, items,
named tuples and members of enumerations have a form of their own. Their classes are found by name
among the loaded modules. A request with any other object in its meta or ``cb_kwargs`` has no text.
"""

from __future__ import annotations

import base64
import json
from collections import Counter, OrderedDict
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.utils.request import request_from_dict

from crawlproject.records import class_name, item_from, loaded_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

# A name, what JSON can hold of a value, and the value made of that.
_FORMS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    bytes: (
        "__bytes__",
        lambda value: base64.b64encode(value).decode("ascii"),
        base64.b64decode,
    ),
    tuple: ("__tuple__", list, tuple),
    set: ("__set__", list, set),
    frozenset: ("__frozenset__", list, frozenset),
    OrderedDict: ("__ordered__", lambda value: list(value.items()), OrderedDict),
    Counter: ("__counter__", dict, Counter),
    datetime: ("__datetime__", datetime.isoformat, datetime.fromisoformat),
    date: ("__date__", date.isoformat, date.fromisoformat),
    time: ("__time__", time.isoformat, time.fromisoformat),
    timedelta: (
        "__timedelta__",
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda numbers: timedelta(*numbers),
    ),
    Decimal: ("__decimal__", str, Decimal),
    UUID: ("__uuid__", str, UUID),
}
_VALUES = {name: value_of for name, _, value_of in _FORMS.values()}
_DICT, _ITEM, _ENUM, _NAMED = "__dict__", "__item__", "__enum__", "__named__"
_SCALARS = frozenset({str, int, float, bool, type(None)})
_IMMUTABLE = _SCALARS | _FORMS.keys() - {set, OrderedDict, Counter}
# Scrapy's own, in which nobody keeps anything.
_SCRAPYS_META = frozenset({"handle_httpstatus_list", "redirect_urls", "redirect_reasons"})


def to_text(request: Request, spider: Spider) -> str | None:
    """None if it can't be written down and read again as it was."""
    try:
        written = _written(request.to_dict(spider=spider))
        return json.dumps(written, check_circular=True)
    except (TypeError, ValueError, RecursionError):
        # ValueError: a callback that is no method of the spider.
        return None


def from_text(text: str, spider: Spider) -> Request:
    written = _read(json.loads(text))
    if "_class" in written:
        _check_class(written["_class"])
    return request_from_dict(written, spider=spider)


def _check_class(path: str) -> None:
    """Scrapy would import whatever is named: a module that anybody may have put there."""
    found = loaded_class(path)
    if found is None or not issubclass(found, Request):
        raise ValueError(f"{path} is no class of requests that the spider has imported")


def shares_objects(request: Request) -> bool:
    """Whether its meta or its ``cb_kwargs`` has an object that others may have too, and change."""
    values = [value for name, value in request.meta.items() if name not in _SCRAPYS_META]
    return any(map(_is_mutable, (*values, *request.cb_kwargs.values())))


def _is_mutable(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_is_mutable, value))
    # The text of a link, as lxml has it, is a str.
    return type(value) not in _IMMUTABLE and not isinstance(value, str | Enum)


def priority_of(request: str | Request) -> int:
    """The priority of a request, or of one that was written down. 0 for what is no number."""
    priority: Any = getattr(request, "priority", 0)
    if isinstance(request, str):
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            pairs = json.loads(request)[_DICT]
            priority = next((value for name, value in pairs if name == "priority"), 0)
    return priority if isinstance(priority, int) else 0


def meta_of(text: str) -> dict[str, Any]:
    """The meta of a request that was written down, without making the request."""
    meta: dict[str, Any] = _read(json.loads(text))["meta"]
    return meta


def _written(value: Any) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is list:
        return [_written(inner) for inner in value]
    if isinstance(value, Enum):
        _check_is_loaded(kind)
        return {_ENUM: [class_name(kind), value.name]}
    if kind in _FORMS:
        name, form_of, _ = _FORMS[kind]
        return {name: _written(form_of(value))}
    if kind is dict:
        # A key that is no string would be one when it is read.
        return {_DICT: [[_written(key), _written(inner)] for key, inner in value.items()]}
    if isinstance(value, tuple) and hasattr(kind, "_make"):
        _check_is_loaded(kind)
        return {_NAMED: [class_name(kind), [_written(inner) for inner in value]]}
    # A dict of another class may have more than its values: a ``default_factory``.
    if not isinstance(value, dict) and ItemAdapter.is_item(value):
        return {_ITEM: _written_item(value)}
    if isinstance(value, str):
        # The text of a link, as lxml has it: a string that holds the whole page.
        return str(value)
    raise TypeError(kind.__name__)


def _written_item(item: Any) -> list[Any]:
    kind = type(item)
    _check_is_loaded(kind)
    fields = dict(ItemAdapter(item))
    if item_from(kind, fields) is None:
        raise TypeError(f"{kind.__name__} can't be made of its fields")
    return [class_name(kind), _written(fields)]


def _check_is_loaded(kind: type) -> None:
    if loaded_class(class_name(kind)) is not kind:
        raise TypeError(f"{kind.__name__} can't be found by its name")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    ((name, form),) = value.items()
    if name == _DICT:
        return {_read(key): _read(inner) for key, inner in form}
    if name in _OF_CLASS:
        path, inner = form
        found = loaded_class(path)
        made = None if found is None else _OF_CLASS[name](found, _read(inner))
        if made is None:
            raise ValueError(f"{path} is no class that the spider has imported, or has changed")
        return made
    return _VALUES[name](_read(form))


def _item(cls: type, fields: Any) -> Any:
    return item_from(cls, fields) if ItemAdapter.is_item_class(cls) else None


def _member(cls: type, name: Any) -> Enum | None:
    return cls[name] if issubclass(cls, Enum) else None


def _named_tuple(cls: type, values: Any) -> Any:
    return tuple.__new__(cls, values) if issubclass(cls, tuple) else None


_OF_CLASS = {_ITEM: _item, _ENUM: _member, _NAMED: _named_tuple}
