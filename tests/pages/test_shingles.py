from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages import words as words_module
from crawlproject.pages.shingles import Shingles
from crawlproject.pages.words import Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Reed beds, of a LAKE", ["reed", "beds", "of", "a", "lake"]),
        ("Grüße – naïve café!", ["grüße", "naïve", "café"]),
        ("Δέλτα и Ёлка", ["δέλτα", "и", "ёлка"]),
        ("湖とreed 2 beds", ["湖", "と", "reed", "2", "beds"]),
        ("a 𠀀𠀁b", ["a", "𠀀", "𠀁", "b"]),
        ("a\ud800b", ["a", "b"]),
        (" ,.", []),
        ("", []),
    ],
)
def test_words_are_written_as_they_are_counted(text: str, words: list[str]) -> None:
    found = Words(text)
    assert found.texts() == words
    assert found.count == len(words)


@given(st.text(max_size=60))
def test_there_are_as_many_words_as_hashes(text: str) -> None:
    words = Words(text)
    assert len(words.texts()) == words.count == len(words.hashes())


@given(
    st.lists(st.sampled_from(["the", "Reed", "beds", "Ω", "湖", "a"]), min_size=3, max_size=40),
    st.integers(1, 3),
)
def test_both_forms_are_of_the_same_set(words: list[str], length: int) -> None:
    shingles = Shingles(Words(" ".join(words)), length)
    assert len({*shingles.numbers().tolist()}) == len(shingles.texts())


def test_words_of_a_long_text_are_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "_PIECE", 16)
    text = [f"word{number}" for number in range(50)]
    assert Words(" ".join(text)).texts() == text
