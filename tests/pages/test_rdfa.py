from __future__ import annotations

from typing import Any

import pytest

from crawlproject.pages.elements import MAX_MARKS
from crawlproject.pages.values import MAX_DEPTH
from tests.pages.items import URL, depth_of, items, properties, read, typed

FOAF = "http://xmlns.com/foaf/0.1/"
X = "http://x.example/"


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("<span property=p> two \n words </span>", "two words"),
        ("<meta property=p content=' x '>", "x"),
        ("<span property=p content=9.50>9,50 €</span>", "9.50"),
        ("<a property=p href='/b c'>x</a>", "https://example.com/b%20c"),
        ("<a property=p href=/b content=x>y</a>", "x"),
        ("<img property=p src=b.png>", "https://example.com/shop/b.png"),
        ("<span property=p resource='#b'>x</span>", f"{URL}#b"),
        ("<a property=p href='tel:1'>x</a>", "tel:1"),
        ("<time property=p datetime=2020-01-01>New Year</time>", "2020-01-01"),
        ("<data property=p value=7>seven</data>", "7"),
    ],
)
def test_the_value_of_an_element(element: str, value: str) -> None:
    assert properties(f"<div typeof=A>{element}</div>") == {"p": value}


@pytest.mark.parametrize(
    ("attributes", "type_"),
    [
        ("typeof", None),
        ("typeof=Product", "Product"),
        ("vocab=http://schema.org/ typeof=Product", "Product"),
        ("vocab='https://schema.org' typeof='Product Car'", ["Product", "Car"]),
        ("typeof=schema:Product", "Product"),
        ("typeof=http://schema.org/Product", "Product"),
        (f"vocab={FOAF} typeof=Person", f"{FOAF}Person"),
        ("typeof=foaf:Person", f"{FOAF}Person"),
        ("prefix='x: http://x.example/ s: http://schema.org/' typeof='x:A s:B'", [f"{X}A", "B"]),
        ("prefix='foaf: http://x.example/ broken y:http://y.example/' typeof=foaf:A", f"{X}A"),
    ],
)
def test_types(attributes: str, type_: Any) -> None:
    assert items(f"<div {attributes}></div>") == [typed(type_)]


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        # Vocabularies and prefixes hold inside of an element.
        (
            f"<body vocab={FOAF} prefix='x: {X}'><p typeof=Person><b property=name>a</b>"
            "<b property=x:b>b</b><b vocab='' property=c>c</b>",
            [typed(f"{FOAF}Person", **{f"{FOAF}name": "a", f"{X}b": "b", "c": "c"})],
        ),
        ("<p typeof=A><b property='a b'>x</b>", [typed("A", a="x", b="x")]),
        ("<p typeof=A><b property=a>x</b><b property=a>y</b>", [typed("A", a=["x", "y"])]),
        # Items in items, and beside them.
        (
            "<div typeof=A><p><b property=a typeof=B><i><u property=b>x</u></i></b></p>"
            "<u property=c>y</u></div>",
            [typed("A", a=typed("B", b="x"), c="y")],
        ),
        ("<p typeof=A><i typeof=B><b property=b>x</b></i>", [typed("A"), typed("B", b="x")]),
        ("<p typeof=A><b property='a b' typeof=B>", [typed("A", a=typed("B"), b=typed("B"))]),
        # A property of the page itself.
        ("<div property=mainEntity typeof=A></div>", [typed("A")]),
        # What items are known by.
        ("<p typeof=A resource='#x'>", [typed("A", **{"@id": f"{URL}#x"})]),
        (
            "<p typeof=A><a property=item typeof=B href=/b><b property=name>x</b></a>",
            [typed("A", item=typed("B", **{"@id": "https://example.com/b", "name": "x"}))],
        ),
        (
            "<div typeof=A><p about=/u typeof=foaf:Person property=schema:name>Bob</p></div>",
            [typed("A"), typed(f"{FOAF}Person", **{"@id": "https://example.com/u", "name": "Bob"})],
        ),
        # More of an item, in another place; and of one that is not known.
        (
            "<p typeof=A resource='#x'></p><div resource='#x'><b property=a>1</b></div>"
            "<div resource='#y'><b property=a>2</b></div>",
            [typed("A", **{"@id": f"{URL}#x", "a": "1"})],
        ),
        # Links are no subjects.
        ("<p typeof=A><a href=/b><b property=a>x</b></a>", [typed("A", a="x")]),
        # OpenGraph is none of an item.
        ("<meta property=og:title content=x><p typeof=A>", [typed("A")]),
    ],
)
def test_items(markup: str, found: list[Any]) -> None:
    assert items(markup) == found


def test_opengraph_makes_no_items() -> None:
    head = "<html prefix='og: http://ogp.me/ns#'><meta property=og:title content=x>"
    assert items(f"{head}<script>if (typeof x == 1) {{}}</script>") == []


@pytest.mark.parametrize(
    "markup",
    [
        # An item that would hold itself.
        "<p typeof=A resource='#a'><b property=b typeof=B resource='#b'><i resource='#a'>"
        "<u property=c typeof=C resource='#a'></u></i></b>",
        "<p about=#y><i property=a typeof=X about=#x><b property=q typeof=Y resource='#y'></b>",
    ],
)
def test_items_are_finite(markup: str) -> None:
    assert depth_of(items(markup)) < 10


def test_items_are_as_deep_as_may_be() -> None:
    found = read("<div typeof=A property=b>" * 9_000)
    assert found.broken == 1
    assert depth_of(found.items) == 1 + 2 * MAX_DEPTH


@pytest.mark.parametrize(
    "markup",
    [
        "<p typeof=A>" * (MAX_MARKS + 1),
        "<div typeof=A>"
        + f"<div typeof=A property='{' '.join(f'n{name}' for name in range(100))}'>" * 9,
        f"<p typeof=A vocab=http://{'x' * 290}/>" + "<b property=a>x</b>" * MAX_MARKS,
    ],
)
def test_what_is_too_much_is_cut_and_counted(markup: str) -> None:
    found = read(markup)
    assert found.broken == 1
    assert len(repr(found.items)) < 2_000_000


def test_a_prefix_takes_no_longer_than_its_length() -> None:
    # It would not end while somebody waits.
    assert items(f"<p typeof=A prefix='{'a' * 500_000}'>") == [typed("A")]
    assert items(f"<p typeof=A prefix='{'a:' + ' ' * 500_000 + ':' * 9_000}'>") == [typed("A")]
