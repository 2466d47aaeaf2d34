from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Field, Item, Request, Spider
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from crawlproject import settings as ours
from crawlproject.errors import BadArgument
from crawlproject.pages.signatures import BACKENDS
from crawlproject.pipelines.duplicates import Duplicates
from crawlproject.pipelines.parameters import SignatureParameters
from crawlproject.pipelines.streaming import StreamingDuplicates
from tests.crawling import crawl_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response

    from tests.site.fixture import Site

OURS = {name: value for name, value in vars(ours).items() if name.startswith("DUPLICATES_")}
TEXT = [f"word{number}" for number in range(400)]
NEAR = " ".join(["new", *TEXT[1:]])
OTHER = " ".join(reversed(TEXT))


class Product(Item):
    url = Field()
    text = Field()


@dataclass
class Article:
    url: str
    text: str
    near_duplicate_of: str | None = None
    similarity: float | None = None


@pytest.fixture(params=BACKENDS)
def parameters(request: pytest.FixtureRequest) -> SignatureParameters:
    return SignatureParameters(backend=request.param)


def streaming(parameters: SignatureParameters, *, drops: bool = False) -> StreamingDuplicates:
    return StreamingDuplicates(parameters, field="text", threshold=0.85, drops=drops)


def test_an_item_is_marked_by_the_first_that_is_alike(parameters: SignatureParameters) -> None:
    index = streaming(parameters)
    assert "near_duplicate_of" not in index.mark({"url": "a", "text": " ".join(TEXT)})
    assert "near_duplicate_of" not in index.mark({"url": "b", "text": OTHER})
    marked = index.mark({"url": "c", "text": NEAR})
    assert marked["near_duplicate_of"] == "a"
    assert 0.85 <= marked["similarity"] < 1
    # No number of numpy, which databases don't know.
    assert type(marked["similarity"]) is float
    # Not of the one between.
    assert index.mark({"url": "d", "text": NEAR})["near_duplicate_of"] == "a"


def test_any_kind_of_item_is_compared(parameters: SignatureParameters) -> None:
    index = streaming(parameters)
    index.mark(Product(url="a", text=OTHER))
    assert index.mark(Article("b", OTHER)).near_duplicate_of == "a"
    # It has no field for the mark.
    assert dict(index.mark(Product(url="c", text=OTHER))) == {"url": "c", "text": OTHER}


def test_what_has_no_text_is_left_alone(parameters: SignatureParameters) -> None:
    index = streaming(parameters, drops=True)
    for item in ({"url": "a"}, {"text": 3}, {"text": "too short"}, "no item", None):
        assert index.mark(item) is item
        assert index.mark(item) is item


def test_duplicates_are_dropped_on_demand(parameters: SignatureParameters) -> None:
    index = streaming(parameters, drops=True)
    index.mark({"url": "a", "text": OTHER})
    with pytest.raises(DropItem, match="near-duplicate of a"):
        index.mark({"url": "b", "text": OTHER})


def test_items_of_earlier_runs_come_first(parameters: SignatureParameters) -> None:
    index = streaming(parameters)
    index.learn([{"url": "a", "text": OTHER}, {"url": "b"}, {"url": "c", "near_duplicate_of": "a"}])
    assert index.mark({"url": "d", "text": OTHER})["near_duplicate_of"] == "a"


def test_an_item_of_a_page_that_is_visited_again_is_no_duplicate_of_itself(
    parameters: SignatureParameters,
) -> None:
    index = streaming(parameters, drops=True)
    index.learn([{"url": "a", "text": OTHER}, {"text": " ".join(TEXT)}])
    again = {"url": "a", "text": OTHER}
    assert index.mark(again) is again
    # Nobody knows of what is without a URL whether it is the same.
    nameless = {"text": NEAR}
    assert index.mark(nameless) is nameless
    with pytest.raises(DropItem, match="near-duplicate of a"):
        index.mark({"url": "b", "text": OTHER})
    # In one run it is another one, whatever it says of itself.
    with pytest.raises(DropItem, match="near-duplicate of a"):
        index.mark(again)


def test_a_url_that_no_encoding_can_write_is_no_reason_to_lose_the_item(
    parameters: SignatureParameters,
) -> None:
    index = streaming(parameters)
    first = {"url": "a\ud800", "text": " ".join(TEXT)}
    assert index.mark(first) == {"url": "a\ud800", "text": " ".join(TEXT)}
    assert index.mark({"url": "b", "text": NEAR})["near_duplicate_of"] == "a\ufffd"


def test_a_package_that_is_missing_is_told_before_the_first_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "datasketch", None)
    crawler = get_crawler(settings_dict={**OURS, "ADDONS": {}, "DUPLICATES_BACKEND": "datasketch"})
    with pytest.raises(BadArgument, match="DUPLICATES_BACKEND: datasketch can't be imported"):
        Duplicates.from_crawler(crawler)


@pytest.mark.parametrize(
    "bad",
    [
        {"DUPLICATES_PERMUTATIONS": 0},
        {"DUPLICATES_PERMUTATIONS": 100_000},
        {"DUPLICATES_ACTION": "delete"},
        {"DUPLICATES_BACKEND": "simhash"},
    ],
)
def test_bad_settings_of_another_project_are_told_before_its_first_item(
    bad: dict[str, Any],
) -> None:
    crawler = get_crawler(settings_dict={**OURS, "ADDONS": {}, **bad})
    with pytest.raises(BadArgument, match=next(iter(bad))):
        Duplicates.from_crawler(crawler)


class Priced:
    """A pipeline of a project's own, behind ours."""

    async def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        if item["url"] == "dropped":
            raise DropItem("no price")
        if item["url"] == "broken":
            raise ValueError("a bug of the pipeline's")
        return item


class Items(Spider):
    name = "items"
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.seed)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        for url in ("dropped", "broken", "kept", "like kept"):
            yield {"url": url, "text": OTHER}


@pytest.mark.parametrize("action", ["mark", "drop"])
@deferred_f_from_coro_f
async def test_an_item_is_no_duplicate_of_one_that_a_later_pipeline_drops(
    site: Callable[..., Site], fastpath: bool, action: str
) -> None:
    pipelines: dict[Any, int | None] = {**ours.ITEM_PIPELINES, Priced: 300}
    settings: dict[str, Any] = {"ITEM_PIPELINES": pipelines, "DUPLICATES_ITEM_TEXT": "text"}
    settings |= {"DUPLICATES_ACTION": action, "ROBOTSTXT_OBEY": False}
    crawled = await crawl_site(site({"default": {}}).url(), settings, spider=Items)
    marks = {item["url"]: item.get("near_duplicate_of") for item in crawled.items}
    assert marks == {"kept": None} | ({"like kept": "kept"} if action == "mark" else {})
