from __future__ import annotations

from typing import Any

import pytest

from crawlproject.report.structured import MOST_TYPES, Types, names_of


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (None, []),
        ("Product", []),
        ([{"type": "Product"}, {"type": ["Offer", "Thing"]}], ["Product", "Offer", "Thing"]),
        ([{"type": None}, {}, 5, {"type": ""}], ["no type"] * 4),
    ],
)
def test_the_types_of_a_pages_data(data: Any, names: list[str]) -> None:
    assert names_of(data) == names


def test_pages_and_items_are_counted_by_type() -> None:
    types = Types()
    types.add(1, [{"type": "Offer"}, {"type": "Offer"}])
    types.add(2, [{"type": "Offer"}, {"type": "Product"}])
    types.add(3, None)
    (listing,) = types.section().listings
    assert listing.rows == [("Offer", 2, 3, [1, 2]), ("Product", 1, 1, [2])]
    assert types.pages == 2


def test_a_site_that_makes_up_types_fills_no_memory() -> None:
    types = Types()
    for page in range(MOST_TYPES + 5):
        types.add(page, [{"type": f"Type {page}"}])
    section = types.section()
    assert len(section.listings[0].rows) == MOST_TYPES
    assert len(section.notes) == 1
