"""Words as numbers."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages import words as module
from crawlproject.pages.words import MAX_CHARACTERS, Words

# Scripts without spaces, as in the module, but told by names of characters.
UNSPACED = ("THAI", "LAO", "MYANMAR", "KHMER", "CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC")


def hashes(text: str) -> list[int]:
    found: list[int] = Words(text).hashes().tolist()
    return found


def is_alone(character: str) -> bool:
    return ord(character) > 0xFFFF or unicodedata.name(character, "").startswith(UNSPACED)


def split(text: str) -> list[str]:
    """The same, as it would be written in plain Python."""
    found: list[str] = []
    is_open = False
    for character in text:
        # What is beyond the first 65,536 characters is a word, whatever it is.
        kind = unicodedata.category(character)
        if ord(character) <= 0xFFFF and (kind[0] not in "LMN" or kind == "Me"):
            is_open = False
        elif is_alone(character):
            found.append(character)
            is_open = False
        elif is_open:
            found[-1] += character.lower()[0]
        else:
            found.append(character.lower()[0])
            is_open = True
    return found


TEXTS = st.text(
    st.one_of(
        st.sampled_from("abcABC éÉßñ.,-'_ \n\t"),
        st.sampled_from("日本語カタカナひらがな。、 สวัสดีครับ"),
        st.sampled_from("привет МИР العربية हिन्दी 😀𠀀"),
    ),
    max_size=60,
)


@given(TEXTS, TEXTS)
def test_words_are_those_that_plain_python_finds(one: str, other: str) -> None:
    words = split(one) + split(other)
    numbers = hashes(one) + hashes(other)
    assert len(numbers) == len(words)
    # Equal words have equal numbers, different ones have different ones.
    assert len(set(zip(words, numbers, strict=True))) == len(set(words)) == len(set(numbers))


@given(st.text(st.characters(codec="cp1252"), max_size=60))
def test_words_are_the_same_beside_other_letters(text: str) -> None:
    # Western texts are looked at in another way.
    assert hashes(f"{text} привет") == [*hashes(text), *hashes("привет")]
    assert hashes(f"{text} 😀") == [*hashes(text), *hashes("😀")]


@given(st.one_of(st.text(), *(st.text(st.characters(codec=name)) for name in ("cp1251", "cp1252"))))
def test_words_are_counted_as_they_are_numbered(text: str) -> None:
    assert Words(text).count == len(Words(text).hashes())


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    assert Words(text).hashes().dtype == np.uint32


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \n\t.,;!?—", 0),
        ("One", 1),
        ("one two-three", 3),
        ("it's 3.5 km", 5),
        ("naïve café", 2),
        ("中文", 2),
        ("iPhone手机 15", 4),
        ("東京タワー", 5),
        ("กรุงเทพ", 7),
        ("😀 smile", 2),
        ("한국어 문장", 2),
        ("हिन्दी", 1),
        ("\x00\ud800", 0),
    ],
)
def test_how_many_words_a_text_has(text: str, count: int) -> None:
    assert Words(text).count == len(Words(text).hashes()) == count


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Reed Beds", "the reed beds"),
        ("the reed-beds", "(the) reed, beds!"),
        ("ÉTÉ ΑΘΗΝΑ МИР", "été αθηνα мир"),
        ("the   reed\n\nbeds", "the reed beds"),
        ("我喜欢茶。", "我喜欢,茶"),
        ("ＡＢ", "ａｂ"),
    ],
)
def test_case_and_punctuation_are_no_part_of_a_word(one: str, other: str) -> None:
    assert hashes(one) == hashes(other)


@given(st.text("ab ", max_size=10), st.text("xyz", min_size=1, max_size=8))
def test_a_word_is_the_same_wherever_it_is(before: str, word: str) -> None:
    assert hashes(f"{before} {word}")[-1] == hashes(word)[0]


def test_the_order_of_letters_counts() -> None:
    assert len({*hashes("stop pots tops spot opts post")}) == 6


def test_a_long_text_is_looked_at_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "some words of a long text " * 100
    whole = hashes(text)
    monkeypatch.setattr(module, "_PIECE", 64)
    assert hashes(text) == whole


def test_what_is_behind_the_end_of_a_huge_text_is_not_looked_at() -> None:
    assert Words("a " * MAX_CHARACTERS).count == MAX_CHARACTERS // 2
