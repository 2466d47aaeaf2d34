from __future__ import annotations

from typing import Any

import pytest

from crawlproject.pages.elements import MAX_MARKS
from crawlproject.pages.values import MAX_CHARACTERS, MAX_DEPTH
from tests.pages.items import URL, depth_of, items, properties, read, typed


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("<span itemprop=p> two \n words </span>", "two words"),
        ("<span itemprop=p>a<b>b</b><!-- c --></span>", "ab"),
        ("<SPAN ITEMPROP=p>x</SPAN>", "x"),
        ("<meta itemprop=p content=' x '>", "x"),
        ("<meta itemprop=p>", ""),
        ("<a itemprop=p href='/b c'>x</a>", "https://example.com/b%20c"),
        ("<area itemprop=p href=b>", "https://example.com/shop/b"),
        ("<link itemprop=p href='https://schema.org/InStock'>", "https://schema.org/InStock"),
        ("<a itemprop=p href='mailto:a@b.example'>x</a>", "mailto:a@b.example"),
        ("<a itemprop=p href='http://[oops'>x</a>", "http://[oops"),
        ("<a itemprop=p href>x</a>", URL),
        ("<a itemprop=p>x</a>", "x"),
        ("<img itemprop=p src=b.png>", "https://example.com/shop/b.png"),
        ("<video itemprop=p src=b.mp4></video>", "https://example.com/shop/b.mp4"),
        ("<object itemprop=p data=b.swf></object>", "https://example.com/shop/b.swf"),
        ("<data itemprop=p value=7>seven</data>", "7"),
        ("<meter itemprop=p value=0.5>half</meter>", "0.5"),
        ("<time itemprop=p datetime=2020-01-01>New Year</time>", "2020-01-01"),
        ("<time itemprop=p>2020-01-01</time>", "2020-01-01"),
        ("<span itemprop=p content=9.50>9,50 €</span>", "9.50"),
        ("<span itemprop=p>\x01a\x00</span>", "a"),
    ],
)
def test_the_value_of_an_element(element: str, value: str) -> None:
    assert properties(f"<div itemscope>{element}</div>") == {"p": value}


@pytest.mark.parametrize(
    ("attributes", "type_"),
    [
        ("", None),
        ("itemtype", None),
        ("itemtype='http://schema.org/Product'", "Product"),
        ("itemtype='https://schema.org/Product https://schema.org/Car'", ["Product", "Car"]),
        ("itemtype=http://v.example/Product", "http://v.example/Product"),
    ],
)
def test_types(attributes: str, type_: Any) -> None:
    assert items(f"<div itemscope {attributes}></div>") == [typed(type_)]


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        # Several names, several values, names as URLs.
        ("<div itemscope><b itemprop='a b a'>x</b>", [typed(None, a="x", b="x")]),
        (
            "<div itemscope><b itemprop=a>x</b><b itemprop=a>y</b><b itemprop=a>z</b>",
            [typed(None, a=["x", "y", "z"])],
        ),
        ("<div itemscope><b itemprop=http://schema.org/name>x</b>", [typed(None, name="x")]),
        ("<div itemscope><b itemprop>x</b><b itemprop=' '>x</b>", [typed(None)]),
        ("<div itemscope itemid=' #me '>", [typed(None, **{"@id": f"{URL}#me"})]),
        # Items in items, and beside them.
        (
            "<div itemscope><p><b itemprop=a itemscope><i><u itemprop=b>x</u></i></b></p>"
            "<u itemprop=c>y</u></div>",
            [typed(None, a=typed(None, b="x"), c="y")],
        ),
        ("<p itemscope><i itemscope><b itemprop=a>x</b></i>", [typed(None), typed(None, a="x")]),
        ("<div itemscope><b itemprop=a><u itemprop=b>x</u></b>", [typed(None, a="x", b="x")]),
        # What belongs to no item.
        ("<b itemprop=a>x</b><div itemscope></div>", [typed(None)]),
        ("<b itemprop=a itemscope>x</b><div itemscope></div>", [typed(None)]),
        ("<template><div itemscope></div></template><div itemscope></div>", [typed(None)]),
    ],
)
def test_items(markup: str, found: list[Any]) -> None:
    assert items(markup) == found


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        (
            "<b id=x itemprop=a>1</b><p itemscope itemref='y x nowhere x'><b itemprop=a>2</b></p>"
            "<p id=y><b itemprop=a>3</b><b itemprop=b itemscope><b itemprop=c>4</b></b></p>",
            [typed(None, a=["1", "2", "3"], b=typed(None, c="4"))],
        ),
        # Of two with one id, the first.
        (
            "<b id=x itemprop=a>1</b><b id=x itemprop=a>2</b><p itemscope itemref=x>",
            [typed(None, a="1")],
        ),
        # What it has anyway, and itself.
        ("<p itemscope itemref='x y' id=y><b id=x itemprop=a>1</b>", [typed(None, a="1")]),
        # An item around it is no part of it.
        (
            "<p id=x itemscope><b itemprop=b>1</b><i itemscope itemref=x></i>",
            [typed(None, b="1"), typed(None)],
        ),
        # Circles are cut where they close.
        (
            "<p itemscope itemref=x></p><b id=x itemprop=a itemscope itemref=y></b>"
            "<b id=y itemprop=b itemscope itemref=x></b>",
            [typed(None, a=typed(None, b=typed(None)))],
        ),
        ("<div id=x><p itemscope itemref=x><b itemprop=a>1</b></p></div>", [typed(None, a="1")]),
    ],
)
def test_properties_that_are_elsewhere(markup: str, found: list[Any]) -> None:
    assert items(markup) == found


def test_items_are_as_deep_as_may_be() -> None:
    found = read("<div itemscope>" + "<div itemscope itemprop=a>" * 9_000)
    assert found.broken == 1
    assert depth_of(found.items) == 1 + 2 * MAX_DEPTH


def test_text_in_text_is_read_until_it_is_too_much() -> None:
    found = read("<div itemscope>" + "<div itemprop=a>" * 5_000 + "x" * 100_000)
    assert found.broken == 1
    texts = found.items[0]["properties"]["a"]
    assert len("".join(texts)) == MAX_CHARACTERS
    # A single one is cut, too.
    for markup in ("<b itemprop=a>{}", "<meta itemprop=a content={}>"):
        found = read("<div itemscope>" + markup.format("x" * (MAX_CHARACTERS + 1)))
        assert len(str(found.items[0]["properties"].get("a", ""))) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    "markup",
    [
        "<p itemscope>" * (MAX_MARKS + 1),
        "<div itemscope>" + "<p itemprop=a>" * MAX_MARKS,
        "<p itemscope itemref=x>" * 5_000 + "<div id=x>" + "<b itemprop=p>1</b>" * 5_000,
        # Each of these would be 2^40 items.
        "<p itemscope itemref='x0 y0'></p>"
        + "".join(
            f"<b id={name}{level} itemprop=a itemscope itemref='x{level + 1} y{level + 1}'></b>"
            for level in range(40)
            for name in "xy"
        ),
        "<div itemscope>"
        + f"<div itemscope itemprop='{' '.join(f'n{name}' for name in range(100))}'>" * 9,
        f"<base href='/{'b' * 8_000}/'><div itemscope>" + "<a itemprop=a href=x></a>" * 10_000,
    ],
)
def test_what_is_too_much_is_cut_and_counted(markup: str) -> None:
    found = read(markup)
    assert found.broken == 1
    assert len(repr(found.items)) < 2_000_000
