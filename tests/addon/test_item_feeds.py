"""Feeds of another project's items, in Scrapy's own formats: live, and of an earlier run."""

from __future__ import annotations

import csv
import json
import marshal
import pickle
import xml.etree.ElementTree as ET
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from tests.addon.test_addon import QUICK, crawl, project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.site.fixture import Site

    SiteFactory = Callable[..., Site]

__all__ = ["project"]

SPIDER = """
from dataclasses import dataclass, field
from datetime import date

from scrapy import Field, Item, Spider

from shop.items import Product


@dataclass
class Cents:
    amount: int
    seen: date = date(2026, 1, 2)

    def __post_init__(self):
        self.amount *= 100


@dataclass
class Rounded:
    rounded: float = field(metadata={"serializer": round})


def local_class():
    class Local(Item):
        here = Field()

    return Local


Local = local_class()


class Young:
    def __init__(self, feed_options):
        pass

    def accepts(self, item):
        return isinstance(item, Cents) and item.amount == 300 and str(item.seen) > "2000"


class Recent:
    def __init__(self, feed_options):
        pass

    def accepts(self, item):
        if not isinstance(item, Cents):
            return False
        with open("asked.txt", "a") as file:
            print(type(item.seen).__name__, file=file)
        return (item.seen.year if isinstance(item.seen, date) else int(item.seen[:4])) == 2026


class Shop(Spider):
    name = "shop"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse(self, response):
        yield Product(name=response.url.rpartition("/")[2], price=3, seen=date(2026, 1, 2))
        yield Cents(3)
        yield Rounded(2.7)
        yield Local(here=True)
        yield {"plain": {"a": (1, 2)}, "none": None}
        yield from response.follow_all(css="a")
"""
IN = "shop.spiders.shop"
SITE = {"pages": {"/": {"links": ["/a", "/b"]}, "/a": {}, "/b": {}}}


def pickles(data: bytes) -> Iterator[Any]:
    file = BytesIO(data)
    while file.tell() < len(data):
        yield pickle.load(file)  # noqa: S301 - this test has written it


def marshals(data: bytes) -> Iterator[Any]:
    file = BytesIO(data)
    while file.tell() < len(data):
        yield marshal.load(file)  # noqa: S302 - this test has written it


READERS: dict[str, Callable[[bytes], Any]] = {
    "jsonlines": lambda data: data.splitlines(),
    "json": json.loads,
    "csv": lambda data: csv.DictReader(data.decode().splitlines()),
    "xml": lambda data: map(ET.tostring, ET.fromstring(data)),  # noqa: S314 - this test wrote it
    "pickle": pickles,
    "marshal": marshals,
}


def items(path: Path) -> list[str]:
    """What is in a file, in any order."""
    return sorted(map(repr, READERS[path.suffix[1:]](path.read_bytes())))


def feed(format_: str, **options: Any) -> dict[str, Any]:
    return {"format": format_, "overwrite": True, **options}


@pytest.fixture(params=["directory", "redis"])
def kept(request: pytest.FixtureRequest) -> str:
    """The setting that says where a crawl is kept."""
    if request.param == "redis":
        return f"REDIS_URL={request.getfixturevalue('redis_url')}"
    return "JOBDIR=job"


@pytest.fixture
def shop(project: Path) -> Path:
    (project / "shop/spiders/shop.py").write_text(SPIDER)
    return project


def test_every_format_has_the_same_items_live_and_of_an_earlier_run(
    site: SiteFactory, shop: Path, kept: str
) -> None:
    server = site(SITE)
    some = [f"{IN}.Local", f"{IN}.Cents", "builtins.dict"]
    feeds = {f"out.{name}": feed(name) for name in READERS}
    # Without fields, Scrapy takes the columns of the first item that comes.
    feeds["out.csv"] = feed("csv", fields=["amount", "name", "here"])
    feeds["young.jsonlines"] = feed("jsonlines", item_filter=f"{IN}.Young")
    feeds["some.jsonlines"] = feed("jsonlines", item_classes=some)
    feeds["batch-%(batch_id)d.jsonlines"] = feed("jsonlines", batch_item_count=4)
    options = (*QUICK, "-s", kept, "-s", f"FEEDS={json.dumps(feeds)}")
    crawl(shop, server, *options)
    files = sorted(shop.glob("*.*"))
    assert len(files) == len(READERS) + 2 + 4 + len(["scrapy.cfg"])
    live = {path.name: items(path) for path in files if path.suffix[1:] in READERS}
    assert {name: len(found) for name, found in live.items()} == {
        **dict.fromkeys((f"out.{name}" for name in READERS), 15),
        "young.jsonlines": 3,
        "some.jsonlines": 9,
        **{f"batch-{n}.jsonlines": 4 if n < 4 else 3 for n in (1, 2, 3, 4)},
    }
    lines = (shop / "out.jsonlines").read_text().splitlines()
    assert '{"amount": 300, "seen": "2026-01-02"}' in lines
    assert '{"rounded": 3}' in lines
    assert sum('"$ 3"' in line for line in lines) == 3
    since = len(server.log())
    crawl(shop, server, *options)
    assert server.log()[since:] == []
    again = {path.name: items(path) for path in files if path.suffix[1:] in READERS}
    for name, found in live.items():
        if not name.startswith("batch-"):
            assert again[name] == found, name
    assert together(again) == together(live)


def test_a_filter_is_asked_about_the_item_itself_and_later_about_plain_values(
    site: SiteFactory, shop: Path, kept: str
) -> None:
    server = site(SITE)
    feeds = {"recent.jsonl": feed("jsonlines", item_filter=f"{IN}.Recent")}
    options = (*QUICK, "-s", kept, "-s", f"FEEDS={json.dumps(feeds)}")
    crawl(shop, server, *options)
    lines = (shop / "recent.jsonl").read_text().splitlines()
    # What is written has the form that the next run has, too.
    assert lines == ['{"amount": 300, "seen": "2026-01-02"}'] * 3
    assert set((shop / "asked.txt").read_text().split()) == {"date"}
    crawl(shop, server, *options)
    assert (shop / "recent.jsonl").read_text().splitlines() == lines
    assert set((shop / "asked.txt").read_text().split()) == {"date", "str"}


def together(found: dict[str, list[str]]) -> list[str]:
    return sorted(one for name in found if name.startswith("batch-") for one in found[name])
