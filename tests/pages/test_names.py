from __future__ import annotations

import pytest

from crawlproject.pages.names import MAX_NAME_LENGTH, MAX_TYPES, Names, one_or_several

DC = "http://purl.org/dc/terms/"


@pytest.mark.parametrize(
    "written",
    [
        "Product",
        "schema:Product",
        "http://schema.org/Product",
        "https://schema.org/Product",
        "https://www.schema.org/Product",
        "http://Schema.ORG/Product",
        "//schema.org/Product",
        "schema.org/Product",
        "http://schema.org/Product/",
        "http://schema.org/#Product",
        "https://pending.schema.org/Product",
        " http://schema.org/Product\n",
    ],
)
def test_a_name_of_schema_org_is_short_however_it_is_written(written: str) -> None:
    assert Names().name(written) == "Product"
    assert Names().within("https://schema.org").name(written) == "Product"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("title", f"{DC}title"),
        ("v:Thing", "http://v.example/Thing"),
        ("u:Thing", "u:Thing"),
        ("http://other.example/Thing", "http://other.example/Thing"),
        ("http://schema.org/A/B", "http://schema.org/A/B"),
        ("http://notschema.org.example/A", "http://notschema.org.example/A"),
        ("alias", "Product"),
        ("kind", "@type"),
        ("@id", "@id"),
    ],
)
def test_names_of_other_vocabularies_are_full_urls(written: str, name: str) -> None:
    terms = {
        "v": "http://v.example/",
        "s": "http://schema.org/",
        "alias": "s:Product",
        "kind": "@type",
    }
    assert Names().within(DC).knowing(terms).name(written) == name


@pytest.mark.parametrize(
    ("types", "form"),
    [([], None), (["A"], "A"), (["A", "B", "A"], ["A", "B"]), (["A", "A"], "A")],
)
def test_types_have_one_form(types: list[str], form: object) -> None:
    assert one_or_several(types) == form


def test_names_do_not_grow_with_what_a_page_says() -> None:
    names = Names().within(f"http://{'x' * 10_000}/").knowing({"p": "y" * 10_000})
    assert names.name("a") == "a"
    assert names.name("p:a") == "p:a"
    assert len(names.name("z" * 10_000)) == MAX_NAME_LENGTH
    assert len(one_or_several(map(str, range(1000))) or ()) == MAX_TYPES
