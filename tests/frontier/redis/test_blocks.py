from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.base import State
from crawlproject.frontier.entry import Entry, Wait, Way
from crawlproject.frontier.redis.blocks import (
    SIZE,
    Malformed,
    entry_from,
    packed,
    row_of,
    unpack,
    unpacked,
)

_TEXTS = st.none() | st.text(max_size=20)
_COUNTS = st.integers(0, 2**31)
_ENTRIES = st.builds(
    Entry,
    id=st.integers(1, 2**31),
    url=st.text(min_size=1, max_size=50),
    way=st.builds(Way, _COUNTS, _COUNTS, st.just("r"), st.integers(1, 2**31)),
    rank=_COUNTS,
    state=st.sampled_from(State),
    reason=_TEXTS,
    rule=_TEXTS,
    request=_TEXTS,
    verdict=_TEXTS,
    waits=st.sampled_from(Wait),
    target=st.none() | _COUNTS,
    fewest_hops=_COUNTS,
    blocked=_TEXTS,
)


def fields(entry: Entry) -> list[Any]:
    return [getattr(entry, name) for name in Entry.__slots__]


@given(_ENTRIES)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    (row,) = unpack(packed([row_of(entry)]))
    assert row is not None
    again = entry_from(entry.id, row, lambda number: "r")
    assert fields(again) == fields(entry)


def test_a_url_of_a_site_takes_few_bytes() -> None:
    entries = [
        Entry(n, f"https://www.example.com/shop/plants/meadow/flower-{n}", Way(3, 0, "r", 7), n)
        for n in range(1, SIZE + 1)
    ]
    for entry in entries:
        entry.state = State.DONE
    assert len(packed([row_of(entry) for entry in entries])) < 30 * SIZE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        pickle.dumps({"a": 1}),
        zstandard.compress(b"no json"),
        zstandard.compress(b"[1]"),
        zstandard.compress(b"[99, []]"),
        zstandard.compress(b"{}"),
        zstandard.compress(b"[" * 100_000),
        zstandard.compress(b"0" * (20 * 1024 * 1024)),
        packed({}),
        packed([[1]]),
        packed([["url", 7]]),
        packed([["url", -1]]),
        packed([["url", 0, 0, 0, 0, 0, None, None, 3]]),
        packed([["url"] * 40]),
        packed([["url", True]]),
        packed([["url", 1.5]]),
        packed([["url"]] * (SIZE + 1)),
    ],
)
def test_what_is_no_block_of_ours_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        unpack(data)


def test_threads_compress_at_once() -> None:
    value = [f"https://example.com/{number}" for number in range(2_000)]
    problems: list[int] = []

    def compress() -> None:
        problems.extend(1 for _ in range(50) if unpacked(packed(value)) != value)

    threads = [threading.Thread(target=compress) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
