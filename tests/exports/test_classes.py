"""Items made again of their records: in the classes that they had, where that can be."""

from __future__ import annotations

import datetime
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import attrs
import pytest
import scrapy
from itemadapter import ItemAdapter

from crawlproject.exports.classes import Classes
from crawlproject.items import Page
from crawlproject.records import PAGE, Kept, class_name, kept_of, record_of


class Price(scrapy.Item):
    euros = scrapy.Field(serializer=lambda euros: f"{euros} EUR")
    seen = scrapy.Field()


class Plain(scrapy.Item):
    name = scrapy.Field()


@dataclass
class Product:
    name: str
    seen: datetime.date | None = None


@dataclass(frozen=True)
class Frozen:
    name: str


@dataclass
class Counted:
    name: str
    letters: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.letters = len(self.name)


@dataclass
class Cents:
    """Takes euros."""

    amount: int

    def __post_init__(self) -> None:
        self.amount *= 100


@dataclass
class Serialized:
    euros: str = field(metadata={"serializer": lambda euros: f"{euros} EUR"})


@attrs.define
class Attrs:
    name: str
    tags: list[str]


class Named(dict[str, Any]):
    def __init__(self, name: str) -> None:
        super().__init__(name=name)


@dataclass(slots=True)
class PricedPage(Page):
    price: float | None = None


@dataclass(slots=True)
class RoundedPage(Page):
    price: float = field(default=0.0, metadata={"serializer": round})


class Outer:
    @dataclass
    class Inner:
        name: str


ITEMS = [
    Plain(name="x"),
    Product("x", datetime.date(2026, 11, 18)),
    Frozen("x"),
    Counted("four"),
    Cents(3),
    Attrs("x", ["y"]),
    Named("x"),
    Outer.Inner("x"),
    {"name": "x", "not a name": 1},
    Page("https://a.example/", 200, extra={"zoo": 1}),
    PricedPage("https://a.example/", 200, price=1.5, extra={"zoo": 1}),
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: type(item).__name__)
def test_an_item_has_its_class_and_its_values_again(item: Any) -> None:
    kept = kept_of(item)
    classes = Classes()
    for made in (classes.item(kept), classes.exported(kept)):
        assert type(made) is type(item)
        assert record_of(made) == kept.record


@pytest.mark.parametrize("item", [Price(euros=3, seen=1), Serialized("3")])
def test_a_serializer_is_obeyed_once(item: Any) -> None:
    kept = kept_of(item)
    assert kept.record["euros"] == "3 EUR"
    classes = Classes()
    assert type(classes.item(kept)) is type(item)
    exported = ItemAdapter(classes.exported(kept))
    assert not any("serializer" in exported.get_field_meta(name) for name in exported)
    assert dict(exported) == kept.record


def test_a_filter_still_sees_an_item_of_its_class_behind_serializers() -> None:
    exported = Classes().exported(kept_of(Price(euros=3)))
    assert isinstance(exported, Price)
    assert type(exported).__name__ == "Price"


def test_a_serializer_of_a_page_is_obeyed_once() -> None:
    kept = kept_of(RoundedPage("https://a.example/", price=1.6))
    classes = Classes()
    assert type(classes.item(kept)) is RoundedPage
    exported = classes.exported(kept)
    assert type(exported) is Page
    assert exported.extra == {"price": 2}


def test_a_class_in_a_function_is_found_if_it_is_given() -> None:
    @dataclass
    class Local:
        name: str

    kept = kept_of(Local("x"))
    assert Classes().item(kept) == {"name": "x"}
    assert Classes([Local]).item(kept) == Local("x")
    assert Classes([Local]).exported(kept) == Local("x")


def test_a_class_of_the_main_module_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    main = ModuleType("__main__")
    monkeypatch.setattr(Plain, "__module__", "__main__")
    monkeypatch.setattr(main, "Plain", Plain, raising=False)
    monkeypatch.setitem(sys.modules, "__main__", main)
    kept = kept_of(Plain(name="x"))
    assert kept.kind == "__main__.Plain"
    assert type(Classes().item(kept)) is Plain


def test_a_module_that_is_loaded_later_is_looked_at_then(monkeypatch: pytest.MonkeyPatch) -> None:
    classes, kept = Classes(), Kept("late_module.Plain", {"name": "x"})
    assert classes.item(kept) == classes.exported(kept) == {"name": "x"}
    module = ModuleType("late_module")
    monkeypatch.setattr(module, "Plain", Plain, raising=False)
    monkeypatch.setitem(sys.modules, "late_module", module)
    assert type(classes.item(kept)) is Plain
    assert type(classes.exported(kept)) is Plain


@pytest.mark.parametrize(
    "kind",
    [
        "this.Request",
        "nothing",
        "",
        ".",
        "..Page",
        "os.system",
        "os.path.join",
        "sys.modules",
        "crawlproject.exports.classes.Classes",
        "crawlproject.items.Content",
        f"{__name__}.ITEMS",
        f"{__name__}.Plain.fields",
        f"{__name__}.Plain.nothing.at.all",
        "nul\0.Page",
    ],
)
def test_what_names_no_class_of_items_is_a_record_and_nothing_is_imported(kind: str) -> None:
    sys.modules.pop("this", None)
    kept = Kept(kind, {"name": "x"})
    assert Classes().item(kept) == Classes().exported(kept) == {"name": "x"}
    page = Kept(PAGE, {"url": "https://a.example/"}, kind)
    assert type(Classes().item(page)) is type(Classes().exported(page)) is Page
    assert "this" not in sys.modules


def test_a_module_is_not_asked_for_what_it_would_import(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("lazy_module")
    monkeypatch.setattr(module, "__getattr__", pytest.fail, raising=False)
    monkeypatch.setitem(sys.modules, "lazy_module", module)
    assert Classes().item(Kept("lazy_module.Thing", {})) == {}


@pytest.mark.parametrize(
    ("cls", "record"),
    [
        (Plain, {"name": "x", "gone": 1}),
        (Product, {"gone": 1}),
        (Frozen, {"gone": 1}),
        (Attrs, {"gone": 1}),
    ],
)
def test_of_a_class_that_has_changed_since_the_record_is_left(
    cls: type, record: dict[str, Any]
) -> None:
    kept = Kept(class_name(cls), record)
    assert Classes().item(kept) == Classes().exported(kept) == record


def test_fields_that_a_class_has_since_have_their_defaults() -> None:
    assert Classes().item(Kept(class_name(Product), {"name": "x"})) == Product("x")


@pytest.mark.parametrize("page_class", [Plain, Product, None])
def test_a_page_of_a_class_that_is_none_of_pages_is_a_page(page_class: type | None) -> None:
    name = None if page_class is None else class_name(page_class)
    kept = Kept(PAGE, {"url": "https://a.example/", "price": 1.5}, name)
    for made in (Classes().item(kept), Classes().exported(kept)):
        assert type(made) is Page
        assert made.extra == {"price": 1.5}
