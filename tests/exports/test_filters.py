"""A filter of a feed that raises costs the items for which it does, and a line of the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy.extensions.feedexport import ItemFilter

from crawlproject.exports.filters import SafeFilter, is_plain
from crawlproject.items import Page


class Cheap(ItemFilter):
    def accepts(self, item: Any) -> bool:
        return bool(item["price"] < 5)


class Sulky(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Raising:
    """As Scrapy documents it: a class with ``accepts``, and nothing else."""

    def accepts(self, item: Any) -> bool:
        raise Sulky


def same(item: Any) -> Any:
    return item


def test_what_it_raises_costs_the_item_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    safe = SafeFilter(Cheap(None), "cheap.jsonl", same)
    with caplog.at_level(logging.INFO):
        items = [{"price": 1}, {"url": "https://a.example/"}, {"price": None}, {"price": 9}]
        assert [safe.accepts(item) for item in items] == [True, False, False, False]
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == (
        f"The filter {__name__}.Cheap of cheap.jsonl raised KeyError: 'price' for the item "
        "builtins.dict (https://a.example/): it is left out, and so is every item for which the "
        "filter raises"
    )


@pytest.mark.parametrize("item", [{"x": 1}, Page("https://a.example/"), "a text", None, Mute()])
def test_whatever_it_raises_for_whatever_item(item: Any) -> None:
    assert SafeFilter(Raising(), "x", same).accepts(item) is False  # type: ignore[arg-type]


def test_a_long_item_is_shown_in_part(caplog: pytest.LogCaptureFixture) -> None:
    SafeFilter(Cheap(None), "x", same).accepts({"text": "y" * 10_000})
    assert len(caplog.records[0].getMessage()) < 400


def test_it_is_asked_about_the_item_that_stands_for_what_is_given() -> None:
    safe = SafeFilter(Cheap(None), "x", lambda kept: {"price": kept})
    assert safe.accepts(4)
    assert not safe.accepts(6)


def test_what_is_not_true_or_false_counts_as_python_has_it() -> None:
    class Odd(ItemFilter):
        def accepts(self, item: Any) -> Any:
            return item

    safe = SafeFilter(Odd(None), "x", same)
    assert safe.accepts("yes") is True
    assert safe.accepts("") is False


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (ItemFilter(None), True),
        (ItemFilter({"item_classes": []}), True),
        (ItemFilter({"item_classes": ["crawlproject.items.Page"]}), False),
        (Cheap(None), False),
        (SafeFilter(ItemFilter(None), "x", same), False),
    ],
)
def test_only_a_filter_that_accepts_everything_is_plain(one: ItemFilter, expected: bool) -> None:
    assert is_plain(one) is expected
