"""Which signatures may be similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.signatures import MadeUp
from crawlproject.pages.signatures import BACKENDS, BUILTIN, signature_backend
from crawlproject.pipelines.bands import Shape, bands_of, grouped, shape_for

if TYPE_CHECKING:
    from crawlproject.pages.words import Hashes

SIZE = 128


def values(shingles: list[int], name: str = BUILTIN) -> Hashes:
    backend = signature_backend(name, SIZE)
    return backend.values(backend.sign(MadeUp(np.array(shingles, np.uint32))))


def numbers(count: int, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    found: list[int] = random.integers(0, 1 << 32, count, dtype=np.uint32).tolist()
    return found


@pytest.mark.parametrize("size", [16, 64, 128, 512])
@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8, 0.9, 0.95, 1.0])
def test_bands_find_what_is_as_similar_as_the_threshold(threshold: float, size: int) -> None:
    bands, rows = shape_for(threshold, size)
    assert 1 <= bands * rows <= size
    if size >= 64:
        assert 1 - (1 - threshold**rows) ** bands >= 0.995
    # … and no more rows would.
    assert bands == size // rows


@pytest.mark.parametrize("name", BACKENDS)
def test_similar_pairs_have_a_band_in_common_and_others_have_none(name: str) -> None:
    pages = []
    for seed in range(200):
        page = numbers(400, seed)
        # One in twenty is another: 0.905.
        pages += [page, page[20:] + numbers(20, 10_000 + seed)]
    shape = shape_for(0.9, SIZE)
    signed = [values(page, name) for page in pages]
    groups = grouped([bands_of(signed, shape.rows, range(shape.bands))])
    found = sum(
        not {*groups.of(row).tolist()}.isdisjoint(groups.of(row + 1).tolist())
        for row in range(0, len(pages), 2)
    )
    assert found >= 195
    assert (groups.sizes == 2).all()


def test_bands_of_no_signatures() -> None:
    bands = bands_of([], 9, range(14))
    assert bands.shape == (0, 14)
    groups = grouped([bands])
    assert groups.starts.tolist() == [0]
    assert len(groups.groups) == len(groups.sizes) == 0


def test_many_signatures_are_looked_at_some_at_a_time() -> None:
    pages = [values(numbers(5, seed)) for seed in range(5000)]
    bands = bands_of(pages, 8, range(4))
    assert bands.shape == (5000, 4)
    assert (bands[4500] == bands_of(pages[4500:4501], 8, range(4))[0]).all()


def test_many_bands_are_looked_at_some_at_a_time() -> None:
    assert list(Shape(14, 9).passes()) == [range(14)]
    assert list(Shape(40, 3).passes()) == [range(16), range(16, 32), range(32, 40)]
    pages = [values(numbers(300, seed // 2)) for seed in range(20)]
    whole = bands_of(pages, 3, range(40))
    parts = [bands_of(pages, 3, some) for some in Shape(40, 3).passes()]
    assert (np.concatenate(parts, axis=1) == whole).all()
    one, other = grouped(parts), grouped([whole])
    assert one.starts.tolist() == other.starts.tolist()
    assert one.groups.tolist() == other.groups.tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_groups_are_those_with_a_band_in_common(bands: list[tuple[int, int]]) -> None:
    groups = grouped([np.array(bands, np.uint64).reshape(-1, 2)])
    members: dict[int, set[int]] = {}
    for row in range(len(bands)):
        for group in groups.of(row).tolist():
            members.setdefault(group, set()).add(row)
    expected = [
        {row for row, other in enumerate(bands) if other[band] == value}
        for band in range(2)
        for value in range(6)
    ]
    assert sorted(map(sorted, members.values())) == sorted(
        sorted(rows) for rows in expected if len(rows) > 1
    )
    assert [len(members[group]) for group in range(len(members))] == groups.sizes.tolist()
