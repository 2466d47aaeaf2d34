"""A feed's filter may be anybody's: what it raises costs the item that it was asked about."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter, is_item
from scrapy.extensions.feedexport import ItemFilter

from crawlproject.records import class_name, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

# Characters of an item that has no URL.
_SHOWN = 100


class SafeFilter(ItemFilter):
    """Asks another filter. ``item_of`` says what it is asked about, for what a feed is given."""

    def __init__(self, asked: ItemFilter, uri: str, item_of: Callable[[Any], Any]) -> None:
        self.asked = asked
        self._uri = uri
        self._item_of = item_of
        self._has_failed = False

    def accepts(self, item: Any) -> bool:
        item = self._item_of(item)
        try:
            return bool(self.asked.accepts(item))
        except Exception as error:
            if not self._has_failed:
                self._has_failed = True
                logger.error(
                    "The filter %s of %s raised %s for the item %s: it is left out, and so is "
                    "every item for which the filter raises",
                    class_name(type(self.asked)),
                    self._uri,
                    f"{type(error).__name__}: {text_of(error)}",
                    _name(item),
                )
                logger.debug("The filter of %s failed", self._uri, exc_info=True)
            return False


def is_plain(one: ItemFilter) -> bool:
    """Whether it accepts everything."""
    return type(one) is ItemFilter and not one.item_classes


def _name(item: Any) -> str:
    """The class of an item, and its URL or else what is in it."""
    url = ItemAdapter(item).get("url") if is_item(item) else None
    return f"{class_name(type(item))} ({text_of(url or item)[:_SHOWN]})"
