from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.report.sources import FirstSources

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), unique=True)


@given(st.lists(PAIRS, max_size=4), st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_the_first_sources_of_each_target_are_kept_up_to_its_limit(
    batches: list[list[tuple[int, int]]], limits: list[int]
) -> None:
    found = FirstSources(np.array(limits))
    expected: defaultdict[int, list[int]] = defaultdict(list)
    for pairs in batches:
        targets, sources = ([pair[place] for pair in pairs] for place in (0, 1))
        found.add(np.array(targets, np.int32), np.array(sources, np.int32))
        for target, source in pairs:
            expected[target].append(source)
    for target, limit in enumerate(limits):
        assert found.of(target) == expected[target][:limit]
        assert found.counts[target] == len(expected[target])
