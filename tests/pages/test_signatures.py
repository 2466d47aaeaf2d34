"""Signatures of texts, and the similarities that they tell: the same contract for all backends."""

from __future__ import annotations

import hashlib
from math import sqrt
from random import Random

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from bench import tongues
from bench.signatures import MadeUp
from crawlproject.pages.signatures import (
    BACKENDS,
    BUILTIN,
    DATASKETCH,
    SignatureBackend,
    sign_text,
    signature_backend,
)

SIZE = 128
# Independent values that a similarity is estimated from, for each value of a signature.
ESTIMATED_BY = {BUILTIN: 4, DATASKETCH: 1}
BOTH = [signature_backend(name, SIZE) for name in BACKENDS]
EXACT = signature_backend(BUILTIN, SIZE)
NUMBERS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=400)
WORDS = st.lists(st.sampled_from(["the", "reed", "beds", "of", "a", "lake"]), max_size=60)


def error(backend: SignatureBackend) -> float:
    """Five standard deviations of an estimate, at least."""
    return 2.5 / sqrt(ESTIMATED_BY[backend.name] * backend.size)


@pytest.fixture(params=BOTH, ids=BACKENDS)
def backend(request: pytest.FixtureRequest) -> SignatureBackend:
    found: SignatureBackend = request.param
    return found


def sign(
    text: str, backend: SignatureBackend = EXACT, shingle_words: int = 3, min_words: int = 1
) -> bytes | None:
    return sign_text(text, backend, shingle_words, min_words)


def numbers(count: int, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    found: list[int] = random.integers(0, 1 << 32, count, dtype=np.uint32).tolist()
    return found


def signature(shingles: list[int], backend: SignatureBackend) -> bytes:
    signed = backend.sign(MadeUp(np.array(shingles, np.uint32)))
    assert backend.is_signature(signed)
    return signed


def jaccard(one: list[int], other: list[int]) -> float:
    return len({*one} & {*other}) / len({*one} | {*other})


@given(NUMBERS, NUMBERS, st.sampled_from([16, 100, 128, 512]), st.sampled_from(BACKENDS))
def test_similarity_is_1_of_the_same_and_symmetric(
    one: list[int], other: list[int], size: int, name: str
) -> None:
    backend = signature_backend(name, size)
    mine, others = signature(one, backend), signature(other, backend)
    assert backend.similarity(mine, mine) == 1
    assert backend.similarity(mine, others) == backend.similarity(others, mine)
    assert 0 <= backend.similarity(mine, others) <= 1
    # Items contain it, and databases may not know NumPy's numbers.
    assert type(backend.similarity(mine, others)) is float
    assert len(backend.values(mine)) == size


@given(NUMBERS, st.sampled_from(BOTH))
def test_a_set_has_no_order_and_no_repetitions(
    shingles: list[int], backend: SignatureBackend
) -> None:
    again = [*reversed(shingles), *shingles]
    assert signature(shingles, backend) == signature(again, backend)


@given(st.sets(st.integers(0, 2**32 - 1), max_size=200), st.data())
def test_small_sets_are_compared_exactly_by_the_builtin(
    shingles: set[int], data: st.DataObject
) -> None:
    others = data.draw(st.sets(st.integers(0, 2**32 - 1), min_size=1, max_size=200))
    if shingles:
        others |= set(data.draw(st.lists(st.sampled_from(sorted(shingles)))))
    one, other = [*(shingles or {0})], [*others]
    mine, theirs = signature(one, EXACT), signature(other, EXACT)
    assert EXACT.similarity(mine, theirs) == pytest.approx(jaccard(one, other))


@pytest.mark.parametrize("count", [200, 255, 260, 300, 600, 1500, 5_000])
@pytest.mark.parametrize("part", [0.2, 0.5, 0.8, 0.9, 0.95, 1])
def test_an_estimate_is_near_the_truth(count: int, part: float, backend: SignatureBackend) -> None:
    errors = []
    for seed in range(20):
        both = numbers(round(count * part), seed)
        one = both + numbers(count - len(both), 1000 + seed)
        other = both + numbers(count - len(both), 2000 + seed)
        found = backend.similarity(signature(one, backend), signature(other, backend))
        errors.append(found - jaccard(one, other))
    assert max(map(abs, errors)) < error(backend)
    # On the average there is no error.
    assert abs(sum(errors) / len(errors)) < error(backend) / 20**0.5


@pytest.mark.parametrize("count", [40, 130, 600, 3000])
def test_values_are_equal_as_often_as_texts_are_similar(
    count: int, backend: SignatureBackend
) -> None:
    equal = []
    for seed in range(40):
        both = numbers(round(count * 0.9), seed)
        one, other = (
            backend.values(
                signature(both + numbers(count - len(both), 1000 * more + seed), backend)
            )
            for more in (1, 2)
        )
        equal.append(float(np.mean(one == other)))
    assert abs(sum(equal) / len(equal) - 0.9 / 1.1) < 0.03


def test_a_small_set_is_compared_with_a_large_one(backend: SignatureBackend) -> None:
    large = numbers(300, 1)
    found = backend.similarity(signature(large, backend), signature(large[:200], backend))
    assert abs(found - 200 / 300) < error(backend)


@given(WORDS, st.integers(1, 5), st.integers(1, 20), st.sampled_from(BOTH))
def test_a_text_of_too_few_words_has_no_signature(
    words: list[str], shingle: int, least: int, backend: SignatureBackend
) -> None:
    found = sign(" ".join(words), backend, shingle_words=shingle, min_words=least)
    assert (found is None) == (len(words) < max(shingle, least))


@given(
    WORDS.filter(lambda words: len(words) > 2),
    WORDS.filter(lambda words: len(words) > 2),
    st.sampled_from(BOTH),
)
def test_texts_are_compared_by_words_in_a_row(
    one: list[str], other: list[str], backend: SignatureBackend
) -> None:
    def shingles(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[place : place + 3]) for place in range(len(words) - 2)}

    mine, others = sign(" ".join(one), backend), sign(", ".join(other).upper(), backend)
    assert mine is not None
    assert others is not None
    truth = len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))
    tolerance = 1e-6 if backend is EXACT else error(backend)
    assert backend.similarity(mine, others) == pytest.approx(truth, abs=tolerance)


@pytest.mark.parametrize("tongue", [tongues.CHINESE, tongues.JAPANESE, tongues.THAI])
@pytest.mark.parametrize("count", [60, 200, 1500])
def test_texts_without_spaces_are_compared_by_characters(
    tongue: tongues.Tongue, count: int, backend: SignatureBackend
) -> None:
    tokens = tongue.tokens(Random(count), count)
    edited = [*tokens[: count // 2], "龠", *tokens[count // 2 + 1 :]]
    one, other, unlike = (
        sign("".join(tongue.sentences(text)), backend, min_words=30)
        for text in (tokens, edited, tongue.tokens(Random(1), count))
    )
    assert one is not None
    assert other is not None
    assert unlike is not None
    shingles, others = (
        {tuple(text[place : place + 3]) for place in range(count - 2)} for text in (tokens, edited)
    )
    truth = len(shingles & others) / len(shingles | others)
    tolerance = 0.02 if backend is EXACT else error(backend)
    assert backend.similarity(one, other) == pytest.approx(truth, abs=tolerance)
    assert backend.similarity(one, unlike) < 0.3


def test_signatures_of_all_machines_and_runs_are_the_same() -> None:
    found = sign("reed beds of a lake in winter", signature_backend(BUILTIN, 4))
    assert found is not None
    # Signatures are kept in crawl directories: this may not change.
    assert hashlib.sha256(found).hexdigest()[:16] == "7f4d44ca75a87a0f"
    larger = sign(" ".join(map(str, range(600))))
    assert larger is not None
    assert len(larger) == 4 * SIZE + 1 + 4 * SIZE
    assert hashlib.sha256(larger).hexdigest()[:16] == "5d5227c2005ea59e"
    theirs = sign("reed beds of a lake in winter", signature_backend(DATASKETCH, 4))
    assert theirs is not None
    assert theirs.hex() == "3a9ad62a1052322f6db86a29eaf5690d01"


def test_the_datasketch_backend_is_datasketch() -> None:
    """Whoever signs the same shingles by datasketch has the same values, and similarity."""
    backend = signature_backend(DATASKETCH, SIZE)
    texts = "Reed beds, of a LAKE in the winter", "reed beds of a lake in the summer"
    mine = [sign(text, backend) for text in texts]
    theirs = []
    for text in texts:
        words = text.lower().replace(",", "").split()
        minhash = MinHash(SIZE, scheme="affine32")
        minhash.update_batch(
            " ".join(words[place : place + 3]).encode() for place in range(len(words) - 2)
        )
        theirs.append(minhash)
    one, other = mine
    assert one is not None
    assert other is not None
    assert (backend.values(one) == theirs[0].hashvalues).all()
    assert backend.similarity(one, other) == theirs[0].jaccard(theirs[1])


@pytest.mark.parametrize("count", [3, 200, 600])
@pytest.mark.parametrize(("name", "other"), [(BUILTIN, DATASKETCH), (DATASKETCH, BUILTIN)])
def test_a_signature_of_another_backend_is_not_taken_for_one(
    name: str, other: str, count: int
) -> None:
    backend = signature_backend(name, SIZE)
    signed = signature(numbers(count, 1), backend)
    assert not signature_backend(other, SIZE).is_signature(signed)
    for stranger in (None, "text", b"", signed + b"\1", signed[: 4 * SIZE], bytes(4 * SIZE + 1)):
        assert not backend.is_signature(stranger)


def test_an_unknown_backend_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="'simhash' is not one of builtin, datasketch"):
        signature_backend("simhash", SIZE)
