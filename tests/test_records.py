from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from crawlproject.items import Page
from crawlproject.records import (
    PAGE,
    PAGE_FIELDS,
    chosen_fields,
    class_name,
    completed,
    encodable,
    json_encoder,
    kept_of,
    kind_of,
    known_of,
    page_from,
    page_url,
    plain,
    record_of,
    whole,
)


@dataclass(slots=True)
class PricedPage(Page):
    price: float | None = None


class Colour(Enum):
    RED = "red"


class Size(StrEnum):
    BIG = "big"


class Sulky:
    def __str__(self) -> str:
        raise RuntimeError("no")


def self_containing() -> list[Any]:
    value: list[Any] = [1.5]
    value.append(value)
    return value


@dataclass
class Product:
    url: str
    price: Decimal = field(metadata={"serializer": lambda price: f"{price} EUR"})


class ScrapyProduct(scrapy.Item):
    name = scrapy.Field(serializer=str.upper)
    tags = scrapy.Field()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (float("nan"), None),
        (float("-inf"), None),
        (b"caf\xc3\xa9\xff", "café\ufffd"),
        ({"b", "a"}, ["a", "b"]),
        ((1, (2, 3)), [1, [2, 3]]),
        ({1: "a", "k": {2, 1}}, {"1": "a", "k": [1, 2]}),
        (datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC), "2025-01-02T03:04:05+00:00"),
        (date(2025, 1, 2), "2025-01-02"),
        (Decimal("1.10"), "1.10"),
        (Colour.RED, "red"),
        (Size.BIG, "big"),
        (Request("https://a.example/"), "<GET https://a.example/>"),
        (Sulky(), "<Sulky>"),
        ([Page("https://a.example/")], [record_of(Page("https://a.example/"))]),
    ],
)
def test_any_value_becomes_what_json_can_hold(value: object, expected: object) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_a_value_that_contains_itself_comes_to_an_end() -> None:
    json.dumps(plain(self_containing()))


def test_a_list_that_grows_after_its_item_changes_nothing() -> None:
    tags = ["a"]
    record = record_of({"tags": tags})
    tags.append("b")
    assert record == {"tags": ["a"]}


def test_a_number_too_long_to_be_written_is_named() -> None:
    number = 10**5000
    assert plain([number, {"less": -number}, 10**30]) == ["<int>", {"less": "<int>"}, 10**30]


def test_subclasses_of_text_become_plain_text() -> None:
    assert type(plain(Size.BIG)) is str


def test_a_page_becomes_a_record_of_all_its_fields_in_order() -> None:
    record = record_of(Page("https://a.example/", status_code=200, links=["https://a.example/b"]))
    assert tuple(record) == PAGE_FIELDS
    assert record["links"] == ["https://a.example/b"]


def test_odd_values_in_a_page_are_made_plain() -> None:
    page = Page("https://a.example/")
    page.title = b"bytes"  # type: ignore[assignment]
    page.links = ("https://a.example/b",)  # type: ignore[assignment]
    record = record_of(page)
    assert record["title"] == "bytes"
    assert record["links"] == ["https://a.example/b"]


def test_what_is_known_of_a_page_is_its_record_without_what_is_empty() -> None:
    page = Page("https://a.example/", status_code=200, fetch_ms=0, headings=[{"level": 1}])
    page.images = ("https://a.example/i",)  # type: ignore[assignment]
    # The first is a field of the page, also while it is not known.
    page.extra = {"title": "no", "price": None, "sizes": {2}}
    record = record_of(page)
    names = "url status_code depth fetch_ms headings images links price sizes"
    known = known_of(page)
    assert known == {name: record[name] for name in names.split()}
    page.headings.append({"level": 2})
    assert known["headings"] == [{"level": 1}]


def test_that_a_page_was_not_rendered_is_known_only_where_it_should_have_been() -> None:
    page = Page("https://a.example/", status_code=200)
    assert "rendered" not in known_of(page)
    assert known_of(page, is_scripted=True)["rendered"] is False
    page.rendered = True
    assert known_of(page, is_scripted=True)["rendered"] is True


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"a": 1, "b": {2}}, {"a": 1, "b": [2]}),
        (
            Product("https://a.example/", Decimal(3)),
            {"url": "https://a.example/", "price": "3 EUR"},
        ),
        (ScrapyProduct(name="x", tags=("y",)), {"name": "X", "tags": ["y"]}),
        ("no item at all", {"value": "no item at all"}),
    ],
)
def test_any_item_becomes_a_record(item: object, expected: object) -> None:
    assert record_of(item) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Page("https://a.example/"), "https://a.example/"),
        (PricedPage("https://a.example/"), "https://a.example/"),
        (Page(""), None),
        ({"url": "https://a.example/", "status_code": 200}, None),
        (record_of(Page("https://a.example/", 200)), None),
    ],
)
def test_a_page_is_one_by_its_class_and_not_by_its_fields(item: Any, expected: str | None) -> None:
    assert page_url(kind_of(item), record_of(item)) == expected


def test_a_page_is_made_again_in_its_own_class_with_its_fields_in_their_order() -> None:
    page = PricedPage("https://a.example/", 200, price=0.0, extra={"zoo": 1, "ant": None})
    kept = kept_of(page)
    assert (kept.kind, kept.page_class) == (PAGE, class_name(PricedPage))
    assert list(kept.record)[-3:] == ["zoo", "ant", "price"]
    assert page_from(kept.record, PricedPage) == page
    plain_page = page_from(kept.record)
    assert type(plain_page) is Page
    assert list(plain_page.extra.items()) == [("zoo", 1), ("ant", None), ("price", 0.0)]


def test_what_was_left_out_of_a_page_is_there_again_in_its_place() -> None:
    page = Page("https://a.example/", 200, fetch_ms=0, extra={"zoo": 1})
    record = whole({"zoo": 1, **completed(known_of(page))})
    assert list(record.items()) == list(record_of(page).items())


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (None, None),
        ([], None),
        (["title", "url"], ["title", "url"]),
        (["title"], ["title"]),
        ({"title": "name", "url": "address"}, ["name", "address"]),
    ],
)
def test_chosen_fields_keep_their_order(
    option: list[str] | dict[str, str] | None, expected: list[str] | None
) -> None:
    chosen = chosen_fields(option)
    assert (chosen if chosen is None else list(chosen.values())) == expected


@given(st.text(st.characters(codec=None, categories=None, exclude_categories=())))
def test_encodable_text_can_be_encoded_and_stays_as_it_is_where_it_could(text: str) -> None:
    encodable(text).encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert encodable(text) == text


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined() -> None:
    assert encodable("a\ud800b") == "a\ufffdb"
    assert encodable("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (None, '"é\ufffd"'.encode()),
        ("UTF8", '"é\ufffd"'.encode()),
        ("latin-1", b'"\\u00e9\\udc80"'),
    ],
)
def test_json_is_utf8_or_ascii(encoding: str | None, expected: bytes) -> None:
    assert json_encoder(encoding)("é\udc80") == expected
