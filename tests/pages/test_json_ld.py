from __future__ import annotations

import json
from typing import Any

import pytest

from crawlproject.pages.values import MAX_DEPTH, MAX_VALUES
from tests.pages.items import URL, items, properties, read, script, typed

SCHEMA = {"@context": "https://schema.org"}


def of(document: Any) -> list[dict[str, Any]]:
    return items(script(json.dumps(document)))


@pytest.mark.parametrize(
    "type_",
    [
        "application/ld+json",
        "Application/LD+JSON",
        "application/ld+json; charset=utf-8",
        " application/ld+json ",
        "application/ld&#x2B;json",
    ],
)
def test_scripts_are_known_by_their_type(type_: str) -> None:
    assert items(f'<script type="{type_}">{{"@type": "A"}}</script>') == [typed("A")]


@pytest.mark.parametrize("type_", ["application/json", "text/javascript", ""])
def test_other_scripts_are_left_alone(type_: str) -> None:
    assert items(f'<script type="{type_}">{{"@type": "A"}}</script>') == []
    assert items('<!-- <script type="application/ld+json">{"@type": "A"}</script> -->') == []


@pytest.mark.parametrize(
    "document",
    [
        [{"@type": "A"}, {"@type": "B"}],
        [[{"@type": "A"}], [[{"@type": "B"}]]],
        {"@graph": [{"@type": "A"}, {"@type": "B"}]},
        {**SCHEMA, "@id": "#g", "@graph": [{"@type": "A"}, {"@graph": {"@type": "B"}}]},
        {"@type": "A", "@graph": [{"@type": "B"}]},
        [{"@type": "A"}, "text", 1, None, {}, SCHEMA, {"@id": "#x"}, {"@type": "B"}],
    ],
)
def test_lists_and_graphs_are_flattened(document: Any) -> None:
    assert [item["type"] for item in of(document)] == ["A", "B"]


@pytest.mark.parametrize(
    ("context", "type_", "name"),
    [
        (None, "Product", "Product"),
        ("http://schema.org", "Product", "Product"),
        ("https://schema.org/", "Product", "Product"),
        ("https://schema.org/docs/jsonldcontext.jsonld", "Product", "Product"),
        ({"@vocab": "http://schema.org/"}, "Product", "Product"),
        ("https://schema.org", ["Product", "Vehicle"], ["Product", "Vehicle"]),
        ("https://schema.org", ["Product", "http://schema.org/Product"], "Product"),
        ({"s": "http://schema.org/"}, "s:Product", "Product"),
        ({"Ware": {"@id": "http://schema.org/Product"}}, "Ware", "Product"),
        ({"@vocab": "http://v.example/"}, "Product", "http://v.example/Product"),
        (["https://schema.org", {"v": "http://v.example/"}], "v:A", "http://v.example/A"),
        ("https://remote.example/context", "Product", "Product"),
        ([7, [], {"x": 7}], "Product", "Product"),
        ("https://schema.org", [None, 7, "", {}], None),
    ],
)
def test_types_are_known_by_their_context(context: Any, type_: Any, name: Any) -> None:
    (item,) = of({"@context": context, "@type": type_, "name": "x"})
    assert item["type"] == name


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ("text", "text"),
        (" a\nb ", "a\nb"),
        ("", ""),
        (1, 1),
        (1.5, 1.5),
        (True, True),
        ([1, "a", [True]], [1, "a", True]),
        (["one"], "one"),
        ({"@value": "x", "@language": "en"}, "x"),
        ({"@value": "2020-01-01", "@type": "xsd:date"}, "2020-01-01"),
        ({"@list": ["a", "b"]}, ["a", "b"]),
        ({"@set": [{"@value": 1}]}, 1),
        ({"@id": "#org"}, f"{URL}#org"),
        ({"@id": "_:b0"}, "_:b0"),
        ({"@type": "Offer", "price": 1}, typed("Offer", price=1)),
        ({"price": 1}, typed(None, price=1)),
        ({"@id": "/o", "price": 1}, typed(None, **{"@id": "https://example.com/o", "price": 1})),
        ({"@context": {"@vocab": "http://v.example/"}, "@type": "B"}, typed("http://v.example/B")),
    ],
)
def test_values(value: Any, read_as: Any) -> None:
    assert of({**SCHEMA, "@type": "A", "p": value}) == [typed("A", p=read_as)]


@pytest.mark.parametrize("value", [None, [], [None], {"@value": None}, {"@list": []}])
def test_what_is_no_value_is_no_property(value: Any) -> None:
    assert of({**SCHEMA, "@type": "A", "p": value}) == [typed("A")]


def test_numbers_that_json_has_no_form_for_are_no_values() -> None:
    text = '{"@type": "A", "n": NaN, "i": [Infinity, 1], "e": 1e999}'
    assert items(script(text)) == [typed("A", i=1)]


def test_names_of_properties() -> None:
    document = {
        "@context": ["https://schema.org", {"dc": "http://purl.org/dc/terms/", "kind": "@type"}],
        "kind": "A",
        "id": "/x",
        "schema:name": "one",
        "https://schema.org/name": "two",
        "dc:title": "t",
        "@language": "en",
        " ": "nothing",
    }
    assert of(document) == [
        typed(
            "A",
            **{
                "@id": "https://example.com/x",
                "name": ["one", "two"],
                "http://purl.org/dc/terms/title": "t",
            },
        )
    ]


def test_reverse_properties_are_kept() -> None:
    document = {"@type": "A", "@reverse": {"author": {"@type": "B"}}}
    assert of(document) == [typed("A", **{"@reverse": typed(None, author=typed("B"))})]


def test_text_is_text() -> None:
    text = r'{"@type": "A\ud800", "n\udfff": "\u0000a\u001b\ud83d\ude00\udc00", "@id": "\udc00"}'
    assert items(script(text)) == [
        typed("A", **{"n": "a 😀", "@id": "https://example.com/shop/%EF%BF%BD"})
    ]


@pytest.mark.parametrize(
    ("scripts", "names", "broken"),
    [
        (['{"@type": "A"}', "{oops", '{"@type": "B"}'], ["A", "B"], 1),
        (["", "  \n"], [], 0),
        (["{oops", "[" * 100_000], [], 2),
        (['{"@type": "A"}}'], ["A"], 1),
        (['{"@type": "A", "x": "' + "x" * 1_000_000 + '"}', '{"@type": "B"}'], ["B"], 1),
        (['"text"', "7", "null"], [], 0),
    ],
)
def test_a_broken_script_is_counted_and_costs_only_itself(
    scripts: list[str], names: list[str], broken: int
) -> None:
    found = read("".join(map(script, scripts)))
    assert ([item["type"] for item in found.items], found.broken) == (names, broken)


def test_what_is_too_deep_is_cut_and_counted() -> None:
    document: dict[str, Any] = {"@type": "A", "name": "last"}
    for level in range(MAX_DEPTH):
        document = {"@type": "A", "inner": document, "level": level}
    found = read(script(json.dumps(document)))
    assert found.broken == 1
    value, levels = found.items[0], 0
    while value is not None:
        value, levels = value["properties"].get("inner"), levels + 1
    assert levels == MAX_DEPTH
    # The rest of each level is there.
    assert found.items[0]["properties"]["level"] == MAX_DEPTH - 1


def test_what_is_too_much_is_cut_and_counted() -> None:
    found = read(script(json.dumps([{"@type": "A", "n": n} for n in range(MAX_VALUES)])))
    assert found.broken == 1
    assert found.items[0] == typed("A", n=0)
    assert MAX_VALUES / 5 < len(found.items) < MAX_VALUES


def test_an_organisation_as_a_plugin_writes_it() -> None:
    site = "https://garden.example/"
    document = {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "WebPage",
                "@id": f"{site}tools/",
                "url": f"{site}tools/",
                "name": "Tools",
                "isPartOf": {"@id": f"{site}#website"},
                "breadcrumb": {"@id": f"{site}tools/#breadcrumb"},
                "inLanguage": "en-GB",
                "potentialAction": [{"@type": "ReadAction", "target": [f"{site}tools/"]}],
            },
            {
                "@type": "BreadcrumbList",
                "@id": f"{site}tools/#breadcrumb",
                "itemListElement": [
                    {"@type": "ListItem", "position": 1, "name": "Home", "item": site},
                    {"@type": "ListItem", "position": 2, "name": "Tools"},
                ],
            },
            {
                "@type": ["Organization", "Place"],
                "@id": f"{site}#organization",
                "logo": {"@type": "ImageObject", "url": f"{site}logo.png", "width": 512},
                "sameAs": ["https://a.example/garden", "https://b.example/garden"],
            },
        ],
    }
    page, breadcrumbs, organisation = of(document)
    assert page["type"] == "WebPage"
    assert page["properties"]["isPartOf"] == f"{site}#website"
    assert page["properties"]["potentialAction"] == typed("ReadAction", target=f"{site}tools/")
    assert breadcrumbs["properties"]["itemListElement"] == [
        typed("ListItem", position=1, name="Home", item=site),
        typed("ListItem", position=2, name="Tools"),
    ]
    assert organisation == typed(
        ["Organization", "Place"],
        **{
            "@id": f"{site}#organization",
            "logo": typed("ImageObject", url=f"{site}logo.png", width=512),
            "sameAs": ["https://a.example/garden", "https://b.example/garden"],
        },
    )


def test_properties_of_the_only_item() -> None:
    assert properties(script('{"@type": "A", "name": "x"}')) == {"name": "x"}
