from __future__ import annotations

import random
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.exports.spill import Spill

KEYS = st.text(st.characters(codec=None, categories=None, exclude_categories=()))


@given(st.lists(KEYS))
def test_records_come_out_by_key_and_the_last_of_a_key_wins(keys: list[str]) -> None:
    with closing(Spill()) as spill:
        for arrival, key in enumerate(keys):
            spill.add(key, {"key": key, "arrival": arrival})
        newest = list(spill.newest())
    last = {key: arrival for arrival, key in enumerate(keys)}
    assert newest == [{"key": key, "arrival": last[key]} for key in sorted(last)]


def test_all_keeps_the_arrivals_of_one_key_in_order() -> None:
    with closing(Spill()) as spill:
        for number, key in enumerate("baab"):
            spill.add(key, {"number": number})
        assert [record["number"] for record in spill.all()] == [1, 2, 0, 3]


def test_more_records_than_the_cache_holds_come_out_whole() -> None:
    numbers = list(range(2_000))
    random.Random(7).shuffle(numbers)
    with closing(Spill(cache_kib=64)) as spill:
        for number in numbers:
            spill.add(f"{number:06}", {"number": number, "text": "x" * 2_000})
        assert [record["number"] for record in spill.newest()] == list(range(2_000))
        # And a second time: reading takes nothing away.
        assert sum(1 for _ in spill.newest()) == 2_000
