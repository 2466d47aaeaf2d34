"""Feeds of another project's items: Scrapy's own formats, with the items of all runs.

With a crawl directory an item is written in the form in which it is kept there: plain values,
as ``records.py`` has them. So it is the same whether this run has made it or an earlier one.
Its class is the one it had, if that is loaded and can be made of these values.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.utils import get_field_meta_from_class
from scrapy import Field, Item

from crawlproject.exports.feeds import Feeds
from crawlproject.records import kind_of, record_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawlproject.records import Record


class ItemFeeds(Feeds):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._is_kept = bool(crawler.settings["JOBDIR"])
        self._classes: dict[str, type | None] = {}

    def item_scraped(self, item: Any, spider: Spider) -> None:
        if self._is_kept:
            item = self._item(kind_of(item), record_of(item))
        super().item_scraped(item, spider)

    def _item(self, kind: str, record: Record) -> Any:
        if kind not in self._classes:
            self._classes[kind] = _item_class(kind)
        cls = self._classes[kind]
        if cls is not None:
            # It may have changed since: then the record is what there is.
            with suppress(Exception):
                return cls(**record)
        return record


def _item_class(kind: str) -> type | None:
    """The class of a kind of items. None is imported for it: a crawl directory may be anybody's."""
    module, _, name = kind.rpartition(".")
    cls = getattr(sys.modules.get(module), name, None)
    if not isinstance(cls, type) or not ItemAdapter.is_item_class(cls):
        return None
    fields = ItemAdapter.get_field_names_from_class(cls) or ()
    if not any("serializer" in get_field_meta_from_class(cls, field) for field in fields):
        return cls
    # What a serializer has written must not be serialized again.
    if issubclass(cls, Item):
        return type(cls.__name__, (cls,), {field: Field() for field in fields})
    return None
