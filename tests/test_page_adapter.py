"""What plugins and exporters of others see of a Page."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from itemadapter import ItemAdapter, is_item
from scrapy.http import TextResponse
from scrapy.utils.serialize import ScrapyJSONEncoder

from crawlproject.items import Content, Page
from crawlproject.page_adapter import ASIDE
from crawlproject.records import PAGE_FIELDS


@dataclass
class Product(Page):
    price: int = 0


def page() -> Page:
    return Page(
        "http://a.example/",
        title="A",
        extra={"shelf": 7},
        text="words",
        response=TextResponse("http://a.example/"),
        content=Content(b"hash", lambda: b""),
    )


def test_the_fields_of_the_outputs_are_listed_and_others_are_not() -> None:
    adapter = ItemAdapter(page())
    assert list(adapter) == [*PAGE_FIELDS, "shelf"]
    assert list(adapter.field_names()) == list(adapter)
    assert len(adapter) == len(PAGE_FIELDS) + 1
    assert ItemAdapter.get_field_names_from_class(Page) == list(PAGE_FIELDS)
    assert (adapter["title"], adapter["shelf"], adapter["text"]) == ("A", 7, "words")
    assert adapter.get("nothing") is None


def test_a_page_is_serialised_as_any_item() -> None:
    record = json.loads(ScrapyJSONEncoder().encode(page()))
    assert (record["url"], record["shelf"]) == ("http://a.example/", 7)
    assert not record.keys() & {"response", "content", "text", "extra"}


def test_a_field_that_pages_do_not_have_is_an_extra_one() -> None:
    one = page()
    adapter = ItemAdapter(one)
    adapter["title"], adapter["label"] = "B", "new"
    assert (one.title, one.extra["label"]) == ("B", "new")
    assert not adapter.get_field_meta("label")
    del adapter["label"]
    assert "label" not in one.extra
    with pytest.raises(KeyError):
        del adapter["label"]
    with pytest.raises(KeyError, match="set it to None"):
        del adapter["title"]


def test_what_is_for_pipelines_is_read_but_not_replaced() -> None:
    one = page()
    adapter = ItemAdapter(one)
    content = one.content
    for name in ASIDE:
        adapter[name] = f"new {name}"
    assert (one.text, one.content) == ("words", content)
    assert {name: adapter[name] for name in ASIDE} == {name: f"new {name}" for name in ASIDE}
    assert adapter["shelf"] == 7
    record = json.loads(ScrapyJSONEncoder().encode(one))
    assert record["content"] == "new content"
    del adapter["text"]
    assert adapter["text"] == "words"


def test_subclasses_have_their_own_fields() -> None:
    adapter = ItemAdapter(Product("http://a.example/", price=3))
    assert adapter["price"] == 3
    assert is_item(adapter.item)
    assert adapter.asdict()["price"] == 3
    # Not for other classes, nor for the class itself.
    assert not is_item(Page)
