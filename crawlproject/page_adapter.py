"""How ``ItemAdapter`` shows a Page to pipelines, exporters and plugins of others. *Pure.*

They see the fields of the outputs: what is only for pipelines (the response, the text) can be
read by name, but is not listed, because nobody can serialise it. Any other field is one of
``page.extra``, so a plugin may add fields of its own, also ones named ``text`` or ``content``.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface

from crawlproject.items import Page

if TYPE_CHECKING:
    from types import MappingProxyType

EXTRA = "extra"
# Fields for pipelines only, and of no output.
ASIDE = frozenset({EXTRA, "response", "text", "own_text", "content", "stored"})


class PageAdapter(AdapterInterface):
    item: Page

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, Page)

    @classmethod
    def get_field_meta_from_class(
        cls, item_class: type, field_name: str
    ) -> MappingProxyType[str, Any]:
        for field in fields(item_class):
            if field.name == field_name:
                return field.metadata
        return super().get_field_meta_from_class(item_class, field_name)

    @classmethod
    def get_field_names_from_class(cls, item_class: type) -> list[str]:
        return [field.name for field in fields(item_class) if field.name not in ASIDE]

    def field_names(self) -> KeysView[str]:
        return KeysView(dict.fromkeys(self))

    def __iter__(self) -> Iterator[str]:
        names = self.get_field_names_from_class(type(self.item))
        yield from names
        # A field of the page can't be replaced by one of the same name.
        yield from (name for name in self.item.extra if name not in names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Any:
        if self._is_field(name):
            return getattr(self.item, name)
        if name in ASIDE and name not in self.item.extra:
            return getattr(self.item, name)
        return self.item.extra[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if self._is_field(name):
            setattr(self.item, name, value)
        else:
            self.item.extra[name] = value

    def __delitem__(self, name: str) -> None:
        if self._is_field(name):
            raise KeyError(f"{name!r} is a field of every page: set it to None instead")
        del self.item.extra[name]

    def _is_field(self, name: str) -> bool:
        return name not in ASIDE and any(field.name == name for field in fields(self.item))


def register() -> None:
    """Have every ItemAdapter use it, before that of dataclasses."""
    classes: Any = ItemAdapter.ADAPTER_CLASSES
    if PageAdapter not in classes:
        classes.appendleft(PageAdapter)
