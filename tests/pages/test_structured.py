"""All syntaxes together: one form, nothing raised, bounded, and what another reader finds."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

import extruct
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.structured import SYNTAXES
from crawlproject.pages.values import MAX_DEPTH
from crawlproject.records import plain
from crawlproject.urls.document import document
from tests.pages.items import URL, depth_of, items, read, response, script, typed

PRODUCT = {
    "json-ld": script(
        json.dumps(
            {
                "@context": "https://schema.org/",
                "@type": "Product",
                "@id": "#trowel",
                "name": "Trowel",
                "image": ["https://example.com/1.jpg", "https://example.com/2.jpg"],
                "brand": {"@type": "Brand", "name": "Acme"},
                "aggregateRating": {
                    "@type": "AggregateRating",
                    "ratingValue": "4.4",
                    "reviewCount": "89",
                },
                "offers": {
                    "@type": "Offer",
                    "url": "https://example.com/shop/trowel",
                    "priceCurrency": "EUR",
                    "price": "9.50",
                    "availability": "https://schema.org/InStock",
                },
            }
        )
    ),
    "microdata": """
        <div itemscope itemtype="http://schema.org/Product" itemid="#trowel">
          <h1 itemprop="name">Trowel</h1>
          <img itemprop="image" src="/1.jpg"><img itemprop="image" src="../2.jpg">
          <p itemprop="brand" itemscope itemtype="http://schema.org/Brand">
            By <span itemprop="name">Acme</span></p>
          <div itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating">
            <span itemprop="ratingValue">4.4</span> (<span itemprop="reviewCount">89</span>)</div>
          <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
            <link itemprop="url" href="trowel"><meta itemprop="priceCurrency" content="EUR">
            <span itemprop="price" content="9.50">9,50 €</span>
            <link itemprop="availability" href="https://schema.org/InStock"></div>
        </div>""",
    "rdfa": """
        <div vocab="https://schema.org/" typeof="Product" resource="#trowel">
          <h1 property="name">Trowel</h1>
          <img property="image" src="/1.jpg"><img property="image" src="../2.jpg">
          <p property="brand" typeof="Brand">By <span property="name">Acme</span></p>
          <div property="aggregateRating" typeof="AggregateRating">
            <span property="ratingValue">4.4</span> (<span property="reviewCount">89</span>)</div>
          <div property="offers" typeof="schema:Offer">
            <link property="url" href="trowel"><meta property="priceCurrency" content="EUR">
            <span property="price" content="9.50">9,50 €</span>
            <a property="availability" href="https://schema.org/InStock">In stock</a></div>
        </div>""",
}
PRODUCT_ITEM = typed(
    "Product",
    **{
        "@id": f"{URL}#trowel",
        "name": "Trowel",
        "image": ["https://example.com/1.jpg", "https://example.com/2.jpg"],
        "brand": typed("Brand", name="Acme"),
        "aggregateRating": typed("AggregateRating", ratingValue="4.4", reviewCount="89"),
        "offers": typed(
            "Offer",
            url="https://example.com/shop/trowel",
            priceCurrency="EUR",
            price="9.50",
            availability="https://schema.org/InStock",
        ),
    },
)

RECIPE = {
    "json-ld": script(
        """<!-- {"@context": "http://schema.org", "@type": "Recipe", "name": "Pan
cakes", "recipeIngredient": ["2 eggs", "flour", "milk",], "totalTime": "PT30M",
"recipeInstructions": [{"@type": "HowToStep", "text": "Mix."},
{"@type": "HowToStep", "text": "Fry."}]} -->""".replace("Pan\ncakes", "Pancakes")
    ),
    "microdata": """<article itemscope itemtype="https://schema.org/Recipe">
        <h1 itemprop="name">Pancakes</h1>
        <ul><li itemprop="recipeIngredient">2 eggs<li itemprop="recipeIngredient">flour
        <li itemprop="recipeIngredient">milk</ul>
        <time itemprop="totalTime" datetime="PT30M">half an hour</time>
        <ol><li itemprop="recipeInstructions" itemscope itemtype="https://schema.org/HowToStep">
        <span itemprop="text">Mix.</span>
        <li itemprop="recipeInstructions" itemscope itemtype="https://schema.org/HowToStep">
        <span itemprop="text">Fry.</span></ol></article>""",
    "rdfa": """<article vocab="http://schema.org/" typeof="Recipe">
        <h1 property="name">Pancakes</h1>
        <ul><li property="recipeIngredient">2 eggs<li property="recipeIngredient">flour
        <li property="recipeIngredient">milk</ul>
        <time property="totalTime" datetime="PT30M">half an hour</time>
        <ol><li property="recipeInstructions" typeof="HowToStep"><span property="text">Mix.</span>
        <li property="recipeInstructions" typeof="HowToStep"><span property="text">Fry.</span></ol>
        </article>""",
}
RECIPE_ITEM = typed(
    "Recipe",
    name="Pancakes",
    recipeIngredient=["2 eggs", "flour", "milk"],
    totalTime="PT30M",
    recipeInstructions=[typed("HowToStep", text="Mix."), typed("HowToStep", text="Fry.")],
)

BREADCRUMBS = {
    "json-ld": script(
        """{"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": [
        {"@type": "ListItem", "position": "1", "item":
            {"@type": "WebPage", "@id": "https://example.com/shop/", "name": "Shop"}},
        {"@type": "ListItem", "position": "2", "name": "Trowel"}]}"""
    ),
    "microdata": """<ol itemscope itemtype="https://schema.org/BreadcrumbList">
        <li itemprop="itemListElement" itemscope itemtype="https://schema.org/ListItem">
          <meta itemprop="position" content="1"><a itemscope itemtype="https://schema.org/WebPage"
          itemprop="item" itemid="/shop/" href="/shop/"><span itemprop="name">Shop</span></a>
        <li itemprop="itemListElement" itemscope itemtype="https://schema.org/ListItem">
          <meta itemprop="position" content="2"><span itemprop="name">Trowel</span></ol>""",
    "rdfa": """<ol vocab="https://schema.org/" typeof="BreadcrumbList">
        <li property="itemListElement" typeof="ListItem"><meta property="position" content="1">
          <a property="item" typeof="WebPage" href="/shop/"><span property="name">Shop</span></a>
        <li property="itemListElement" typeof="ListItem"><meta property="position" content="2">
          <span property="name">Trowel</span></ol>""",
}
BREADCRUMBS_ITEM = typed(
    "BreadcrumbList",
    itemListElement=[
        typed(
            "ListItem",
            position="1",
            item=typed("WebPage", **{"@id": "https://example.com/shop/", "name": "Shop"}),
        ),
        typed("ListItem", position="2", name="Trowel"),
    ],
)
DOCUMENTS = [
    (PRODUCT, PRODUCT_ITEM),
    (RECIPE, RECIPE_ITEM),
    (BREADCRUMBS, BREADCRUMBS_ITEM),
]


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize(("pages", "item"), DOCUMENTS)
def test_the_same_said_in_any_syntax_is_the_same(
    pages: dict[str, str], item: Any, syntax: str
) -> None:
    assert items(f"<!DOCTYPE html><title>x</title><body>{pages[syntax]}") == [item]


@pytest.mark.parametrize(
    "syntaxes", [SYNTAXES, SYNTAXES[::-1], *[(name,) for name in SYNTAXES], ()]
)
def test_only_the_chosen_syntaxes_are_read_in_one_order(syntaxes: tuple[str, ...]) -> None:
    page = "".join(
        (
            "<p typeof=R></p>",
            "<p itemscope itemtype=http://schema.org/M></p>",
            script('{"@type": "J"}'),
            script("{oops"),
        )
    )
    found = read(page, syntaxes)
    names = [name for name, syntax in zip("JMR", SYNTAXES, strict=True) if syntax in syntaxes]
    assert [item["type"] for item in found.items] == names
    assert found.broken == ("json-ld" in syntaxes)


def test_a_page_without_any_says_nothing() -> None:
    page = "<p>ld+json itemscope typeof=x</p><!-- <p itemscope> --><script>typeof x</script>"
    assert read(page) == ([], 0)


def test_the_tree_is_not_changed() -> None:
    answer = response("<base href=/x/>" + "".join(PRODUCT.values()))
    before = document(answer).html
    read(answer.text)
    assert document(answer).html == before


def test_text_of_any_charset_is_read() -> None:
    page = "<meta charset=utf-16>" + script('{"@type": "A", "name": "é€"}')
    assert items(page) == [typed("A", name="é€")]


# --- What holds for any page

ATTRIBUTES = ["itemscope", "itemtype", "itemprop", "itemref", "itemid", "id", "typeof", "property"]
ATTRIBUTES += ["resource", "about", "vocab", "prefix", "content", "href", "src", "datetime"]
WORDS = ["a", "b", "a b", "#a", "http://schema.org/A", "schema:b", "x: http://x/", "\ud800", "\x00"]
TAGS = ["div", "p", "a", "meta", "time", "img", "span", "table", "template", "svg", "object"]


def markup(tag: str, attributes: dict[str, str], has_end: bool) -> str:
    start = " ".join([tag, *(f"{name}='{value}'" for name, value in attributes.items())])
    return f"<{start}>" + (f"text</{tag}>" if has_end else "")


element = st.builds(
    markup,
    st.sampled_from(TAGS),
    st.dictionaries(st.sampled_from(ATTRIBUTES), st.sampled_from(WORDS), max_size=5),
    st.booleans(),
)
json_value = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(WORDS) | st.integers(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["@type", "@id", "@graph", "@context", "@value", "@list", "a", "b:c"]),
            inner,
        )
    ),
)
page = st.lists(
    element
    | st.text()
    | json_value.map(lambda value: script(json.dumps(value)))
    | st.text().map(script)
).map("".join)


@given(page)
def test_any_page_gives_plain_bounded_json(html: str) -> None:
    found = read(html)
    assert json.loads(json.dumps(found.items, allow_nan=False)) == found.items
    json.dumps(found.items, ensure_ascii=False).encode()
    # Nothing is too deep for the record of a page.
    assert plain(found.items) == found.items
    assert depth_of(found.items) <= 3 * MAX_DEPTH + 1
    assert read(html) == found
    for item in found.items:
        assert item.keys() == {"type", "properties"}


# --- What another reader finds


def normal(item: Any) -> Any:
    """What extruct found, in our form."""
    if isinstance(item, list):
        return [normal(inner) for inner in item] if len(item) > 1 else normal(item[0])
    if not isinstance(item, dict):
        return " ".join(item.split()) if isinstance(item, str) else item
    properties = {name: normal(value) for name, value in item.get("properties", {}).items()}
    if "id" in item:
        properties = {"@id": urljoin(URL, item["id"]), **properties}
    types = item.get("type", [])
    names = [
        name.removeprefix("http://schema.org/").removeprefix("https://schema.org/")
        for name in ([types] if isinstance(types, str) else types)
    ]
    return typed(names[0] if len(names) == 1 else names or None, **properties)


@pytest.mark.parametrize("pages", [PRODUCT, RECIPE, BREADCRUMBS])
def test_another_reader_of_microdata_finds_the_same(pages: dict[str, str]) -> None:
    html = f"<html><body>{pages['microdata']}</body></html>"
    theirs = extruct.extract(html, base_url=URL, syntaxes=["microdata"], uniform=False)
    assert [normal(item) for item in theirs["microdata"]] == items(html)


# It reads no JSON within a comment.
@pytest.mark.parametrize("pages", [PRODUCT, BREADCRUMBS])
def test_another_reader_of_json_ld_finds_as_much(pages: dict[str, str]) -> None:
    html = f"<html><body>{pages['json-ld']}{pages['json-ld']}</body></html>"
    theirs = extruct.extract(html, base_url=URL, syntaxes=["json-ld"])
    assert [item["@type"] for item in theirs["json-ld"]] == [item["type"] for item in items(html)]


simple_element = st.recursive(
    st.builds(
        lambda name, text: f"<b itemprop='{name}'>{text}</b>",
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["x", "y z", "w"]),
    ),
    lambda inner: st.builds(
        lambda name, kind, parts: (
            f"<div itemprop='{name}' itemscope{kind}>{''.join(parts)}</div>"
            if name
            else f"<div itemscope{kind}>{''.join(parts)}</div>"
        ),
        st.sampled_from(["", "a", "b"]),
        st.sampled_from(["", " itemtype='http://schema.org/A'"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(st.lists(simple_element, max_size=4).map("".join))
def test_another_reader_finds_the_same_items_in_items(html: str) -> None:
    html = f"<html><body><div itemscope>{html}</div></body></html>"
    theirs = extruct.extract(html, base_url=URL, syntaxes=["microdata"], uniform=False)
    assert [normal(item) for item in theirs["microdata"]] == items(html)
