"""Signatures of texts, and how alike they say that texts are."""

from __future__ import annotations

import hashlib
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import tongues
from crawlproject.pages.signature import signature_of, signed, similarity, values_of

SIZE = 128
NUMBERS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=400)
WORDS = st.lists(st.sampled_from(["the", "reed", "beds", "of", "a", "lake"]), max_size=60)


def sign(text: str, size: int = SIZE, shingle_words: int = 3, min_words: int = 1) -> bytes | None:
    return signature_of(text, size=size, shingle_words=shingle_words, min_words=min_words)


def numbers(count: int, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    found: list[int] = random.integers(0, 1 << 32, count, dtype=np.uint32).tolist()
    return found


def signature(shingles: list[int], size: int = SIZE) -> bytes:
    return signed(np.array(shingles, np.uint32), size)


def jaccard(one: list[int], other: list[int]) -> float:
    return len({*one} & {*other}) / len({*one} | {*other})


@given(NUMBERS, NUMBERS, st.sampled_from([16, 100, 128, 512]))
def test_similarity_is_1_of_the_same_and_symmetric(
    one: list[int], other: list[int], size: int
) -> None:
    mine, others = signature(one, size), signature(other, size)
    assert similarity(mine, mine, size) == 1
    assert similarity(mine, others, size) == similarity(others, mine, size)
    assert 0 <= similarity(mine, others, size) <= 1


@given(NUMBERS)
def test_a_set_has_no_order_and_no_repetitions(shingles: list[int]) -> None:
    again = [*reversed(shingles), *shingles]
    assert similarity(signature(shingles), signature(again), SIZE) == 1
    assert (values_of(signature(shingles), SIZE) == values_of(signature(again), SIZE)).all()


@given(st.sets(st.integers(0, 2**32 - 1), max_size=200), st.data())
def test_small_sets_are_compared_exactly(shingles: set[int], data: st.DataObject) -> None:
    others = data.draw(st.sets(st.integers(0, 2**32 - 1), min_size=1, max_size=200))
    if shingles:
        others |= set(data.draw(st.lists(st.sampled_from(sorted(shingles)))))
    one, other = [*(shingles or {0})], [*others]
    assert similarity(signature(one), signature(other), SIZE) == pytest.approx(jaccard(one, other))


@pytest.mark.parametrize("count", [200, 255, 260, 300, 600, 1500, 10_000])
@pytest.mark.parametrize("part", [0.2, 0.5, 0.8, 0.9, 0.95, 1])
def test_an_estimate_is_near_the_truth(count: int, part: float) -> None:
    errors = []
    for seed in range(20):
        both = numbers(round(count * part), seed)
        one = both + numbers(count - len(both), 1000 + seed)
        other = both + numbers(count - len(both), 2000 + seed)
        found = similarity(signature(one), signature(other), SIZE)
        errors.append(found - jaccard(one, other))
    # Of 512 values that are there or not. On the average there is no error.
    assert max(map(abs, errors)) < 5 * 0.5 / 512**0.5
    assert abs(sum(errors) / len(errors)) < 0.02


@pytest.mark.parametrize("count", [40, 130, 600, 3000])
def test_values_are_equal_as_often_as_texts_are_alike(count: int) -> None:
    equal = []
    for seed in range(40):
        both = numbers(round(count * 0.9), seed)
        one, other = (
            values_of(signature(both + numbers(count - len(both), 1000 * more + seed)), SIZE)
            for more in (1, 2)
        )
        equal.append(float(np.mean(one == other)))
    assert abs(sum(equal) / len(equal) - 0.9 / 1.1) < 0.03


def test_a_small_set_is_compared_with_a_large_one() -> None:
    large = numbers(300, 1)
    assert abs(similarity(signature(large), signature(large[:200]), SIZE) - 200 / 300) < 0.08


@given(WORDS, st.integers(1, 5), st.integers(1, 20))
def test_a_text_of_too_few_words_has_no_signature(
    words: list[str], shingle: int, least: int
) -> None:
    found = sign(" ".join(words), shingle_words=shingle, min_words=least)
    assert (found is None) == (len(words) < max(shingle, least))


@given(WORDS.filter(lambda words: len(words) > 2), WORDS.filter(lambda words: len(words) > 2))
def test_texts_are_compared_by_words_in_a_row(one: list[str], other: list[str]) -> None:
    def shingles(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[place : place + 3]) for place in range(len(words) - 2)}

    mine, others = sign(" ".join(one)), sign(", ".join(other).upper())
    assert mine is not None
    assert others is not None
    truth = len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))
    assert similarity(mine, others, SIZE) == pytest.approx(truth)


@pytest.mark.parametrize("tongue", [tongues.CHINESE, tongues.JAPANESE, tongues.THAI])
@pytest.mark.parametrize("count", [60, 200, 1500])
def test_texts_without_spaces_are_compared_by_characters(
    tongue: tongues.Tongue, count: int
) -> None:
    tokens = tongue.tokens(Random(count), count)
    edited = [*tokens[: count // 2], "龠", *tokens[count // 2 + 1 :]]
    one, other, unlike = (
        sign("".join(tongue.sentences(text)), min_words=30)
        for text in (tokens, edited, tongue.tokens(Random(1), count))
    )
    assert one is not None
    assert other is not None
    assert unlike is not None
    shingles, others = (
        {tuple(text[place : place + 3]) for place in range(count - 2)} for text in (tokens, edited)
    )
    truth = len(shingles & others) / len(shingles | others)
    assert similarity(one, other, SIZE) == pytest.approx(truth, abs=0.02)
    assert similarity(one, unlike, SIZE) < 0.3


def test_signatures_of_all_machines_and_runs_are_the_same() -> None:
    found = sign("reed beds of a lake in winter", size=4)
    assert found is not None
    # Signatures are kept in crawl directories: this may not change.
    assert hashlib.sha256(found).hexdigest()[:16] == "7f4d44ca75a87a0f"
    larger = sign(" ".join(map(str, range(600))))
    assert larger is not None
    assert len(larger) == 4 * SIZE + 1 + 4 * SIZE
    assert hashlib.sha256(larger).hexdigest()[:16] == "5d5227c2005ea59e"
