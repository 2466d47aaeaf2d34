"""Items made again of what a crawl directory has of them, in the classes that they had.

A class is found by its name, among the modules that are loaded. None is imported for it: a crawl
directory may be anybody's. Where it is not loaded, or can't be made of what was kept, the record
stands for the item.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.utils import get_field_meta_from_class
from scrapy import Field, Item

from crawlproject.items import Page
from crawlproject.records import PAGE, class_name, page_from, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlproject.records import Kept, Record


class Classes:
    """``known`` are classes that can't be found by their names, such as those in functions."""

    def __init__(self, known: Iterable[type] = ()) -> None:
        self._loaded = {class_name(cls): cls for cls in known}
        # The same, without serializers. None: that can't be.
        self._exported: dict[str, type | None] = {}

    def item(self, kept: Kept) -> Any:
        """The item as it was, but for values that JSON has no form for."""
        if kept.kind == PAGE:
            return _page(kept, self._class)
        cls = self._class(kept.kind)
        return kept.record if cls is None else _made(cls, kept.record)

    def exported(self, kept: Kept) -> Any:
        """The item for an exporter that obeys serializers: in a record, they have been obeyed."""
        if kept.kind == PAGE:
            return _page(kept, self._exported_class)
        exported = self._exported_class(kept.kind)
        return kept.record if exported is None else _made(exported, kept.record)

    def _exported_class(self, name: str) -> type | None:
        if name not in self._exported and (cls := self._class(name)) is not None:
            self._exported[name] = _without_serializers(cls)
        return self._exported.get(name)

    def _class(self, name: str) -> type | None:
        # What is not loaded now may be later.
        if name not in self._loaded and (cls := _found(name)) is not None:
            self._loaded[name] = cls
        return self._loaded.get(name)


def _found(name: str) -> type | None:
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        if found is None:
            continue
        for part in parts[count:]:
            # Not getattr: a module may import what it is asked for.
            found = getattr(found, "__dict__", {}).get(part)
        return found if isinstance(found, type) and ItemAdapter.is_item_class(found) else None
    return None


def _page(kept: Kept, class_of: Callable[[str], type | None]) -> Page:
    cls = None if kept.page_class is None else class_of(kept.page_class)
    if cls is not None and issubclass(cls, Page):
        # It may have changed since.
        with suppress(Exception):
            page = page_from(kept.record, cls)
            if _has(page, kept.record):
                return page
    return page_from(kept.record)


def _made(cls: type, record: Record) -> Any:
    with suppress(Exception):
        item = cls(**record)
        if _has(item, record):
            return item
    # Its fields may not be arguments, or not all; or its ``__init__`` has changed them once before.
    with suppress(Exception):
        item = object.__new__(cls)
        ItemAdapter(item).update(record)
        if _has(item, record):
            return item
    return record


def _has(item: Any, record: Record) -> bool:
    adapter = ItemAdapter(item)
    return all(plain(adapter[name]) == value for name, value in record.items())


def _has_serializers(cls: type) -> bool:
    fields = ItemAdapter.get_field_names_from_class(cls) or ()
    return any("serializer" in get_field_meta_from_class(cls, field) for field in fields)


def _without_serializers(cls: type) -> type | None:
    if not _has_serializers(cls):
        return cls
    if issubclass(cls, Item):
        fields = ItemAdapter.get_field_names_from_class(cls) or ()
        return type(cls.__name__, (cls,), {field: Field() for field in fields})
    return None
