"""Clusters are the same in whatever order pages arrived, with each backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlproject.pages.signatures import BACKENDS, signature_backend
from tests.pipelines.test_clusters import DONE, SIZE, Chosen, Row, found

if TYPE_CHECKING:
    from random import Random

ROWS = st.lists(
    st.builds(
        Row,
        url=st.text("abcdef", min_size=1, max_size=3),
        depth=st.integers(0, 2),
        text=st.integers(0, 2) | st.none(),
        edits=st.sampled_from([0, 2, 8, 15, 20, 25, 40, 80]),
        by=st.just(1000),
        body=st.sampled_from([None, None, "x", "y"]),
        state=st.just(DONE),
        target=st.none(),
        record=st.sampled_from(["{}", "{}", ""]),
    ),
    unique_by=lambda row: row.url,
    max_size=25,
)


@given(
    ROWS,
    st.randoms(use_true_random=False),
    st.sampled_from([0.5, 0.8, 0.85, 0.9, 0.95]),
    # Not as a parameter of the test: hypothesis and pytest-twisted run such a test only once.
    st.sampled_from(BACKENDS),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_clusters_do_not_depend_on_who_arrived_first(
    rows: list[Row], random: Random, threshold: float, backend: str
) -> None:
    Chosen.signatures = signature_backend(backend, SIZE)
    expected = found(rows, threshold)
    random.shuffle(rows)
    assert found(rows, threshold) == expected
    # A first page is not marked, and comes before.
    places = {row.url: (row.depth, row.url) for row in rows}
    for url, (first, likeness) in expected.items():
        assert places[first] < places[url]
        assert likeness is None or likeness >= threshold
