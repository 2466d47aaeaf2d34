"""Items made again of what a crawl directory has of them, in the classes that they had.

A class is found by its name, among the modules that are loaded. None is imported for it: a crawl
directory may be anybody's. Where it is not loaded, or can't be made of what was kept, the record
stands for the item.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.utils import get_field_meta_from_class
from scrapy import Field, Item

from crawlproject.items import Page
from crawlproject.records import (
    PAGE,
    class_name,
    has_values,
    item_from,
    loaded_class,
    page_from,
    plain,
)

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
        if name not in self._loaded:
            cls = loaded_class(name)
            if cls is None or not ItemAdapter.is_item_class(cls):
                return None
            self._loaded[name] = cls
        return self._loaded[name]


def _page(kept: Kept, class_of: Callable[[str], type | None]) -> Page:
    cls = None if kept.page_class is None else class_of(kept.page_class)
    if cls is not None and issubclass(cls, Page):
        # It may have changed since.
        with suppress(Exception):
            page = page_from(kept.record, cls)
            if has_values(page, kept.record, plain):
                return page
    return page_from(kept.record)


def _made(cls: type, record: Record) -> Any:
    item = item_from(cls, record, plain)
    return record if item is None else item


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
