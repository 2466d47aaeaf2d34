"""A request of a spider's own as text, to be kept in the crawl directory.

JSON, not pickle: what is read from a file must not run. Only what has no form in JSON, such
as an object or a function in its meta, keeps a request in memory, for this run.
"""

from __future__ import annotations

import base64
import json
import sys
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from scrapy import Spider

_BYTES, _TUPLE = "__bytes__", "__tuple__"


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
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Request)):
        raise ValueError(f"{path} is no class of requests that the spider has imported")


def priority_of(request: str | Request) -> int:
    """The priority of a request, or of one that was written down. 0 for what is no number."""
    priority: Any = getattr(request, "priority", 0)
    if isinstance(request, str):
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            pairs = json.loads(request)["__dict__"]
            priority = next((value for name, value in pairs if name == "priority"), 0)
    return priority if isinstance(priority, int) else 0


def meta_of(text: str) -> dict[str, Any]:
    """The meta of a request that was written down, without making the request."""
    meta: dict[str, Any] = _read(json.loads(text))["meta"]
    return meta


def _written(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, dict):
        # A key that is no string would be one when it is read.
        return {"__dict__": [[_written(key), _written(inner)] for key, inner in value.items()]}
    if isinstance(value, tuple):
        return {_TUPLE: [_written(inner) for inner in value]}
    if isinstance(value, list):
        return [_written(inner) for inner in value]
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, str) and not isinstance(value, Enum):
        # The text of a link, as lxml has it: a string that holds the whole page.
        return str(value)
    raise TypeError(type(value).__name__)


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if _BYTES in value:
        return base64.b64decode(value[_BYTES])
    if _TUPLE in value:
        return tuple(_read(inner) for inner in value[_TUPLE])
    return {_read(key): _read(inner) for key, inner in value["__dict__"]}
