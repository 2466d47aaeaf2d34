"""What a team can do with stored signatures and datasketch."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from datasketch import LeanMinHash, MinHash, MinHashLSH
from scrapy.utils.defer import deferred_f_from_coro_f

from crawlproject.errors import BadCrawlDirectory
from crawlproject.pages.signatures import BACKENDS, BUILTIN, DATASKETCH
from crawlproject.pipelines.minhash import (
    StoredSignature,
    as_minhash,
    shingles_of,
    stored_signatures,
)
from crawlproject.pipelines.parameters import SignatureParameters
from tests.crawling import crawl_site
from tests.pipelines.test_duplicates import A, B, edited, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.site.fixture import Site

SIZE = 128


def stored(words: list[str], parameters: SignatureParameters) -> StoredSignature:
    value = parameters.sign_text(" ".join(words))
    assert value is not None
    return StoredSignature("https://a.example/", value, parameters)


@pytest.mark.parametrize("backend", BACKENDS)
@deferred_f_from_coro_f
async def test_a_crawl_fills_an_index_of_datasketch(
    site: Callable[..., Site], tmp_path: Path, backend: str
) -> None:
    texts = {"/": A, "/b": B, "/near": edited(A, 4), "/short": ["Coming", "soon"]}
    server = site({"pages": {path: page(text, *texts) for path, text in texts.items()}})
    folder = tmp_path / "job"
    settings = {"JOBDIR": str(folder), "DUPLICATES_BACKEND": backend}
    await crawl_site(server.url(), settings)
    signatures = {one.url.removeprefix(server.url("")): one for one in stored_signatures(folder)}
    assert list(signatures) == ["/", "/b", "/near"]
    index = MinHashLSH(threshold=0.8, num_perm=SIZE)
    for path, signature in signatures.items():
        minhash = as_minhash(signature)
        assert type(minhash) is LeanMinHash
        index.insert(path, minhash)
    assert sorted(index.query(as_minhash(signatures["/"]))) == ["/", "/near"]
    assert index.query(as_minhash(signatures["/b"])) == ["/b"]


@deferred_f_from_coro_f
async def test_a_shared_crawl_has_the_same_signatures(
    site: Callable[..., Site], tmp_path: Path, redis_url: str
) -> None:
    texts = {"/": A, "/b": B}
    server = site({"pages": {path: page(text, *texts) for path, text in texts.items()}})
    folder = tmp_path / "job"
    await crawl_site(server.url(), {"JOBDIR": str(folder)})
    await crawl_site(server.url(), {"REDIS_URL": redis_url, "SCHEDULER_PERSIST": True})
    assert len(list(stored_signatures(folder))) == 2
    assert list(stored_signatures(redis_url)) == list(stored_signatures(folder))


@pytest.mark.parametrize("words", [40, 200, 400])
@pytest.mark.parametrize("backend", BACKENDS)
def test_jaccard_of_two_is_the_similarity_of_their_texts(backend: str, words: int) -> None:
    parameters = SignatureParameters(backend=backend)
    texts = [A[:words], edited(A[:words], 2), edited(A[:words], words // 8), B[:words]]
    minhashes = [as_minhash(stored(text, parameters)) for text in texts]
    for one, other in combinations(range(len(texts)), 2):
        sets = [shingles_of(" ".join(texts[number])) for number in (one, other)]
        truth = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
        # Four standard deviations of 128 values, at most.
        assert minhashes[one].jaccard(minhashes[other]) == pytest.approx(truth, abs=0.18)


def test_those_of_the_datasketch_backend_are_what_datasketch_makes() -> None:
    theirs = MinHash(SIZE)
    theirs.update_batch(shingles_of(" ".join(A)))
    ours = as_minhash(stored(A, SignatureParameters(backend=DATASKETCH)))
    assert ours == LeanMinHash(theirs)
    assert ours.jaccard(theirs) == 1


@pytest.mark.parametrize(
    "others",
    [SignatureParameters(backend=DATASKETCH), SignatureParameters(shingle_words=4)],
)
def test_those_of_the_builtin_are_not_compared_with_others(others: SignatureParameters) -> None:
    ours = as_minhash(stored(A, SignatureParameters(backend=BUILTIN)))
    with pytest.raises(ValueError, match="seed"):
        ours.jaccard(as_minhash(stored(A, others)))


def test_a_text_without_shingles_has_none() -> None:
    assert shingles_of("Coming soon") == set()
    assert shingles_of("Coming SOON, again!") == {b"coming soon again"}
    assert shingles_of("湖と葦") == {"湖 と 葦".encode()}


def test_a_folder_without_a_crawl_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCrawlDirectory, match=tmp_path.name):
        list(stored_signatures(tmp_path))
