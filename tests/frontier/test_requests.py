"""Requests as text: what they carry is the same when they are made again."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pytest
from scrapy import Field, FormRequest, Item, Request, Spider
from scrapy.http import JsonRequest

from crawlproject.frontier.requests import from_text, meta_of, shares_objects, to_text


class Colour(Enum):
    RED = "red"


class Rank(IntEnum):
    FIRST = 1


class Point(NamedTuple):
    x: int
    y: Any = None


Pair = namedtuple("Pair", "one two")


class Product(Item):
    name = Field()
    price = Field()


@dataclass(frozen=True, slots=True)
class Offer:
    price: Decimal
    seen: date
    tags: list[str] = field(default_factory=list)


@dataclass
class Counted:
    """Its fields are not its arguments."""

    total: int = field(init=False, default=0)


@attrs.define
class Shop:
    name: str
    offers: list[Offer]


class Own(Spider):
    name = "own"

    def parse_more(self, response: Any) -> None:
        pass


SPIDER = Own()
EAST = timezone(timedelta(hours=2))

VALUES = [
    *(None, True, 3, 2.5, "text", b"\xff\x00", [1, [2]], {"a": {"b": 1}}, {1: "a", (2, 3): "b"}),
    *((1, (2, [3])), {1, 2}, frozenset({"a"}), {(1, "a")}),
    *(date(2020, 1, 31), datetime(2020, 1, 31, 12, 30, 1, 5), datetime(2020, 1, 31, tzinfo=EAST)),
    *(time(1, 2, 3), timedelta(days=-1, microseconds=7), Decimal("1.50"), UUID(int=7)),
    *(OrderedDict([("b", 1), ("a", 2)]), Counter({"a": 2})),
    *(Colour.RED, Rank.FIRST, Point(1, {"deep": {2}}), Pair("a", Decimal(1))),
    *(Product(name="Tea"), Product(name="Tea", price=Decimal("2.5")), Product()),
    Offer(Decimal(3), date(2020, 1, 1), ["new"]),
    Shop("Corner", [Offer(Decimal(3), date(2020, 1, 1))]),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_a_request_carries_is_the_same_when_it_is_made_again(value: Any) -> None:
    request = Request(
        "https://a.example/",
        callback=SPIDER.parse_more,
        meta={"value": value, "deep": [{"value": value}]},
        cb_kwargs={"value": value},
    )
    text = to_text(request, SPIDER)
    assert text is not None
    json.loads(text)
    again = from_text(text, SPIDER)
    for found in (again.meta["value"], again.meta["deep"][0]["value"], again.cb_kwargs["value"]):
        assert found == value
        assert type(found) is type(value)
    assert again.callback == SPIDER.parse_more
    assert meta_of(text)["value"] == value


def test_fields_that_are_no_arguments_are_kept() -> None:
    item = Counted()
    item.total = 5
    request = Request("https://a.example/", meta={"item": item})
    text = to_text(request, SPIDER)
    assert text is not None
    assert from_text(text, SPIDER).meta["item"].total == 5


@pytest.mark.parametrize(
    "request_",
    [
        JsonRequest("https://a.example/", data={"a": 1}, callback=SPIDER.parse_more),
        FormRequest("https://a.example/", formdata={"q": "a"}, headers={"X-A": ["1", "2"]}),
        Request("https://a.example/", method="PUT", body=b"\xff", cookies={"a": "b"}),
    ],
)
def test_a_request_of_any_class_is_made_again(request_: Request) -> None:
    text = to_text(request_, SPIDER)
    assert text is not None
    again = from_text(text, SPIDER)
    assert type(again) is type(request_)
    assert again.to_dict(spider=SPIDER) == request_.to_dict(spider=SPIDER)


class Plain:
    pass


def _local_item() -> Any:
    @dataclass
    class Local:
        x: int = 1

    return Local()


@pytest.mark.parametrize(
    "value",
    [Plain(), len, defaultdict(list), _local_item(), [Plain()], {"a": (Plain(),)}, Point(1, len)],
)
def test_other_objects_have_no_text(value: Any) -> None:
    assert to_text(Request("https://a.example/", meta={"value": value}), SPIDER) is None
    assert to_text(Request("https://a.example/", cb_kwargs={"value": value}), SPIDER) is None


def test_a_callback_that_is_no_method_has_no_text() -> None:
    def local(response: Any) -> None:
        pass

    assert to_text(Request("https://a.example/", callback=local), SPIDER) is None


@pytest.mark.parametrize(
    "form",
    [
        {"__item__": ["subprocess.Popen", {"__dict__": [["args", "true"]]}]},
        {"__item__": ["tests.frontier.test_requests.Plain", {"__dict__": []}]},
        {"__item__": ["not_loaded.anywhere.Item", {"__dict__": []}]},
        {"__item__": ["tests.frontier.test_requests.Offer", {"__dict__": [["no", 1]]}]},
        {"__enum__": ["tests.frontier.test_requests.Product", "RED"]},
        {"__enum__": ["tests.frontier.test_requests.Colour", "mro"]},
        {"__named__": ["tests.frontier.test_requests.Product", []]},
        {"__other__": 1},
        {"__date__": "no date"},
        {"__timedelta__": ["a"]},
        {"__item__": 3},
        {},
    ],
)
def test_a_text_that_names_another_class_is_refused(form: Any) -> None:
    text = to_text(Request("https://a.example/", meta={"value": "HERE"}), SPIDER)
    assert text is not None
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_text(text.replace('"HERE"', json.dumps(form)), SPIDER)


@pytest.mark.parametrize(
    ("carried", "expected"),
    [
        ({}, False),
        ({"a": 1, "b": ("x", b"y", date(2020, 1, 1)), "c": Colour.RED, "d": Decimal(1)}, False),
        ({"handle_httpstatus_list": [404], "redirect_urls": []}, False),
        ({"a": [1]}, True),
        ({"a": {}}, True),
        ({"a": (1, [2])}, True),
        ({"a": Product()}, True),
        ({"a": Plain()}, True),
        ({"a": Counter()}, True),
    ],
)
def test_what_others_may_change_is_told_from_what_nobody_can(
    carried: dict[str, Any], expected: bool
) -> None:
    assert shares_objects(Request("https://a.example/", meta=carried)) is expected
